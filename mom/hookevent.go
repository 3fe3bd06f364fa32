package mom

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/mom/hook"
	"rampart/mom/task"
	"rampart/transport/api"
)

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
	event, class, object := pbs.LogSystem|pbs.LogAdmin, "Hook", pythonDaemon
	switch {
	case l.Job != "":
		event, class, object = pbs.LogJob, "Job", l.Job
	case l.Level <= 3:
		event |= pbs.LogError
	}
	if err := m.log.WriteAs(pythonDaemon, time.Now(), event|pbs.LogForce, class, object, l.Text); err != nil {
		m.config.Logger.Error("log line not written", "line", l.Text, "err", err)
	}
}

// hookMark writes that a hook has started or finished.
func (m *Mom) hookMark(name, text string) { m.lines.write(pbs.LogDebug3, "Hook", name, text) }

// pythonDaemon is the name of the daemon in log lines of scripts.
const pythonDaemon = "pbs_python"

// jobEvent returns an event of a job.
func (r hookRunner) jobEvent(t task.Task, event string) *hook.Event {
	e := &hook.Event{Event: event, Settable: hook.SettableOnMom(), VnodesSettable: true}
	job := r.job(t)
	at(&job, t, event)
	e.Job = &job
	on, err := t.Placement()
	if err != nil {
		return e
	}
	sums := map[string]int{}
	for _, chunk := range on.Vnodes {
		for _, p := range chunk.Parts {
			name := string(p.Vnode)
			i, ok := sums[name]
			if !ok {
				i = len(e.Vnodes)
				sums[name] = i
				e.Vnodes = append(e.Vnodes, hook.Object{Name: name, Attrs: []hook.Attr{{"state", "", "free"}}})
			}
			for _, it := range p.Items {
				r.assign(&e.Vnodes[i], it)
			}
		}
	}
	if event == "execjob_prologue" || event == "execjob_launch" {
		e.Failed = failedOf(t, on, e.Vnodes)
	}
	return e
}

// at says in which substate a job is at an event, as a mom of PBS has it: the server's own, which came with the order to start, is
// that of the start.
func at(o *hook.Object, t task.Task, event string) {
	state, substate := "R", pbs.SubRunning
	switch event {
	case "execjob_begin", "execjob_prologue", "execjob_abort":
		substate = pbs.SubStarting
	case "execjob_launch":
		if t.State() == task.Starting { // the first program; others are of a job that runs
			substate = pbs.SubStarting
		}
	case "execjob_postsuspend", "execjob_preresume":
		substate = pbs.SubSuspended
	case "execjob_epilogue":
		state, substate = "E", subEpilogue
	case "execjob_end":
		state, substate = "E", subObit
	}
	o.Attrs = slices.DeleteFunc(o.Attrs, func(a hook.Attr) bool { return a[0] == "job_state" || a[0] == "substate" })
	o.Attrs = append(o.Attrs, hook.Attr{"job_state", "", state}, hook.Attr{"substate", "", strconv.Itoa(int(substate))})
}

// The substates that only moms of a PBS know: while the hooks of the epilogue run, and until the job is gone.
const (
	subEpilogue pbs.Substate = 57
	subObit     pbs.Substate = 58
)

// assign adds what a chunk has of a vnode to what the chunks before have of it.
func (r hookRunner) assign(v *hook.Object, it resource.Item) {
	i := slices.IndexFunc(v.Attrs, func(a hook.Attr) bool { return a[0] == "resources_assigned" && a[1] == it.Name })
	if i < 0 {
		v.Attrs = append(v.Attrs, hook.Attr{"resources_assigned", it.Name, it.Value})
		return
	}
	kind, _ := r.typeOf(it.Name)
	before, err1 := resource.Parse(kind, v.Attrs[i][2])
	more, err2 := resource.Parse(kind, it.Value)
	if sum, err := before.Add(more); err1 == nil && err2 == nil && err == nil {
		v.Attrs[i][2] = sum.String()
	}
}

// failedOf returns the vnodes of hosts on which the job cannot count.
func failedOf(t task.Task, on task.Placement, vnodes []hook.Object) []hook.Object {
	if !t.Life.OnTrial() || len(on.Hosts) != len(on.Vnodes) {
		return nil
	}
	bad := map[string]bool{}
	for i, chunk := range on.Vnodes {
		for _, p := range chunk.Parts {
			bad[string(p.Vnode)] = bad[string(p.Vnode)] || !t.Good(pbs.HostName(on.Hosts[i].Host))
		}
	}
	return slices.DeleteFunc(slices.Clone(vnodes), func(v hook.Object) bool { return !bad[v.Name] })
}

func (r hookRunner) job(t task.Task) hook.Object {
	o := hook.Object{Name: string(t.Key.Job), MS: !t.Sister()}
	for _, a := range t.Attrs {
		if a.Name != "resources_used" && a.Value != "" { // what was unset has no value
			o.Attrs = append(o.Attrs, hook.Attr{a.Name, a.Resource, a.Value})
		}
	}
	for _, u := range t.Reckoning().Own() {
		o.Attrs = append(o.Attrs, hook.Attr{"resources_used", u.Resource, u.Value})
	}
	if n := t.Handle.Session; n > 0 && !t.Sister() {
		o.Attrs = append(o.Attrs, hook.Attr{"session_id", "", strconv.Itoa(n)})
	}
	if end := t.Result; end != nil && !end.NeverStarted && !t.Sister() {
		o.Attrs = append(o.Attrs, hook.Attr{"Exit_status", "", strconv.Itoa(end.ExitStatus)})
	}
	if _, err := os.Stat(r.life.spool.Checkpoint(t.Key.Job)); err == nil {
		o.Attrs = append(o.Attrs, hook.Checkpointed)
	}
	for name, kind := range map[string]string{"_stdout": "OU", "_stderr": "ER"} {
		o.Attrs = append(o.Attrs, hook.Attr{name, "", r.life.spool.Output(t.Key.Job, kind)})
	}
	return o
}

// vnodes returns the vnodes of the host, as it offers them.
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

// hookSource asks a replica what hooks want to know.
type hookSource struct {
	list func(ctx context.Context, r *connect.Request[api.ListRequest]) (*connect.ServerStreamForClient[api.ListReply], error)
}

var hookKinds = map[string]api.ObjectKind{
	"server": api.ObjectKind_OBJECT_KIND_SERVER, "queue": api.ObjectKind_OBJECT_KIND_QUEUE,
	"vnode": api.ObjectKind_OBJECT_KIND_VNODE, "job": api.ObjectKind_OBJECT_KIND_JOB,
	"resv": api.ObjectKind_OBJECT_KIND_RESERVATION,
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
	return hook.NewRuntime(hook.Options{
		Dir: filepath.Join(c.Home, "mom_priv", "hooks"), Host: pbs.ShortHost(c.Host), Node: string(c.NodeName), Logger: c.Logger, ConfFile: c.ConfFile,
		Conf: map[string]string{"PBS_HOME": c.Home}, Elsewhere: c.Elsewhere,
	})
}
