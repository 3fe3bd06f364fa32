package mom

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/mom/hook"
	"rampart/mom/proc"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
	"rampart/transport/daylog"
)

// hookRunner runs the hooks of a host, and sends what they want to the servers.
type hookRunner struct {
	mom  *Mom
	life *life
}

var _ task.Hooks = hookRunner{}

// Starting implements task.Hooks.
func (r hookRunner) Starting(ctx context.Context, t task.Task, p *proc.Spec) ([]spool.Used, error) {
	var used []spool.Used
	for _, event := range []string{"execjob_begin", "execjob_prologue", "execjob_launch"} {
		if len(r.life.hooks.store.At(event)) == 0 {
			continue
		}
		e := r.jobEvent(t, event)
		if event == "execjob_launch" {
			e.Program, e.Args, e.Env = p.Path, p.Args, environ(p.Env)
		}
		out := r.run(ctx, e, &t, false)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if out.Rejected != nil {
			return nil, r.refused(&t, event, out)
		}
		if event == "execjob_launch" {
			p.Path, p.Args, p.Env = *out.orProgram(p.Path), out.orArgs(p.Args), out.orEnv(p.Env)
		}
		used = append(used, usedOf(out.Job)...)
		r.send(&t, out)
	}
	return used, nil
}

// refused tells the log and the servers of a rejection before the start, and returns it. The
// job goes back to the queue unless the hook, or the event, wants it deleted.
func (r hookRunner) refused(t *task.Task, event string, out outcome) error {
	r.mom.lines.Job(daylog.Job, t.Key.Job, out.Message)
	wishes := &spool.Hook{Name: out.Rejected.Name, Restart: out.Restart}
	if out.Failure != "" && out.Rejected.Fails("offline_vnodes") {
		wishes.Offline = offlined(out.Rejected.Name)
	}
	wish := ""
	if out.Job != nil {
		wish = out.Job.Wish
	}
	if wish == "delete" || event == "execjob_launch" && wish != "rerun" {
		wishes.Delete = []spool.TaskKey{t.Key}
	}
	if wishes.Offline != "" || len(wishes.Delete) > 0 || wishes.Restart {
		r.append(t.Key, wishes)
	}
	return fmt.Errorf("%s: %w", out.Message, task.ErrHook)
}

func offlined(hook string) string { return "offlined by hook '" + hook + "' due to hook error" }

// Ending implements task.Hooks.
func (r hookRunner) Ending(ctx context.Context, t task.Task) []spool.Used {
	events := []string{"execjob_epilogue", "execjob_end"}
	if t.Result != nil && t.Result.NeverStarted {
		events = []string{"execjob_abort"}
	}
	var used []spool.Used
	for _, event := range events {
		if len(r.life.hooks.store.At(event)) == 0 {
			continue
		}
		out := r.run(ctx, r.jobEvent(t, event), &t, true)
		used = append(used, usedOf(out.Job)...)
		r.send(&t, out)
	}
	return used
}

// Terminates implements task.Hooks.
func (r hookRunner) Terminates() bool { return len(r.life.hooks.store.At("execjob_preterm")) > 0 }

// Terminating implements task.Hooks. The deletion is committed by then: a rejection is noted.
func (r hookRunner) Terminating(ctx context.Context, t task.Task) {
	r.send(&t, r.run(ctx, r.jobEvent(t, "execjob_preterm"), &t, false))
}

// outcome is hook.Outcome with defaults.
type outcome struct{ *hook.Outcome }

func (o outcome) orProgram(p string) *string {
	if o.Program != nil {
		return o.Program
	}
	return &p
}

func (o outcome) orArgs(args []string) []string {
	if o.Args != nil {
		return o.Args
	}
	return args
}

func (o outcome) orEnv(env []string) []string {
	if o.Env == nil {
		return env
	}
	var out []string
	for name, value := range o.Env {
		if name != "" && !strings.ContainsAny(name, "=\x00") && !strings.ContainsRune(value, 0) {
			out = append(out, name+"="+value)
		}
	}
	return out
}

