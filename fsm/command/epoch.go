package command

import (
	"fmt"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// EpochSkip is how many job numbers a new epoch leaves out: those that were given to jobs of
// which this state does not know must not be given again.
const EpochSkip = 1_000_000

// NewEpoch begins a new epoch, since this state may lack what was acknowledged: it was put
// back from a snapshot, or goes on without a majority of the replicas. Every mom registers
// anew before it obeys orders of the epoch (L9), and every watch begins again.
type NewEpoch struct {
	Epoch uint64 `cbor:"1,keyasint"`           // random; how it differs from the last one does not matter
	Skip  uint64 `cbor:"2,keyasint,omitempty"` // job numbers that are left out, EpochSkip as a rule
	Cause string `cbor:"3,keyasint,omitempty"` // for the server logs
	// Recovery is set after a loss of the quorum: its servers are no members any more.
	Recovery *state.Recovery `cbor:"4,keyasint,omitempty"`
}

// recoveriesKept is how many recoveries are remembered: so long is a replica that they went
// on without told so when it comes back.
const recoveriesKept = 16

// Apply changes the epoch. The one that the cluster is in already is refused.
func (c *NewEpoch) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if c.Epoch == 0 || c.Epoch == tx.Cluster().Epoch {
		return pbs.Errorf(pbs.InvalidRequest, "epoch %d is not a new one", c.Epoch)
	}
	cl := tx.EditCluster()
	cl.Epoch = c.Epoch
	cl.NextJob += c.Skip
	text := fmt.Sprintf("new epoch, job numbers go on at %d: %s", cl.NextJob, c.Cause)
	tx.Emit(state.Event{Kind: state.EpochBegan, Object: cl.Name, Text: text})
	if c.Recovery != nil {
		goOnWithout(tx, m, *c.Recovery)
	}
	skipReleases(tx)
	return nil
}

// skipReleases leaves numbers of releases out: mothers superior may have seen some of which this state
// does not know, and nothing takes effect there whose number is not above the last.
func skipReleases(tx *state.Tx) {
	var all []*state.Job
	for j := range tx.Running() {
		if len(j.Run.Sisters) > 0 {
			all = append(all, j)
		}
	}
	for _, j := range all {
		next := *j
		next.Releases += EpochSkip
		tx.PutJob(&next)
	}
}

// goOnWithout takes the lost servers and those that begin anew off the record.
func goOnWithout(tx *state.Tx, m Meta, r state.Recovery) {
	r.At, r.Epoch, r.Record = m.At, tx.Cluster().Epoch, tx.Cluster().LastRecord
	var gone []pbs.ReplicaName
	for known := range tx.Replicas() {
		if r.WentOnWithout(known.ServerID) {
			gone = append(gone, known.Name)
		}
	}
	for _, name := range gone {
		tx.DeleteReplica(name)
	}
	kept := append([]state.Recovery{r}, tx.Cluster().Recoveries...)
	tx.EditCluster().Recoveries = slices.Clip(kept[:min(len(kept), recoveriesKept)])
}
