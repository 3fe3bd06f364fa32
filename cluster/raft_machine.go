package cluster

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"rampart/fsm/command"
)

// observed is the state machine as Raft sees it: it counts what is applied, to
// ask for snapshots, and holds a snapshot back until the ledger has what the
// snapshot lets the log forget.
type observed struct {
	Machine
	ledger Ledger
	ctx    context.Context // ends the waits for the ledger; set when Raft is started
	due    chan struct{}   // a snapshot is
	after  int64           // proposals until one is
	meter  *meter
	sizes  sizes

	proposals, bytes atomic.Int64 // applied since the last snapshot
}

func observe(m Machine, l Ledger, after int, meter *meter) *observed {
	return &observed{Machine: m, ledger: l, due: make(chan struct{}, 1), after: int64(after), meter: meter}
}

// Apply implements raft.FSM.
func (o *observed) Apply(l *raft.Log) any {
	defer o.meter.apply(1)()
	out := o.Machine.Apply(l)
	o.count(l, out)
	return out
}

// ApplyBatch implements raft.BatchingFSM.
func (o *observed) ApplyBatch(logs []*raft.Log) []any {
	defer o.meter.apply(len(logs))()
	out := o.Machine.ApplyBatch(logs)
	for i, l := range logs {
		o.count(l, out[i])
	}
	return out
}

func (o *observed) count(l *raft.Log, response any) {
	o.sizes.note(l)
	outcomes, _ := response.([]command.Outcome)
	proposals := o.proposals.Add(int64(len(outcomes)))
	bytes := o.bytes.Add(int64(len(l.Data)))
	if proposals < o.after && bytes < snapshotBytes {
		return
	}
	o.ask()
}

// ask asks for a snapshot.
func (o *observed) ask() {
	select {
	case o.due <- struct{}{}:
	default:
	}
}

// changed reports whether anything was proposed since the last snapshot.
func (o *observed) changed() bool { return o.proposals.Load() > 0 }

// calm reports whether enough was applied for a snapshot in a calm, and little of it since the last
// look; before is what the last look has returned.
func (o *observed) calm(before int64) (now int64, ok bool) {
	now = o.proposals.Load()
	lately := now - before // negative: a snapshot lies between
	return now, now >= o.after/calmShare && lately >= 0 && lately <= o.after/calmRate
}

// Snapshot implements raft.FSM. Raft calls it between two entries, so the view
// is the one that the snapshot holds.
func (o *observed) Snapshot() (raft.FSMSnapshot, error) {
	snap, err := o.Machine.Snapshot()
	if err != nil {
		return nil, err
	}
	o.proposals.Store(0)
	o.bytes.Store(0)
	return &heldSnapshot{FSMSnapshot: snap, records: o.View().Cluster().LastRecord, o: o}, nil
}

// heldSnapshot is written when the ledger is synced.
type heldSnapshot struct {
	raft.FSMSnapshot
	records uint64
	o       *observed
}

// Persist implements raft.FSMSnapshot.
func (s *heldSnapshot) Persist(sink raft.SnapshotSink) error {
	if s.o.ledger != nil {
		if err := s.o.ledger.WaitSynced(s.o.ctx, s.records); err != nil {
			return fmt.Errorf("wait for the ledger to have record %d: %w", s.records, err)
		}
	}
	return s.FSMSnapshot.Persist(sink)
}