func environ(list []string) map[string]string {
	out := make(map[string]string, len(list))
	for _, v := range list {
		name, value, _ := strings.Cut(v, "=")
		out[name] = value
	}
	return out
}

// run runs the hooks of an event. t is the job, nil at events of the host.
func (r hookRunner) run(ctx context.Context, e *hook.Event, t *task.Task, regardless bool) outcome {
	store := r.life.hooks.store
	return r.runSome(ctx, e, t, store.At(e.Event), regardless)
}

func (r hookRunner) runSome(ctx context.Context, e *hook.Event, t *task.Task, list []hook.Hook, regardless bool) outcome {
	m, store := r.mom, r.life.hooks.store
	e.Mom, e.MS = true, t != nil
	e.Requestor, e.RequestorHost = "root", string(m.config.Host)
	resources := map[string]string{}
	for _, d := range store.Manifest().Resources {
		resources[d.Name] = d.Type
	}
	var runs []hook.Run
	for i := range list {
		h := &list[i]
		script, config, err := store.Script(h)
		if err != nil { // the servers send it anew: until then it does not run
			m.lines.write(daylog.Error, "Hook", h.Name, err.Error())
			continue
		}
		run := hook.Run{
			Hook: *h, Script: script, Config: config, Dir: m.config.path("spool"), Resources: resources,
			Source: hookSource{m.config.Objects}, Log: m.hookLine,
		}
		if h.Attrs["debug"] == "true" {
			run.Debug = m.config.path("mom_priv", "hooks", "tmp")
		}
		if h.Attrs["user"] == "pbsuser" && t != nil {
			if run.User, run.Dir, err = r.owner(ctx, *t); err != nil {
				m.lines.write(daylog.Error, "Hook", h.Name, "account of the owner: "+err.Error())
				continue
			}
		}
		runs = append(runs, run)
	}
	out := m.runtime.Sequence(ctx, runs, e, regardless)
	if out.Reboot != "" {
		m.reboot(ctx, out.Reboot)
	}
	for _, text := range out.Lines {
		m.lines.write(daylog.Debug2, "Hook", r.nameOf(out, e), text)
	}
	return outcome{out}
}

func (r hookRunner) nameOf(out *hook.Outcome, e *hook.Event) string {
	if out.Rejected != nil {
		return out.Rejected.Name
	}
	return e.Event
}

// owner returns whom a hook of pbsuser runs as, and where.
func (r hookRunner) owner(ctx context.Context, t task.Task) (*hook.User, string, error) {
	a, err := r.life.site.Account(ctx, t)
	if err != nil || !r.mom.config.SwitchUser {
		return nil, a.Home, err
	}
	return &hook.User{Name: a.Name, UID: a.UID, GID: a.GID, Groups: a.Groups, Home: a.Home}, a.Home, nil
}

// hookLine writes what a script logs.
func (m *Mom) hookLine(l hook.Line) {
	event, class, object := daylog.System|daylog.Admin, "Hook", pythonDaemon
	switch {
	case l.Job != "":
		event, class, object = daylog.Job, "Job", l.Job
	case l.Level <= 3:
		event |= daylog.Error
	}
	if err := m.log.WriteAs(pythonDaemon, time.Now(), event|daylog.Force, class, object, l.Text); err != nil {
		m.config.Logger.Error("log line not written", "line", l.Text, "err", err)
	}
}

// pythonDaemon is who writes the lines of scripts.
const pythonDaemon = "pbs_python"

