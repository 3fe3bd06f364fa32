package mom

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/hook"
	"rampart/mom/proc"
	"rampart/mom/spool"
	"rampart/mom/task"
)

// hookRunner runs the hooks of a host, and sends what they want to the servers.
type hookRunner struct {
	mom  *Mom
	life *life
}

var _ task.Hooks = hookRunner{}

// Begin implements task.Hooks.
func (r hookRunner) Begin(ctx context.Context, t task.Task) ([]spool.Used, error) {
	return r.before(ctx, t, r.jobEvent(t, "execjob_begin"))
}

// Prologue implements task.Hooks. A site without hooks of the event may have a prologue of PBS's kind.
func (r hookRunner) Prologue(ctx context.Context, t task.Task) ([]spool.Used, error) {
	if !r.any("execjob_prologue") && !t.Sister() {
		return nil, r.prologue(ctx, t)
	}
	return r.before(ctx, t, r.jobEvent(t, "execjob_prologue"))
}

// Launch implements task.Hooks.
func (r hookRunner) Launch(ctx context.Context, t task.Task, p *proc.Spec) ([]spool.Used, error) {
	if !r.any("execjob_launch") {
		return nil, nil
	}
	e := r.jobEvent(t, "execjob_launch")
	e.Program, e.Args, e.Env = p.Path, p.Args, environ(p.Env)
	out, err := r.start(ctx, t, e)
	if err != nil {
		return nil, err
	}
	p.Path, p.Args, p.Env = *out.orProgram(p.Path), out.orArgs(p.Args), out.orEnv(p.Env)
	return r.usedOf(out.Job), nil
}

func (r hookRunner) any(event string) bool { return len(r.life.hooks.store.At(event)) > 0 }

func (r hookRunner) before(ctx context.Context, t task.Task, e *hook.Event) ([]spool.Used, error) {
	if !r.any(e.Event) {
		return nil, nil
	}
	out, err := r.start(ctx, t, e)
	return r.usedOf(out.Job), err
}

// start runs the hooks of an event that they can refuse.
func (r hookRunner) start(ctx context.Context, t task.Task, e *hook.Event) (outcome, error) {
	out := r.run(ctx, e, &t, false)
	if err := ctx.Err(); err != nil {
		return outcome{&hook.Outcome{}}, err
	}
	if out.Rejected != nil {
		return outcome{&hook.Outcome{}}, r.refused(&t, e.Event, out)
	}
	r.send(&t, out)
	if err := r.note(ctx, t.Key, out.Job); err != nil {
		return out, err
	}
	if out.Job != nil && len(out.Job.Release) > 0 && t.Prunable() {
		return out, r.prune(ctx, t, out.Job.Release)
	}
	return out, nil
}

// note gives the job what hooks have set of it: those of later events see it, and its programs find the variables, the first
// one included.
func (r hookRunner) note(ctx context.Context, k spool.TaskKey, edits *hook.Edits) error {
	used, attrs := r.usedOf(edits), attrsOf(edits)
	if len(used)+len(attrs) == 0 {
		return nil
	}
	runner := r.life.task(k)
	if runner == nil {
		return pbs.Refuse(pbs.UnknownJob)
	}
	if len(used) > 0 {
		if err := runner.Tell(ctx, task.Hooked{Used: used}); err != nil {
			return err
		}
	}
	if len(attrs) > 0 {
		return runner.Tell(ctx, task.Alter{Attrs: attrs})
	}
	return nil
}

// noted notes what hooks have set of a job that goes on without it, too.
func (r hookRunner) noted(ctx context.Context, k spool.TaskKey, edits *hook.Edits) {
	if err := r.note(ctx, k, edits); err != nil && ctx.Err() == nil {
		r.mom.lines.Job(pbs.LogError, k.Job, "what hooks have set is not kept: "+err.Error())
	}
}

// Patience implements task.Hooks.
func (r hookRunner) Patience(events ...string) time.Duration {
	sum := time.Duration(0)
	for _, event := range events {
		for _, h := range r.life.hooks.store.At(event) {
			sum += h.Seconds("alarm")
		}
	}
	return sum
}

