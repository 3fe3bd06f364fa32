package server

import (
	"context"
	"slices"
	"time"

	"rampart/cluster/dispatch"
	"rampart/cluster/service"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/state"
	"rampart/mom/hook"
)

const (
	// hookTasksAtOnce is how many committed events are dealt with before it is noted.
	hookTasksAtOnce = 32
	// hooksLookEvery is how often it is looked which periodic hooks are due.
	hooksLookEvery = time.Second
)

// serve runs, while this replica leads, the hooks of what was committed and those that run
// now and then. A committed event is forgotten when its hooks have run: a leader that dies
// between the two leaves it to the next one.
func (h *hooks) serve(ctx context.Context, source dispatch.Source, proposer dispatch.Proposer) error {
	due := map[string]time.Time{}
	tick := time.NewTicker(hooksLookEvery)
	defer tick.Stop()
	for {
		changed := source.Changed()
		v := source.View()
		if err := h.tasks(ctx, v, proposer); err != nil && ctx.Err() == nil {
			h.logger.Warn("forget events whose hooks have run", "err", err)
		}
		h.periodic(ctx, v, due)
		if !v.HasHooksAt("periodic") {
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
				continue
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-tick.C:
		}
	}
}

// tasks runs the hooks of some committed events, in one session.
func (h *hooks) tasks(ctx context.Context, v *state.View, proposer dispatch.Proposer) error {
	var done []uint64
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
		if t.Vnode != "" {
			e.Vnode, e.VnodeOld = object(string(t.Vnode), t.Attrs), object(string(t.Vnode), t.Old)
		} else {
			e.Job = object(string(t.Job), t.Attrs)
		}
		if _, ok := runs[t.Event]; !ok {
			runs[t.Event] = h.runs(v, v.HooksAt(t.Event))
		}
		h.sequence(ctx, session, runs[t.Event], e, true)
		if done = append(done, t.Seq); len(done) == hookTasksAtOnce {
			break
		}
	}
	if len(done) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	out, err := proposer.Propose(ctx, command.Proposal{Commands: []command.Command{&command.HookTasksDone{Seqs: done}}})
	if err != nil {
		return err
	}
	return out.Err()
}

// periodic runs the hooks that are due: first when they are there or the term begins, then
// freq after their last run ended.
func (h *hooks) periodic(ctx context.Context, v *state.View, due map[string]time.Time) {
	for _, one := range v.HooksAt("periodic") {
		if ctx.Err() != nil || time.Now().Before(due[one.Name]) {
			continue
		}
		e := &hook.Event{Event: "periodic"}
		for vn := range v.Vnodes() {
			e.Vnodes = append(e.Vnodes, service.HookObject(string(vn.Name), v.VnodeAttributes(vn)))
		}
		h.runSome(ctx, v, e, []*state.Hook{one}, true)
		due[one.Name] = time.Now().Add(time.Duration(one.Int("freq")) * time.Second)
	}
	for name := range due {
		if !slices.ContainsFunc(v.HooksAt("periodic"), func(one *state.Hook) bool { return one.Name == name }) {
			delete(due, name)
		}
	}
}
