package cluster

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
)

// verdict is the result of comparing the voters' digests at one index.
type verdict struct {
	compare command.CompareDigests // to be committed; Index 0: too few answered to compare
	split   string                 // not empty: they differ, and no majority agrees
}

// drift is the comparison of the voters' states. While no majority agrees, this leader takes no
// proposals; one whose state has drifted keeps it for those who look for the fault.
type drift struct {
	machine Machine
	store   *store.Store
	logger  *slog.Logger

	split atomic.Pointer[string] // why this leader takes no proposals; nil: it does
}

// refuse refuses any proposal while nobody knows which state is right.
func (d *drift) refuse(command.Proposal) error {
	if why := d.split.Load(); why != nil {
		return fmt.Errorf("propose: %w: %s", ErrNotLeader, *why)
	}
	return nil
}

// forget forgets what an earlier spell of leadership has found.
func (d *drift) forget() { d.split.Store(nil) }

// compare asks the voters for the digests that they noted at the last comparison that this
// replica knows of.
func (d *drift) compare(look func() []member.Answer) verdict {
	marks := d.machine.Marks()
	if len(marks) == 0 {
		return verdict{}
	}
	at := marks[len(marks)-1].Index
	digests := make(map[pbs.ReplicaName]uint64)
	voters := 0
	for _, m := range look() {
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
func (d *drift) act(v verdict) {
	was := d.split.Load()
	switch {
	case v.split != "":
		d.split.Store(&v.split)
		if was == nil {
			d.logger.Error("writes stop", "why", v.split)
		}
	case v.compare.Index > 0 && was != nil:
		d.split.Store(nil)
		d.logger.Warn("writes go on", "index", v.compare.Index)
	}
	if len(v.compare.Differ) > 0 {
		d.logger.Error("replicas have drifted and will be installed anew", "replicas", v.compare.Differ, "index", v.compare.Index)
	}
}

// quarantine keeps a state that has drifted, and the stores that it came from, for
// those who look for the fault; the next start finds an empty disk, and so this
// replica is installed anew under another id.
func (d *drift) quarantine(err error) error {
	if !errors.Is(err, command.ErrDiffers) || d.store.Err() != nil {
		return nil
	}
	v := d.machine.View()
	where, err := d.store.Quarantine(v.Index(), func(w io.Writer) error { return snapshot.Write(w, v) })
	if err != nil {
		return fmt.Errorf("set the state aside: %w", err)
	}
	d.logger.Error("set aside a state that has drifted; the next start installs this replica anew", "where", where)
	return nil
}