// refused tells the log and the servers of a rejection before the start, and returns it. The
// job goes back to the queue unless the hook, or the event, wants it deleted. A program besides
// the job's first is just not started.
func (r hookRunner) refused(t *task.Task, event string, out outcome) error {
	r.mom.lines.Job(pbs.LogJob, t.Key.Job, out.Message)
	r.sendVnodes(t.Key, out) // before the run is over: of its vnodes it may say more than of others
	wishes := r.wishesFor(t, out.Rejected.Name, out)
	if out.Failure != "" {
		failAction(wishes, event, out.Rejected)
	}
	if event == "execjob_launch" && t.State() == task.Starting && len(wishes.Rerun) == 0 {
		wishes.Delete = []spool.TaskKey{t.Key}
	}
	if t.State() != task.Running || t.Sister() && event == "execjob_prologue" {
		wishes.Rerun = nil // it goes back to the queue by itself
	}
	if wishes.Offline != "" || len(wishes.Delete)+len(wishes.Rerun)+len(wishes.Jobs) > 0 || wishes.Restart {
		r.append(t.Key, wishes)
	}
	refusal := task.ErrHook
	switch {
	case len(wishes.Delete) > 0:
		refusal = task.ErrHookDelete
	case out.Job != nil && out.Job.Wish == "rerun":
		refusal = task.ErrHookRerun
	}
	return fmt.Errorf("%s: %w", out.Message, refusal)
}

// Ending implements task.Hooks.
func (r hookRunner) Ending(ctx context.Context, t task.Task) []spool.Used {
	var used []spool.Used
	for _, event := range t.EndEvents() {
		if !r.any(event) {
			if event == "execjob_epilogue" && !t.Sister() && !t.Result.NeverStarted {
				r.epilogue(ctx, t)
			}
			continue
		}
		if event == "execjob_end" && !t.Sister() && !t.Result.NeverStarted {
			r.exiting(t.Key)
		}
		out := r.run(ctx, r.jobEvent(t, event), &t, true)
		more := r.usedOf(out.Job)
		used = append(used, more...)
		r.send(&t, out)
		t = t.Hooking(more).Altered(attrsOf(out.Job)) // for the hooks of the next event
	}
	return used
}

// exiting lets users see that the job is over but for its last hooks, which may take long.
func (r hookRunner) exiting(k spool.TaskKey) {
	if err := r.life.spool.Append(spool.Fact{Task: k, Exiting: &spool.Exiting{Hooks: true}}); err != nil {
		r.mom.config.Logger.Warn("end not reported before its hooks", "job", k.Job, "err", err)
	}
}

// Resizing implements task.Hooks.
func (r hookRunner) Resizing(ctx context.Context, t task.Task) error {
	return r.At(ctx, "execjob_resize", t, 0)
}

// At implements task.Hooks.
func (r hookRunner) At(ctx context.Context, event string, t task.Task, pid int) error {
	if !r.any(event) {
		return nil
	}
	e := r.jobEvent(t, event)
	e.PID = pid
	out := r.run(ctx, e, &t, false)
	if err := ctx.Err(); err != nil {
		return err
	}
	if out.Rejected != nil {
		r.mom.lines.Job(pbs.LogJob, t.Key.Job, out.Message)
		r.sendVnodes(t.Key, out)
		if event == "execjob_preresume" {
			wishes := r.wishesFor(&t, out.Rejected.Name, out)
			wishes.Stopped, wishes.Why = []spool.TaskKey{t.Key}, out.why(event)
			if err := r.life.spool.Append(spool.Fact{Task: t.Key, Hook: wishes}); err != nil {
				return err // nobody would hear of it: the job goes on
			}
		}
		return fmt.Errorf("%s: %w", out.Message, task.ErrHook)
	}
	r.send(&t, out)
	r.noted(ctx, t.Key, out.Job)
	return nil
}

// Terminates implements task.Hooks.
func (r hookRunner) Terminates() bool { return len(r.life.hooks.store.At("execjob_preterm")) > 0 }

