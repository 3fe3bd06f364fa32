package mom

import (
	"context"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/hook"
	"rampart/mom/spool"
	"rampart/mom/task"
)

// hooksLookEvery is how often it is looked which hooks of the host are due.
const hooksLookEvery = time.Second

// keepHooks runs the hooks of the host: at its start and after a reload exechost_startup, and
// exechost_periodic when it is due. A hook that arrives runs at once.
func (m *Mom) keepHooks(ctx context.Context, l *life) {
	if !l.untilKnown(ctx) {
		return
	}
	r := hookRunner{m, l}
	done := make(chan string, 16)
	busy, due, started := map[string]bool{}, map[string]time.Time{}, map[string]string{}
	tick := time.NewTicker(hooksLookEvery)
	defer tick.Stop()
	for {
		for _, h := range l.hooks.store.At("exechost_startup") {
			if version := h.Script + h.Config; started[h.Name] != version && !busy["/startup"] {
				started[h.Name], busy["/startup"] = version, true
				l.wg.Go(func() {
					r.startup(ctx, h)
					finished(ctx, done, "/startup")
				})
			}
		}
		for _, h := range l.hooks.store.At("exechost_periodic") {
			if key := h.Name; !busy[key] && !time.Now().Before(due[key]) {
				busy[key] = true
				l.wg.Go(func() {
					r.periodic(ctx, h)
					finished(ctx, done, key)
				})
			}
		}
		select {
		case <-ctx.Done():
			return
		case key := <-done:
			busy[key] = false
			due[key] = time.Now().Add(freqOf(l, key))
		case <-l.hooks.again:
			clear(started)
		case <-tick.C:
		}
	}
}

func finished(ctx context.Context, done chan<- string, key string) {
	select {
	case done <- key:
	case <-ctx.Done():
	}
}

// freqOf is how long a periodic hook rests after its run.
func freqOf(l *life, name string) time.Duration {
	for _, h := range l.hooks.store.At("exechost_periodic") {
		if h.Name == name {
			return max(h.Seconds("freq"), time.Second)
		}
	}
	return 0
}

func (r hookRunner) startup(ctx context.Context, h hook.Hook) {
	e := &hook.Event{Event: "exechost_startup", VnodesSettable: true, Vnodes: r.vnodes()}
	out := r.runSome(ctx, e, nil, []hook.Hook{h}, false)
	if ctx.Err() != nil {
		return
	}
	wishes := &spool.Hook{Name: h.Name}
	switch {
	case out.Failure != "":
		failAction(wishes, e.Event, &h)
	case out.Rejected == nil:
		recovered(wishes, e.Event, &h)
	}
	if wishes.Offline != "" || wishes.Clear != "" {
		r.append(spool.TaskKey{}, wishes)
	}
	if out.Rejected != nil {
		r.sendVnodes(spool.TaskKey{}, out)
		return
	}
	r.send(nil, out)
}

// periodic runs one hook, with the jobs of the host.
func (r hookRunner) periodic(ctx context.Context, h hook.Hook) {
	e := &hook.Event{
		Event: "exechost_periodic", VnodesSettable: true, Vnodes: r.vnodes(), Settable: hook.SettableOnMom(),
	}
	runs := map[string]*task.Runner{}
	for _, run := range r.life.all() {
		if t := run.Task(); t.State() == task.Running {
			e.Jobs = append(e.Jobs, r.job(t))
			runs[string(t.Key.Job)] = run
		}
	}
	out := r.runSome(ctx, e, nil, []hook.Hook{h}, false)
	switch {
	case ctx.Err() != nil:
		return
	case out.Rejected != nil:
		r.sendVnodes(spool.TaskKey{}, out)
		return
	}
	r.send(nil, out)
	for id, edits := range out.Jobs {
		run, ok := runs[id]
		if !ok {
			continue
		}
		if used := r.usedOf(edits); len(used) > 0 {
			if err := run.Tell(ctx, task.Hooked{Used: used}); err != nil && ctx.Err() == nil {
				r.mom.lines.Job(pbs.LogError, run.Task().Key.Job, "resources_used of hook "+h.Name+": "+err.Error())
			}
		}
		wishes, key := &spool.Hook{Name: h.Name}, run.Task().Key
		if wishOf(wishes, key, edits); len(wishes.Rerun)+len(wishes.Delete)+len(wishes.Jobs) == 0 {
			continue
		}
		r.append(key, wishes)
	}
}
