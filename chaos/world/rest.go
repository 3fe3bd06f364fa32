package world

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/look"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// Rest heals and restarts everything, and waits until every job has ended, every
// order is confirmed, and the replicas agree: then it kills one replica and starts it
// again, which must come to the same (L7).
func (w *World) Rest(ctx context.Context, limit time.Duration) error {
	n := resting{w}
	w.flow()
	w.cure()
	w.setClocks()
	w.relieve()
	w.connect()
	w.Restart()
	w.thaw(fault.Target{})
	if err := w.await(ctx, limit, func() string { return n.waiting(ctx) }); err != nil {
		return fmt.Errorf("let every job go: %w", err)
	}
	goOn := func() string { return cmp.Or(n.resume(ctx), n.unrest()) } // a suspension may yet be confirmed
	if err := w.await(ctx, limit, goOn); err != nil {
		return fmt.Errorf("come to rest: %w", err)
	}
	r := w.servers[w.rand.IntN(len(w.servers))]
	r.kill()
	r.start(w.life)
	if err := w.await(ctx, limit, n.unrest); err != nil {
		return fmt.Errorf("come to rest after a restart of %s: %w", r.name, err)
	}
	return nil
}

// resting is how a world comes to rest: what keeps its jobs from their end is taken away.
type resting struct{ *World }

// waiting starts the second queue, brings vnodes back that are offline, gives back what jobs would wait for too long, and releases what
// is held there, until nothing is.
func (n resting) waiting(ctx context.Context) string {
	_, err := n.manager.Manage(ctx, connect.NewRequest(&api.ManageRequest{
		Verb: api.Verb_VERB_SET, Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Name: SecondQueue,
		Changes: []*api.Attribute{{Name: "started", Value: "True"}},
	}))
	if err != nil {
		return err.Error()
	}
	r := n.leader()
	if r == nil {
		return "there is no leader"
	}
	held := cmp.Or(n.useVnodes(ctx, r.machine.View()), n.giveBack(ctx, r.machine.View()))
	for j := range r.machine.View().Jobs() {
		if j.Holds == 0 || j.State == pbs.Finished {
			continue
		}
		held = fmt.Sprintf("%s is held", j.ID)
		_, err := n.manager.Release(ctx, connect.NewRequest(&api.ReleaseRequest{Job: string(j.ID), Holds: "uos"}))
		if err != nil {
			held += ": " + err.Error()
		}
	}
	return held
}

// unrest tells what still goes on.
func (n resting) unrest() string {
	first := n.servers[0].machine.View()
	for _, r := range n.servers {
		v := r.machine.View()
		r.last = v
		if v.Index() != first.Index() || v.Index() == 0 {
			return fmt.Sprintf("%s is at index %d, %s at %d", n.servers[0].name, first.Index(), r.name, v.Index())
		}
	}
	if text := look.Busy(first); text != "" {
		return text
	}
	for _, r := range n.servers {
		if text := r.leftScripts(); text != "" {
			return text
		}
		files, err := r.ledger()
		if err != nil {
			return err.Error()
		}
		if text := look.Unwritten(files, first); text != "" {
			return r.name + ": " + text
		}
	}
	return ""
}

// Evidence returns what the run left behind, but for the history, which the clients have.
// The world is at rest.
func (w *World) Evidence() (*check.Evidence, error) {
	e := &check.Evidence{Begun: w.begun}
	for _, r := range w.servers {
		left, err := r.evidence()
		if err != nil {
			return nil, err
		}
		e.Replicas = append(e.Replicas, left)
	}
	e.Epochs, e.Loss = len(w.servers[0].last.Cluster().Recoveries), w.disaster.loss
	e.Views, e.Moves = w.watcher.Seen()
	if w.config.Size.Prune {
		var err error
		if e.Missed, err = w.missed(); err != nil {
			return nil, err
		}
	}
	w.book.tell(e)
	return e, nil
}

// Fatal returns what ended by itself.
func (w *World) Fatal() []string { return w.book.ends() }

func (r *replica) evidence() (check.Replica, error) {
	if r.last == nil {
		return check.Replica{}, fmt.Errorf("%s has come to no state that could be judged", r.name)
	}
	files, err := r.ledger()
	if err != nil {
		return check.Replica{}, err
	}
	return look.Replica(r.name, r.last, files)
}