// jobEvent is an event of a job.
func (r hookRunner) jobEvent(t task.Task, event string) *hook.Event {
	e := &hook.Event{Event: event, Settable: hook.SettableOnMom(), VnodesSettable: true}
	job := r.job(t)
	e.Job = &job
	parts, err := spec.ParseExecVnode(t.Attrs.Get("exec_vnode"))
	if err != nil {
		return e
	}
	sums := map[string]int{}
	for _, chunk := range parts {
		for _, p := range chunk.Parts {
			name := string(p.Vnode)
			i, ok := sums[name]
			if !ok {
				i = len(e.Vnodes)
				sums[name] = i
				e.Vnodes = append(e.Vnodes, hook.Object{Name: name, Attrs: []hook.Attr{{"state", "", "free"}}})
			}
			for _, it := range p.Items {
				e.Vnodes[i].Attrs = append(e.Vnodes[i].Attrs, hook.Attr{"resources_assigned", it.Name, it.Value})
			}
		}
	}
	return e
}

func (r hookRunner) job(t task.Task) hook.Object {
	o := hook.Object{Name: string(t.Key.Job), MS: !t.Sister}
	for _, a := range t.Attrs {
		if a.Name != "resources_used" {
			o.Attrs = append(o.Attrs, hook.Attr{a.Name, a.Resource, a.Value})
		}
	}
	for _, u := range t.Used() {
		o.Attrs = append(o.Attrs, hook.Attr{"resources_used", u.Resource, u.Value})
	}
	for name, kind := range map[string]string{"_stdout": "OU", "_stderr": "ER"} {
		o.Attrs = append(o.Attrs, hook.Attr{name, "", r.life.spool.Output(t.Key.Job, kind)})
	}
	return o
}

// vnodes are those of the host, as it offers them.
func (r hookRunner) vnodes() []hook.Object {
	reports, err := r.mom.config.vnodes()
	if err != nil {
		return nil
	}
	var all []hook.Object
	for _, v := range reports {
		o := hook.Object{Name: v.GetName(), Attrs: []hook.Attr{{"state", "", "free"}}}
		for _, a := range v.GetAttributes() {
			o.Attrs = append(o.Attrs, hook.Attr{a.GetName(), a.GetResource(), a.GetValue()})
		}
		all = append(all, o)
	}
	return all
}

// usedOf returns what a hook has set of resources_used. A text in single quotes is taken as
// it stands, and a JSON object gets its canonical form.
func usedOf(edits *hook.Edits) []spool.Used {
	if edits == nil {
		return nil
	}
	var all []spool.Used
	for name, value := range edits.Set {
		base, res, _ := strings.Cut(name, ".")
		if base != "resources_used" || res == "" || value == nil {
			continue
		}
		text := *value
		if d, ok := resource.Lookup(res); ok {
			q, err := resource.Parse(d.Type, text)
			if err != nil {
				continue
			}
			text = q.String()
		} else {
			text = canonical(text)
		}
		all = append(all, spool.Used{Resource: res, Value: text})
	}
	return all
}

// send tells the servers what accepted hooks want of vnodes and jobs.
func (r hookRunner) send(t *task.Task, out outcome) {
	var key spool.TaskKey
	if t != nil {
		key = t.Key
	}
	for _, e := range out.Edits {
		r.append(key, &spool.Hook{Name: e.Hook, Vnodes: vnodesOf(e.Vnodes)})
	}
	wishes := &spool.Hook{Restart: out.Restart}
	for _, h := range out.Done {
		wishes.Name = h.Name
	}
	if t != nil && out.Job != nil {
		switch out.Job.Wish {
		case "rerun":
			wishes.Rerun = []spool.TaskKey{t.Key}
		case "delete":
			wishes.Delete = []spool.TaskKey{t.Key}
		}
	}
	if wishes.Restart || len(wishes.Rerun)+len(wishes.Delete) > 0 {
		r.append(key, wishes)
	}
}

func (r hookRunner) append(key spool.TaskKey, h *spool.Hook) {
	if err := r.life.spool.Append(spool.Fact{Task: key, Hook: h}); err != nil {
		r.mom.config.Logger.Error("wishes of a hook not saved", "hook", h.Name, "err", err)
	}
}