// Terminating implements task.Hooks.
func (r hookRunner) Terminating(ctx context.Context, t task.Task) error {
	out := r.run(ctx, r.jobEvent(t, "execjob_preterm"), &t, false)
	if err := ctx.Err(); err != nil {
		return err
	}
	if out.Rejected == nil {
		r.send(&t, out)
		r.noted(ctx, t.Key, out.Job)
		return nil
	}
	r.mom.lines.Job(pbs.LogJob, t.Key.Job, out.Message)
	r.sendVnodes(t.Key, out)
	wishes := r.wishesFor(&t, out.Rejected.Name, out)
	wishes.Kept, wishes.Why = []spool.TaskKey{t.Key}, out.why("execjob_preterm")
	if err := r.life.spool.Append(spool.Fact{Task: t.Key, Hook: wishes}); err != nil {
		return err // nobody would hear of it: the job ends
	}
	return fmt.Errorf("%s: %w", wishes.Why, task.ErrHook)
}

// why returns what a user reads of a rejection.
func (o outcome) why(event string) string {
	if o.Message != "" {
		return strings.ReplaceAll(o.Message, "\n", " ")
	}
	return event + " request rejected by '" + o.Rejected.Name + "'"
}

// run runs the hooks of an event. t is the job, nil at events of the host.
func (r hookRunner) run(ctx context.Context, e *hook.Event, t *task.Task, regardless bool) outcome {
	store := r.life.hooks.store
	return r.runSome(ctx, e, t, store.At(e.Event), regardless)
}

func (r hookRunner) runSome(ctx context.Context, e *hook.Event, t *task.Task, list []hook.Hook, regardless bool) outcome {
	m, store := r.mom, r.life.hooks.store
	e.Mom, e.MS = true, t != nil && !t.Sister()
	e.Requestor, e.RequestorHost = "pbs_mom", string(m.config.Host)
	resources := map[string]string{}
	for _, d := range store.Manifest().Resources {
		resources[d.Name] = d.Type
	}
	source := hook.Source(hookSource{m.config.Objects})
	if t != nil {
		source = jobSource{hookSource{m.config.Objects}, r, *t}
	}
	var runs []hook.Run
	for i := range list {
		h := &list[i]
		script, config, err := store.Script(h)
		run := hook.Run{
			Hook: *h, Script: script, Path: m.config.path("mom_priv", "hooks", h.Name+".PY"), Config: config, Dir: m.config.path("spool"), Resources: resources,
			Source: source, Log: m.hookLine, Mark: m.hookMark,
		}
		if h.Attrs["debug"] == "true" {
			run.Debug = m.config.path("mom_priv", "hooks", "tmp")
		}
		if h.Attrs["user"] == "pbsuser" && t != nil && err == nil {
			if run.User, run.Dir, err = r.owner(ctx, *t); err != nil {
				err = fmt.Errorf("account of the owner: %w", err)
			}
		}
		if err != nil { // it was complete, and is no reason to go on without it
			m.lines.write(pbs.LogError, "Hook", h.Name, err.Error())
			run.Broken = err
		}
		runs = append(runs, run)
	}
	out := m.runtime.Sequence(ctx, runs, e, regardless)
	if out.Reboot != "" {
		m.reboot(ctx, out.Reboot)
	}
	for _, n := range out.Notes {
		switch n.Kind {
		case hook.NoteVerdict:
			m.lines.write(pbs.LogDebug2, "Hook", n.Object, n.Text)
		case hook.NotePerf:
			m.lines.write(pbs.LogDebug4|pbs.LogPerf, "Hook", n.Object, n.Text)
		case hook.NoteMessage:
			m.lines.write(pbs.LogDebug3, "Hook", n.Object, n.Text)
			if t != nil && e.Event == "execjob_end" { // nobody is told of it but by the log: the job is over
				m.lines.Job(pbs.LogDebug, t.Key.Job, n.Text)
			}
		case hook.NoteFault:
			m.lines.system(pbs.LogError|pbs.LogForce, "pbs_python", n.Text)
		}
	}
	return outcome{out}
}
