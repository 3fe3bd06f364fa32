package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"rampart/cluster/dispatch"
	"rampart/cluster/service"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
)

const (
	// hookTasksAtOnce is how many committed events are dealt with before it is noted.
	hookTasksAtOnce = 32
	// hookTasksFor is how long that takes at most, but for the last of them: a job starts when it is
	// noted that hooks have seen it, and whoever submitted it waits for that.
	hookTasksFor = 100 * time.Millisecond
	// hooksLookEvery is how often it is looked which periodic hooks are due.
	hooksLookEvery = time.Second
)

// serve runs, while this replica leads, the hooks of what was committed and those that run
// now and then, which hold up neither those nor each other. A committed event is forgotten when its hooks
// have run: a leader that dies between the two leaves it to the next one.
func (h *hooks) serve(ctx context.Context, source dispatch.Source, proposer dispatch.Proposer) error {
	rests := rests{of: map[string]*rest{}, ended: make(chan string)}
	defer rests.running.Wait()
	tick := time.NewTicker(hooksLookEvery)
	defer tick.Stop()
	for {
		changed := source.Changed()
		v := source.View()
		err := h.tasks(ctx, v, proposer)
		if err != nil && ctx.Err() == nil {
			h.logger.Warn("do what hooks want after an event", "err", err)
		}
		h.periodic(ctx, v, &rests, proposer)
		var look <-chan time.Time // nothing is due while there is no such hook
		if v.HasHooksAt("periodic") || err != nil {
			look = tick.C
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-look:
		case name := <-rests.ended:
			rests.of[name].ended = time.Now()
		case <-h.restart: // a commit is what the scheduler looks for
			if _, err := proposer.Propose(ctx, command.Proposal{Commands: []command.Command{&command.HookTasksDone{}}}); err != nil && ctx.Err() == nil {
				h.logger.Warn("begin a scheduling cycle for a hook", "err", err)
			}
		}
	}
}

// tasks runs the hooks of some committed events, in one session.
func (h *hooks) tasks(ctx context.Context, v *state.View, proposer dispatch.Proposer) error {
	var done []uint64
	var failed error
	began := time.Now()
	session := h.runtime.Session()
	defer session.Close()
	runs := map[string][]hook.Run{}
	for t := range v.HookTasks() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e := &hook.Event{Event: t.Event, Requestor: t.By.Name, RequestorHost: string(t.By.Host)}
		object := func(name string, list attr.List) *hook.Object {
			o := service.HookObject(name, list)
			return &o
		}
		switch {
		case t.Vnode != "":
			e.Vnode, e.VnodeOld = object(string(t.Vnode), t.Attrs), object(string(t.Vnode), t.Old)
		case t.Reservation != "":
			e.Resv = object(string(t.Reservation), t.Attrs)
			if e.Requestor == "" { // the time has come: nobody asked for it
				e.Requestor, e.RequestorHost = "root", v.Cluster().Name
			}
		default:
			e.Job = object(string(t.Job), t.Attrs)
		}
		if _, ok := runs[t.Event]; !ok {
			runs[t.Event] = h.runs(ctx, v, v.HooksAt(t.Event))
		}
		if t.Event == "postqueuejob" {
			e.Settable = hook.SettableQueued()
		}
		out := h.sequence(ctx, session, runs[t.Event], e, true)
		if t.Event == "postqueuejob" {
			if failed = h.alter(ctx, v, t.Job, out.Job, proposer); failed != nil {
				break // the hooks run again
			}
		}
		if done = append(done, t.Seq); len(done) == hookTasksAtOnce || time.Since(began) > hookTasksFor {
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(done) == 0:
		return failed
	}
	out, err := proposer.Propose(ctx, command.Proposal{Commands: []command.Command{&command.HookTasksDone{Seqs: done}}})
	return errors.Join(failed, err, out.Err())
}

