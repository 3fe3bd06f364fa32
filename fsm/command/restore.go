package command

import (
	"fmt"
	"io"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Restore puts back a state from the snapshot file that is staged. From the file come the
// server's attributes, queues, vnodes, jobs with their scripts, and custom resources. What
// the cluster is and what hosts know stays: identity, members, keys, hosts as they are
// registered, remembered requests (L8), the numbers of accounting records (L10). Which runs
// live is known now and not in the file (L2): see restoring.
type Restore struct {
	Key   string `cbor:"1,keyasint"` // of the staged parts
	Parts uint32 `cbor:"2,keyasint"`
	Epoch uint64 `cbor:"3,keyasint"` // the new one, random
	// Founding is set when a new cluster begins with the state of another: its hosts come
	// from the file, down until they have enrolled, and accounting was told of its jobs.
	Founding bool `cbor:"4,keyasint,omitempty"`
	// LastRecord is the number up to which accounting was brought along, if Founding.
	LastRecord uint64 `cbor:"5,keyasint,omitempty"`

	read SnapshotReader
}

// A SnapshotReader builds a store from a snapshot file, or refuses the file as a whole. The
// commands do not know the file's form: whoever applies an entry lends them one.
type SnapshotReader func(io.Reader) (*state.Store, error)

// LendReader gives the commands of an entry what they need to be applied. It is called on
// every replica, before Run.
func (e Entry) LendReader(read SnapshotReader) {
	for _, p := range e.Proposals {
		for _, c := range p.Commands {
			if r, ok := c.(*Restore); ok {
				r.read = read
			}
		}
	}
}

// Apply replaces the state, or refuses and changes nothing.
func (c *Restore) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	s := tx.Cluster().Staging
	if s == nil || s.Key != c.Key || s.Parts != c.Parts {
		return pbs.Errorf(pbs.InvalidRequest, "the snapshot is not there any more: somebody has begun to send another one, or it took too long")
	}
	if c.read == nil {
		return pbs.Errorf(pbs.NotSupported, "there is nothing here to read snapshots with")
	}
	store, err := c.read(tx.StagedFile())
	if err != nil {
		return pbs.Errorf(pbs.InvalidRequest, "the snapshot cannot be read") // who sent it was told why: texts are state, too
	}
	file := store.View()
	if err := FitsCluster(file, tx.Cluster()); err != nil {
		return err
	}
	return tx.Anew(func(next *state.Tx) error {
		r := &restoring{next: next, before: tx, file: file, meta: m, res: res, founding: c.Founding}
		if err := r.run(c); err != nil {
			return err
		}
		if next.CheckLaws() != nil {
			return pbs.Errorf(pbs.InvalidRequest, "what would come of the snapshot breaks the laws")
		}
		return nil
	})
}

// FitsCluster refuses a file that cannot be put back here: of a server of another name, whose
// name is in all its job ids, or of a newer release.
func FitsCluster(file *state.View, cl *state.Cluster) error {
	from := file.Cluster()
	switch {
	case from.Name != cl.Name:
		return pbs.Errorf(pbs.InvalidRequest, "the snapshot is of server %q, this one is %q", from.Name, cl.Name)
	case from.FeatureLevel > cl.FeatureLevel:
		return pbs.Errorf(pbs.NotSupported, "the snapshot is of feature level %d, the cluster is at %d: upgrade all replicas first", from.FeatureLevel, cl.FeatureLevel)
	}
	return nil
}

// SnapshotName tells people which snapshot is meant.
func SnapshotName(file *state.View) string {
	return fmt.Sprintf("snapshot of %s, index %d", time.Unix(0, int64(file.Now())).UTC().Format("2006-01-02 15:04:05 UTC"), file.Index())
}

// run makes the new state. The order matters: resources before what is counted in them,
// hosts before orders for them.
func (r *restoring) run(c *Restore) error {
	r.next.DropParts()
	if err := r.begin(c); err != nil {
		return err
	}
	r.objects()
	r.hosts()
	r.vnodes()
	r.jobs()
	if err := r.endRuns(); err != nil {
		return err
	}
	r.keepRuns()
	skipReleases(r.next)
	r.orderEnds()
	r.orders()
	r.tell()
	return nil
}

// begin enters the new epoch, above all ids that either state has given.
func (r *restoring) begin(c *Restore) error {
	cl, from := r.next.EditCluster(), r.file.Cluster()
	cl.NextJob, cl.NextSeq = max(cl.NextJob, from.NextJob), max(cl.NextSeq, from.NextSeq)+EpochSkip
	cl.NumbersAgain = cl.NumbersAgain || from.NumbersAgain
	cl.LastRecord = max(cl.LastRecord, c.LastRecord)
	if c.Founding {
		cl.LastRecord, cl.Backups = max(cl.LastRecord, from.LastRecord), from.Backups
	}
	cl.Forgotten = r.meta.Index // who watches jobs begins anew
	epoch := NewEpoch{Epoch: c.Epoch, Skip: EpochSkip, Cause: "the state was put back from the " + SnapshotName(r.file)}
	return epoch.Apply(r.next, r.meta, r.res)
}
