package world

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// Rest heals and restarts everything, and waits until every job has ended, every
// order is confirmed, and the replicas agree: then it kills one replica and starts it
// again, which must come to the same (L7).
func (w *World) Rest(ctx context.Context, limit time.Duration) error {
	w.connect()
	w.Restart()
	if err := w.await(ctx, limit, func() string { return w.waiting(ctx) }); err != nil {
		return fmt.Errorf("let every job go: %w", err)
	}
	if err := w.await(ctx, limit, w.unrest); err != nil {
		return fmt.Errorf("come to rest: %w", err)
	}
	r := w.servers[w.rand.IntN(len(w.servers))]
	r.kill()
	r.start(w.life)
	if err := w.await(ctx, limit, w.unrest); err != nil {
		return fmt.Errorf("come to rest after a restart of %s: %w", r.name, err)
	}
	return nil
}

// waiting starts the second queue and releases what is held there, until nothing is.
func (w *World) waiting(ctx context.Context) string {
	_, err := w.manager.Manage(ctx, connect.NewRequest(&api.ManageRequest{
		Verb: api.Verb_VERB_SET, Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Name: SecondQueue,
		Changes: []*api.Attribute{{Name: "started", Value: "True"}},
	}))
	if err != nil {
		return err.Error()
	}
	r := w.leader()
	if r == nil {
		return "there is no leader"
	}
	held := ""
	for j := range r.machine.View().Jobs() {
		if j.Holds == 0 || j.State == pbs.Finished {
			continue
		}
		held = fmt.Sprintf("%s is held", j.ID)
		_, err := w.manager.Release(ctx, connect.NewRequest(&api.ReleaseRequest{Job: string(j.ID), Holds: "uos"}))
		if err != nil {
			held += ": " + err.Error()
		}
	}
	return held
}

// unrest tells what still goes on.
func (w *World) unrest() string {
	first := w.servers[0].machine.View()
	for _, r := range w.servers {
		v := r.machine.View()
		r.last = v
		if v.Index() != first.Index() || v.Index() == 0 {
			return fmt.Sprintf("%s is at index %d, %s at %d", w.servers[0].name, first.Index(), r.name, v.Index())
		}
	}
	if text := busyIn(first); text != "" {
		return text
	}
	for _, r := range w.servers {
		if text := r.unwritten(first); text != "" {
			return text
		}
	}
	return ""
}

func busyIn(v *state.View) string {
	var busy []string
	for j := range v.Jobs() {
		if j.State != pbs.Finished {
			busy = append(busy, fmt.Sprintf("%s is in state %s, substate %d, run %d on %q: %s", j.ID, j.State, j.Substate, j.RunCount, j.MS, j.Comment))
		}
	}
	for h := range v.Hosts() {
		for o := range v.Orders(h.Name) {
			busy = append(busy, fmt.Sprintf("order %d for %s about run %d of %s is open", o.ID, o.Host, o.RunCount, o.Job))
		}
	}
	return strings.Join(busy, "; ")
}

// unwritten tells what the ledger of r lacks.
func (r *replica) unwritten(v *state.View) string {
	files, err := r.ledger()
	if err != nil {
		return err.Error()
	}
	lines := 0
	for _, text := range files {
		lines += bytes.Count(text, []byte("\n"))
	}
	if want := v.Cluster().LastRecord; uint64(lines) < want {
		return fmt.Sprintf("the ledger of %s has %d of %d records", r.name, lines, want)
	}
	return ""
}

// Evidence is what the run left behind, but for the history, which the clients have.
// The world is at rest.
func (w *World) Evidence() (*check.Evidence, error) {
	e := &check.Evidence{}
	for _, r := range w.servers {
		left, err := r.evidence()
		if err != nil {
			return nil, err
		}
		e.Replicas = append(e.Replicas, left)
		e.Restored += int(r.disk.restored.Load())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	e.Runs, e.Views, e.Moves = w.runs, w.views, w.moves
	return e, nil
}

// Fatal returns what ended by itself.
func (w *World) Fatal() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fatal
}

func (r *replica) evidence() (check.Replica, error) {
	v := r.last
	left := check.Replica{Name: r.name, Index: v.Index(), Sum: uint64(v.Digest()), Records: v.Cluster().LastRecord}
	for j := range v.Jobs() {
		left.Jobs = append(left.Jobs, check.Job{ID: string(j.ID), Name: j.Name, State: j.State.Letter(), Run: uint32(j.RunCount)})
	}
	var file bytes.Buffer
	if err := snapshot.Write(&file, v); err != nil {
		return left, fmt.Errorf("write a snapshot of %s: %w", r.name, err)
	}
	s, _, err := snapshot.Read(&file)
	if err != nil {
		return left, fmt.Errorf("read a snapshot of %s: %w", r.name, err)
	}
	left.Reread = uint64(s.View().Digest())
	left.Ledger, err = r.ledger()
	return left, err
}