// alter makes the changes that hooks want of a job. An error says that nobody knows whether they are made; what is
// refused is for the log.
func (h *hooks) alter(ctx context.Context, v *state.View, id pbs.JobID, edits *hook.Edits, proposer dispatch.Proposer) error {
	if edits == nil || len(edits.Set) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	changes, refused := service.HookChanges(v, edits)
	if refused == nil {
		out, err := proposer.Propose(ctx, command.Proposal{Commands: []command.Command{&command.AlterJob{Job: id, Changes: changes, Hooked: true}}})
		if err != nil {
			return fmt.Errorf("alter job %s as hooks want it: %w", id, err)
		}
		refused = out.Err()
	}
	if refused != nil {
		h.write(pbs.LogError, "Job", string(id), "not altered as hooks want it: "+refused.Error())
	}
	return nil
}

// setVnodes makes the changes that hooks want of vnodes, as a Manager would.
func (h *hooks) setVnodes(ctx context.Context, v *state.View, out *hook.Outcome, proposer dispatch.Proposer) {
	for _, edited := range out.Edits {
		for _, name := range slices.Sorted(maps.Keys(edited.Vnodes)) {
			changes, err := service.VnodeChanges(v, edited.Vnodes[name])
			if err == nil && len(changes) > 0 {
				var done command.Outcome
				done, err = proposer.Propose(ctx, command.Proposal{Commands: []command.Command{
					&command.ManageVnode{Verb: command.VerbSet, Vnode: pbs.VnodeName(name), Changes: changes},
				}})
				err = errors.Join(err, done.Err())
			}
			if err != nil && ctx.Err() == nil {
				h.write(pbs.LogError, "Node", name, "not changed as hook '"+edited.Hook+"' wants it: "+err.Error())
			}
		}
	}
}

// rests are the periodic hooks that run, or have run, by name.
type rests struct {
	of      map[string]*rest
	ended   chan string
	running sync.WaitGroup
}

// A rest is the last run of a periodic hook.
type rest struct {
	seq          uint64    // of the hook: one that is made anew runs at once
	began, ended time.Time // ended is zero while it runs
}

// due is when a hook is to run that began at a time, at the latest now; false if that is not yet.
func (r *rest) due(one *state.Hook, now time.Time) (began time.Time, ok bool) {
	switch {
	case r == nil:
		return now, true
	case r.ended.IsZero():
		return now, false
	case r.seq != one.Seq:
		return now, true
	}
	due := onGrid(r.began, time.Duration(one.Int("freq"))*time.Second, r.ended)
	if now.Sub(due) < hooksLookEvery+time.Second {
		return due, !now.Before(due)
	}
	return now, true
}

// onGrid is when a hook runs again that began at a time and has ended: a whole number of freq after
// that, as in PBS.
func onGrid(began time.Time, freq time.Duration, now time.Time) time.Time {
	if freq <= 0 {
		return now
	}
	return began.Add(freq * max(1, (now.Sub(began)+freq-1)/freq))
}

// periodic starts the hooks that are due: first when they are there or the term begins, then
// every freq, but for the times at which the last run is not over.
func (h *hooks) periodic(ctx context.Context, v *state.View, rests *rests, proposer dispatch.Proposer) {
	present := v.HooksAt("periodic")
	for _, one := range present {
		began, ok := rests.of[one.Name].due(one, time.Now())
		if !ok {
			continue
		}
		rests.of[one.Name] = &rest{seq: one.Seq, began: began}
		rests.running.Go(func() {
			e := &hook.Event{Event: "periodic", Settable: hook.SettableQueued(), VnodesSettable: true}
			for vn := range v.Vnodes() {
				e.Vnodes = append(e.Vnodes, service.HookObject(string(vn.Name), v.VnodeAttributes(vn)))
			}
			out := h.runSome(ctx, v, e, []*state.Hook{one}, true)
			for _, id := range slices.Sorted(maps.Keys(out.Jobs)) {
				if err := h.alter(ctx, v, pbs.JobID(id), out.Jobs[id], proposer); err != nil && ctx.Err() == nil {
					h.write(pbs.LogError, "Job", id, err.Error())
				}
			}
			h.setVnodes(ctx, v, out, proposer)
			select {
			case rests.ended <- one.Name:
			case <-ctx.Done():
			}
		})
	}
	for name, last := range rests.of {
		gone := !slices.ContainsFunc(present, func(one *state.Hook) bool { return one.Name == name })
		if gone && !last.ended.IsZero() {
			delete(rests.of, name)
		}
	}
}