func vnodesOf(all map[string]*hook.Edits) []spool.HookVnode {
	var out []spool.HookVnode
	for name, edits := range all {
		v := spool.HookVnode{Name: name}
		for attribute, value := range edits.Set {
			base, res, _ := strings.Cut(attribute, ".")
			if value == nil {
				v.Unset = append(v.Unset, attribute)
				continue
			}
			v.Set = append(v.Set, spool.HookAttr{Name: base, Resource: res, Value: *value})
		}
		for res, kind := range edits.Types {
			v.Types = append(v.Types, spool.HookAttr{Name: res, Value: kind})
		}
		out = append(out, v)
	}
	return out
}

// hookSource asks a replica what hooks want to know.
type hookSource struct {
	list func(ctx context.Context, r *connect.Request[api.ListRequest]) (*connect.ServerStreamForClient[api.ListReply], error)
}

var hookKinds = map[string]api.ObjectKind{
	"server": api.ObjectKind_OBJECT_KIND_SERVER, "queue": api.ObjectKind_OBJECT_KIND_QUEUE,
	"vnode": api.ObjectKind_OBJECT_KIND_VNODE, "job": api.ObjectKind_OBJECT_KIND_JOB,
}

// Objects implements hook.Source.
func (s hookSource) Objects(ctx context.Context, kind, name string, yield func(hook.Object) error) error {
	if s.list == nil {
		return nil
	}
	req := &api.ListRequest{Kind: hookKinds[kind]}
	if name != "" {
		req.Names = []string{name}
	}
	stream, err := s.list(ctx, connect.NewRequest(req))
	if err != nil {
		return err
	}
	defer stream.Close()
	for stream.Receive() {
		for _, o := range stream.Msg().GetObjects() {
			if o.GetRefusal() != nil {
				continue
			}
			found := hook.Object{Name: o.GetName()}
			for _, a := range o.GetAttributes() {
				found.Attrs = append(found.Attrs, hook.Attr{a.GetName(), a.GetResource(), a.GetValue()})
			}
			if err := yield(found); err != nil {
				return err
			}
		}
	}
	return stream.Err()
}

// newRuntime returns what runs the scripts of the host.
func (c *Config) newRuntime() *hook.Runtime {
	short, _, _ := strings.Cut(string(c.Host), ".")
	return hook.NewRuntime(hook.Options{
		Dir: filepath.Join(c.Home, "mom_priv", "hooks"), Host: short, Logger: c.Logger, ConfFile: c.ConfFile,
		Conf: map[string]string{"PBS_HOME": c.Home},
	})
}

// wishes writes a fact about a hook for the servers.
func wishes(h *spool.Hook) *api.HookWishes {
	out := &api.HookWishes{Hook: h.Name, Offline: h.Offline, Clear: h.Clear, Restart: h.Restart, Rerun: runsOf(h.Rerun), Delete: runsOf(h.Delete)}
	for _, v := range h.Vnodes {
		out.Vnodes = append(out.Vnodes, &api.HookVnode{Name: v.Name, Set: hookAttrs(v.Set), Unset: v.Unset, Types: hookAttrs(v.Types)})
	}
	return out
}

func runsOf(keys []spool.TaskKey) []*api.TaskReport {
	var all []*api.TaskReport
	for _, k := range keys {
		all = append(all, &api.TaskReport{Job: string(k.Job), RunCount: uint32(k.Run)})
	}
	return all
}

func hookAttrs(list []spool.HookAttr) []*api.Attribute {
	var all []*api.Attribute
	for _, a := range list {
		all = append(all, &api.Attribute{Name: a.Name, Resource: a.Resource, Value: a.Value})
	}
	return all
}

// reboot restarts the host at the wish of a hook; without privileges it is only noted.
func (m *Mom) reboot(ctx context.Context, command string) {
	m.lines.write(daylog.System, "Hook", "reboot", "a hook restarts this host: "+command)
	if !m.config.SwitchUser {
		return
	}
	if out, err := exec.CommandContext(ctx, "/bin/sh", "-c", command).CombinedOutput(); err != nil {
		m.lines.write(daylog.Error, "Hook", "reboot", fmt.Sprintf("%s: %v %s", command, err, out))
	}
}
