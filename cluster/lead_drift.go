package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
)

// verdict is the result of comparing the voters' digests at one index.
type verdict struct {
	compare command.CompareDigests // to be committed; Index 0: too few answered to compare
	split   string                 // not empty: they differ, and no majority agrees
}

// compareDigests asks the voters for the digests that they noted at the last
// comparison that this replica knows of.
func (r *Replica) compareDigests(ctx context.Context, n *node) verdict {
	marks := r.cfg.Machine.Marks()
	if len(marks) == 0 {
		return verdict{}
	}
	at := marks[len(marks)-1].Index
	digests := make(map[pbs.ReplicaName]uint64)
	voters := 0
	for _, m := range r.look(ctx, n) {
		if m.Server.Suffrage != raft.Voter {
			continue
		}
		voters++
		i := slices.IndexFunc(m.Status.Marks, func(k command.Mark) bool { return k.Index == at })
		if m.Err == nil && i >= 0 {
			digests[member.NameOf(m.Server.ID)] = m.Status.Marks[i].Digest
		}
	}
	return judge(at, digests, voters)
}

// judge finds the digest of a majority of the voters. If those that answered differ
// and none has a majority, nobody knows which state is right.
func judge(at uint64, digests map[pbs.ReplicaName]uint64, voters int) verdict {
	names := make([]pbs.ReplicaName, 0, len(digests))
	count := make(map[uint64]int)
	for name, d := range digests {
		names = append(names, name)
		count[d]++
	}
	slices.Sort(names)
	for d, c := range count {
		if c <= voters/2 {
			continue
		}
		differ := slices.DeleteFunc(names, func(name pbs.ReplicaName) bool { return digests[name] == d })
		return verdict{compare: command.CompareDigests{Index: at, Digest: d, Differ: differ}}
	}
	if len(count) < 2 {
		return verdict{}
	}
	var told []string
	for _, name := range names {
		told = append(told, fmt.Sprintf("%s %016x", name, digests[name]))
	}
	return verdict{split: fmt.Sprintf("nothing is written: the replicas' states differ at index %d and no majority of the voters agrees: %s",
		at, strings.Join(told, ", "))}
}

// act does what a verdict asks for: while no majority agrees, this leader takes no proposals.
func (r *Replica) act(v verdict) {
	was := r.split.Load()
	switch {
	case v.split != "":
		r.split.Store(&v.split)
		if was == nil {
			r.cfg.Logger.Error("writes stop", "why", v.split)
		}
	case v.compare.Index > 0 && was != nil:
		r.split.Store(nil)
		r.cfg.Logger.Warn("writes go on", "index", v.compare.Index)
	}
	if len(v.compare.Differ) > 0 {
		r.cfg.Logger.Error("replicas have drifted and will be installed anew", "replicas", v.compare.Differ, "index", v.compare.Index)
	}
}

// setAside keeps a state that has drifted, and the stores that it came from, for
// those who look for the fault; the next start finds an empty disk, and so this
// replica is installed anew under another id.
func (r *Replica) setAside(err error) error {
	if !errors.Is(err, command.ErrDiffers) || r.store.Err() != nil {
		return nil
	}
	v := r.cfg.Machine.View()
	where, err := r.store.SetAside(v.Index(), func(w io.Writer) error { return snapshot.Write(w, v) })
	if err != nil {
		return fmt.Errorf("set the state aside: %w", err)
	}
	r.cfg.Logger.Error("set aside a state that has drifted; the next start installs this replica anew", "where", where)
	return nil
}
