package mom

import (
	"context"
	"slices"
	"time"

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
	busy, last, started := map[string]bool{}, map[string]lastRun{}, map[string]string{}
	tick := time.NewTicker(hooksLookEvery)
	defer tick.Stop()
	for {
		if list := newOf(l.hooks.store.At("exechost_startup"), started); len(list) > 0 && !busy["/startup"] {
			for _, h := range list {
				started[h.Name] = versionOf(h)
			}
			busy["/startup"] = true
			l.wg.Go(func() {
				r.startup(ctx, list)
				finished(ctx, done, "/startup")
			})
		}
		for _, h := range l.hooks.store.At("exechost_periodic") {
			key := h.Name
			if busy[key] || last[key].rests(h, time.Now()) {
				continue
			}
			busy[key], last[key] = true, lastRun{seq: h.Seq}
			l.wg.Go(func() {
				r.periodic(ctx, h)
				finished(ctx, done, key)
			})
		}
		select {
		case <-ctx.Done():
			return
		case key := <-done:
			busy[key] = false
			last[key] = lastRun{last[key].seq, time.Now()}
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

// newOf returns the hooks of which this version has not been started.
func newOf(all []hook.Hook, started map[string]string) []hook.Hook {
	return slices.DeleteFunc(slices.Clone(all), func(h hook.Hook) bool { return started[h.Name] == versionOf(h) })
}

func versionOf(h hook.Hook) string { return h.Script + h.Config }

// A lastRun is the last run of a periodic hook: which one it was, and when it ended.
type lastRun struct {
	seq   uint64
	ended time.Time
}

// rests reports whether it is too early for a hook: it rests for its freq after each run, but not one that was made anew.
func (l lastRun) rests(h hook.Hook, now time.Time) bool {
	return l.seq == h.Seq && now.Before(l.ended.Add(max(h.Seconds("freq"), time.Second)))
}

// startup runs hooks of the start one after the other.
func (r hookRunner) startup(ctx context.Context, list []hook.Hook) {
	e := &hook.Event{Event: "exechost_startup", VnodesSettable: true, Vnodes: r.vnodes()}
	out := r.runSome(ctx, e, nil, list, false)
	if ctx.Err() != nil {
		return
	}
	for _, h := range out.Done {
		wishes := &spool.Hook{Name: h.Name}
		if recovered(wishes, e.Event, &h); wishes.Clear != "" {
			r.append(spool.TaskKey{}, wishes)
		}
	}
	if out.Rejected == nil {
		r.send(nil, out)
		return
	}
	if out.Failure != "" {
		wishes := &spool.Hook{Name: out.Rejected.Name}
		if failAction(wishes, e.Event, out.Rejected); wishes.Offline != "" {
			r.append(spool.TaskKey{}, wishes)
		}
	}
	r.sendVnodes(spool.TaskKey{}, out)
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
		wishes, key := &spool.Hook{Name: h.Name}, run.Task().Key
		r.noted(ctx, key, edits)
		if wishOf(wishes, key, edits); len(wishes.Rerun)+len(wishes.Delete)+len(wishes.Jobs) == 0 {
			continue
		}
		r.append(key, wishes)
	}
}
