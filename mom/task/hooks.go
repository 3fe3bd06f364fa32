package task

import (
	"context"
	"slices"
	"time"

	"rampart/mom/proc"
	"rampart/mom/spool"
)

// Hooks runs the site's hooks at events of jobs. Each may be called again for the same run
// when the mom has died meanwhile. An error that wraps ErrHook says that a hook has refused.
type Hooks interface {
	// Begin runs execjob_begin when this host is to take part in a run, Prologue
	// execjob_prologue before the program: at the mother superior, then at the sisters.
	Begin(ctx context.Context, t Task) ([]spool.Used, error)
	Prologue(ctx context.Context, t Task) ([]spool.Used, error)
	// Launch runs execjob_launch before a program of the job, the first one or another, which
	// hooks may change.
	Launch(ctx context.Context, t Task, spec *proc.Spec) ([]spool.Used, error)
	// Ending runs what comes after the last process: the hooks of the events of Task.EndEvents.
	Ending(ctx context.Context, t Task) []spool.Used
	// Resizing runs execjob_resize, at a mother superior and at sisters that stay, when the
	// assignment has changed.
	Resizing(ctx context.Context, t Task) error
	// At runs the hooks of another event: execjob_attach, with the process, execjob_postsuspend,
	// execjob_preresume. If those refuse, the servers are told before it returns.
	At(ctx context.Context, event string, t Task, pid int) error
	// PruneToRequest gives back, before the program, what was not requested (specification:
	// reliable-startup section 1).
	PruneToRequest(ctx context.Context, t Task) error
	// Terminating runs execjob_preterm before the processes of a job that is to be deleted
	// are told to end. If they refuse that, the servers are told before it returns; Terminates
	// reports whether there is anything to run.
	Terminating(ctx context.Context, t Task) error
	Terminates() bool
	// Patience is how long the hooks of the events may take, by their alarms; 0: there are none.
	Patience(events ...string) time.Duration
}

// Hooked says which resources hooks of a running job have set.
type Hooked struct{ Used []spool.Used }

func (Hooked) event() {}

// begun runs the hooks with which a host's part in a run begins, one run of hooks at a time.
func (s *Site) begun(ctx context.Context, t Task) ([]spool.Used, error) {
	if s.Hooks == nil {
		return nil, nil
	}
	return s.Hooks.Begin(ctx, t)
}

// patience returns how long hooks of the events may take.
func (s *Site) patience(events ...string) time.Duration {
	if s.Hooks == nil {
		return 0
	}
	return s.Hooks.Patience(events...)
}

// launching runs the hooks before the job's first program, which finds the variables that they have set.
func (r *Runner) launching(ctx context.Context, t Task, a Account, spec *proc.Spec) ([]spool.Used, error) {
	s := r.site
	if s.Hooks == nil {
		return nil, nil
	}
	var used []spool.Used
	if len(t.sisters()) == 0 { // else they ran before the sisters were asked
		var err error
		if used, err = s.Hooks.Begin(ctx, t); err != nil {
			return nil, err
		}
	}
	more, err := s.Hooks.Prologue(ctx, r.Task())
	if err != nil {
		return nil, err
	}
	if err := r.fit(ctx); err != nil {
		return nil, err
	}
	t = r.Task()
	spec.Env = s.environment(t, a) // by now the cpus and the variables may be others
	p := s.program(t, a, spec.Env)
	spec.Path, spec.Args, spec.Stdin = p.path, p.args, p.stdin
	used = append(used, more...)
	prologues := s.prologues
	if t.Life.Trial != nil {
		prologues = (&tolerantStart{r: r}).prove
	}
	if err := prologues(ctx, r.Task()); err != nil {
		return nil, err
	}
	more, err = s.Hooks.Launch(ctx, r.Task(), spec)
	if now := r.Task(); err == nil && now.prunes() {
		err = s.Hooks.PruneToRequest(ctx, now)
	}
	if err == nil {
		err = r.fit(ctx)
	}
	recount(spec, t, r.Task())
	return append(used, more...), err
}

// after runs the hooks of the end before what follows it.
func (s *Site) after(ctx context.Context, t Task, do func(context.Context, Task) Event) Event {
	used := s.ending(ctx, t)
	if ctx.Err() != nil {
		return nil
	}
	ev := do(ctx, t)
	if d, ok := ev.(Delivered); ok {
		d.Used = used
		return d
	}
	return ev
}

// conclude runs the hooks of the end at a sister.
func (r *Runner) conclude(ctx context.Context) {
	if r.site.Hooks == nil {
		r.now(ctx, Delivered{})
		return
	}
	r.finish(ctx, func(ctx context.Context, t Task) Event {
		return r.site.after(ctx, t, func(context.Context, Task) Event { return Delivered{} })
	})
}

// discard throws the output away, when the hooks of the end have run.
func (r *Runner) discard(ctx context.Context) {
	r.finish(ctx, func(ctx context.Context, t Task) Event { return r.site.after(ctx, t, r.site.output().discard) })
}

// stageOut brings files away when the hooks of the end have run.
func (r *Runner) stageOut(ctx context.Context) {
	r.finish(ctx, func(ctx context.Context, t Task) Event {
		if used := r.site.ending(ctx, t); len(used) > 0 {
			select {
			case r.mail <- letter{event: Hooked{used}}:
			case <-ctx.Done():
			}
		}
		return unless(ctx, r.site.staging().out(ctx, t))
	})
}

// deliver brings the output away; hooks of the end have run before, where files were staged out.
func (r *Runner) deliver(ctx context.Context) {
	r.finish(ctx, func(ctx context.Context, t Task) Event {
		if len(t.itemsOut()) > 0 {
			return r.site.output().deliver(ctx, t)
		}
		return r.site.after(ctx, t, r.site.output().deliver)
	})
}

// ending runs the hooks of the end, if there are any.
func (s *Site) ending(ctx context.Context, t Task) []spool.Used {
	if s.Hooks == nil || t.Result == nil {
		return nil
	}
	return s.Hooks.Ending(ctx, t)
}

// hooked notes what hooks have set. From now on the mom's own measure of it does not count.
func (t Task) hooked(ev Hooked) (Task, []Action, error) {
	if t.State() == Ended {
		return t, nil, nil
	}
	t = t.Hooking(ev.Used)
	if t.Result != nil {
		result := *t.Result
		result.Used = t.Used()
		t.Result = &result
	}
	return t, nil, nil
}

// Hooking returns the task with what hooks on this host have set of resources_used.
func (t Task) Hooking(used []spool.Used) Task {
	t.HookUsed = overlaid(t.HookUsed, used)
	return t
}

// never are the resources that hooks do not set: the job's running time and its cpus.
var never = []string{"walltime", "ncpus"}

// overlaid returns the values with those of over in their place, sorted by name.
func overlaid(base, over []spool.Used) []spool.Used {
	out := slices.Clone(base)
	for _, u := range over {
		if slices.Contains(never, u.Resource) {
			continue
		}
		i := slices.IndexFunc(out, func(o spool.Used) bool { return o.Resource == u.Resource })
		if u.Value == "" { // taken back
			out = slices.DeleteFunc(out, func(o spool.Used) bool { return o.Resource == u.Resource })
			continue
		}
		if i < 0 {
			out = append(out, u)
			continue
		}
		out[i] = u
	}
	return byName(out)
}
