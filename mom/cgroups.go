package mom

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/mom/cgroup"
	"rampart/mom/hook"
	"rampart/mom/proc"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
	"rampart/transport/pause"
)

// cgroupsHook is the built-in hook whose attributes and configuration steer the cgroups.
const cgroupsHook = "pbs_cgroups"

// sweepEvery is how often it is looked for cgroups of runs that are over.
const sweepEvery = 10 * time.Second

// newCgroups returns the keeper of the host's cgroups and GPUs, nil where there is none.
func (m *Mom) newCgroups() (*cgroup.Manager, error) {
	o := m.config.Cgroups
	if o == nil {
		return nil, nil
	}
	options := *o
	options.Host, options.Dir = m.config.Host, m.config.path("mom_priv", "cgroups")
	options.Warn = func(text string) { m.lines.write(pbs.LogError, "Hook", cgroupsHook, text) }
	if options.Find == nil {
		options.Find = func() (cgroup.Tree, error) { return cgroup.FindTree("/", m.settings.Load().cgroupParent) }
	}
	return cgroup.Open(options)
}

// steer makes the cgroups as the servers say of the built-in hook.
func (m *Mom) steer(store *hook.Store) {
	if m.config.keeper == nil {
		return
	}
	var s cgroup.Settings
	h, ok := store.Named(cgroupsHook)
	if ok {
		s.Enabled = h.Attrs["enabled"] == "true"
		s.Events = h.Events()
		config, err := store.Config(&h)
		if err != nil {
			m.lines.write(pbs.LogError, "Hook", cgroupsHook, err.Error())
			return
		}
		s.Config = config
	}
	if err := m.config.keeper.Set(s); err != nil {
		m.lines.write(pbs.LogError, "Hook", cgroupsHook, err.Error())
	}
}

// resteer is steer when the servers have sent something. A host that offers other vnodes for it
// registers again.
func (m *Mom) resteer(l *life) {
	before, err := m.config.vnodes()
	m.steer(l.hooks.store)
	after, errAfter := m.config.vnodes()
	if errors.Join(err, errAfter) == nil && !slices.EqualFunc(before, after, func(a, b *api.VnodeReport) bool { return proto.Equal(a, b) }) {
		m.registerAgain()
	}
}

// kept runs the hooks of jobs, and the built-in one after those of the site.
type kept struct {
	hookRunner
	keeper *cgroup.Manager
}

var _ task.Hooks = kept{}

// acts reports whether the built-in hook acts at an event, and notes it where tools look for it.
func (k kept) acts(event string) bool {
	if !k.keeper.Acts(event) {
		return false
	}
	k.mom.hookLine(hook.Line{Level: 7, Text: "Event type is " + event})
	return true
}

// Begin implements task.Hooks: the job's cgroup is made.
func (k kept) Begin(ctx context.Context, t task.Task) ([]spool.Used, error) {
	used, err := k.hookRunner.Begin(ctx, t)
	if err != nil {
		return nil, err
	}
	k.acts("execjob_begin")
	_, err = k.prepare(ctx, t)
	return used, err
}

// prepare makes room for a run. A failure is the built-in hook's: the run goes back to the queue.
func (k kept) prepare(ctx context.Context, t task.Task) (cgroup.Room, error) {
	room, err := k.keeper.Prepare(ctx, want(t, k.mom.config.Host))
	if err == nil {
		return room, nil
	}
	k.mom.lines.Job(pbs.LogError, t.Key.Job, err.Error())
	if h, ok := k.life.hooks.store.Named(cgroupsHook); ok && h.Fails("offline_vnodes") {
		k.life.offlined.Store(true)
		k.append(t.Key, &spool.Hook{Name: cgroupsHook, Offline: offlined(cgroupsHook)})
	}
	return room, fmt.Errorf("%w: %w", err, task.ErrHook)
}

// Launch implements task.Hooks: the program is born in the cgroup, and finds its GPUs.
func (k kept) Launch(ctx context.Context, t task.Task, p *proc.Spec) ([]spool.Used, error) {
	room, err := k.prepare(ctx, t)
	if err != nil {
		return nil, err
	}
	if k.acts("execjob_launch") || len(room.Folders) > 0 {
		p.Cgroups, p.First = room.Folders, !t.Sister() && t.State() == task.Starting
	}
	p.Env = slices.DeleteFunc(slices.Clone(p.Env), func(v string) bool { return strings.HasPrefix(v, cudaDevices+"=") })
	p.Env = append(p.Env, cudaDevices+"="+strings.Join(room.GPUs, ","))
	return k.hookRunner.Launch(ctx, t, p)
}

// cudaDevices names the GPUs of NVIDIA that a program may use; empty: none.
const cudaDevices = "CUDA_VISIBLE_DEVICES"

// Ending implements task.Hooks: nothing of the run is left when its end is told.
func (k kept) Ending(ctx context.Context, t task.Task) []spool.Used {
	if left, err := k.keeper.Kill(ctx, string(t.Key.Job), uint32(t.Key.Run)); left > 0 || err != nil {
		k.survivors(t, left, err)
	}
	used := k.hookRunner.Ending(ctx, t)
	for _, event := range t.EndEvents() {
		k.acts(event)
	}
	if ctx.Err() == nil && t.LastEvents() {
		k.exhausted(t)
		left, err := k.keeper.End(ctx, string(t.Key.Job), uint32(t.Key.Run))
		k.survivors(t, left, err)
	}
	return used
}

// exhausted tells the administrator, and the owner where the job's standard error is, that the kernel has killed
// processes of the run. How the job has ended is its program's affair.
func (k kept) exhausted(t task.Task) {
	if !k.keeper.Exhausted(string(t.Key.Job), uint32(t.Key.Run)) {
		return
	}
	const words = "Cgroup memory limit exceeded"
	k.mom.lines.Job(pbs.LogJob, t.Key.Job, words)
	r := k.life.task(t.Key)
	if r == nil || t.Sister() {
		return
	}
	if err := r.Write(words, false, true); err != nil {
		k.mom.config.Logger.Warn("note not written", "task", t.Key.String(), "err", err)
	}
}

func (k kept) survivors(t task.Task, left int, err error) {
	if left > 0 {
		k.mom.lines.Job(pbs.LogError, t.Key.Job, fmt.Sprintf("%d processes in the job's cgroup survived SIGKILL", left))
	}
	if err != nil {
		k.mom.lines.Job(pbs.LogError, t.Key.Job, err.Error())
	}
}

// Resizing implements task.Hooks: what the vnodes that have left had leaves the cgroup.
func (k kept) Resizing(ctx context.Context, t task.Task) error {
	if err := k.hookRunner.Resizing(ctx, t); err != nil {
		return err
	}
	if !k.acts("execjob_resize") {
		return nil
	}
	if err := k.keeper.Resize(want(t, k.mom.config.Host)); err != nil {
		k.mom.lines.Job(pbs.LogError, t.Key.Job, "Cannot resize the job: "+err.Error())
		return fmt.Errorf("%w: %w", err, task.ErrHook)
	}
	return nil
}

// At implements task.Hooks: what is attached moves into the cgroup.
func (k kept) At(ctx context.Context, event string, t task.Task, pid int) error {
	if err := k.hookRunner.At(ctx, event, t, pid); err != nil {
		return err
	}
	if !k.acts(event) || event != "execjob_attach" {
		return nil
	}
	for _, p := range proc.SessionMembers(pid) {
		err := k.keeper.Attach(string(t.Key.Job), uint32(t.Key.Run), p)
		if err != nil && p == pid {
			return pbs.Errorf(pbs.SystemError, "attach process %d: %v", pid, err)
		}
	}
	return nil
}

// measured raises what was measured of a task's processes to what its cgroup has counted: that
// knows of those, too, for which nobody has waited, and that have left the job's session. What ended programs have
// used is in t.Spent.
func (m *Mom) measured(t task.Task, u proc.Usage) proc.Usage {
	if m.config.keeper == nil {
		return u
	}
	c := m.config.keeper.Usage(string(t.Key.Job), uint32(t.Key.Run))
	u.CPU, u.RSS, u.VSize = max(u.CPU, c.CPU-t.Spent), max(u.RSS, c.Memory), max(u.VSize, c.Virtual)
	return u
}

// keepCgroups removes what belongs to no live run: what an earlier mom has left, and what could
// not be removed in time.
func (m *Mom) keepCgroups(ctx context.Context, l *life) {
	if m.config.keeper == nil || !l.untilKnown(ctx) {
		return
	}
	k := kept{hookRunner{m, l}, m.config.keeper}
	if k.acts("exechost_startup") && m.config.keeper.OnlinesOfflined() {
		k.append(spool.TaskKey{}, &spool.Hook{Name: cgroupsHook, Clear: offlined(cgroupsHook)})
	}
	told := time.Now()
	for {
		ended, err := m.config.keeper.Sweep(ctx, l.lives)
		if err != nil && ctx.Err() == nil {
			m.config.Logger.Warn("cgroups not removed", "err", err)
		}
		for _, job := range ended {
			m.lines.write(pbs.LogAdmin, "Hook", cgroupsHook, "removed what was left of "+job)
		}
		if h, ok := l.hooks.store.Named(cgroupsHook); ok && time.Since(told) >= max(h.Seconds("freq"), 2*time.Minute) && k.acts("exechost_periodic") {
			told = time.Now()
			if m.config.keeper.OnlinesOfflined() && l.offlined.CompareAndSwap(true, false) {
				k.append(spool.TaskKey{}, &spool.Hook{Name: cgroupsHook, Clear: offlined(cgroupsHook)})
			}
		}
		if !pause.For(ctx, sweepEvery) {
			return
		}
	}
}

// lives reports whether a run is not over on this host.
func (l *life) lives(job string, run uint32) bool {
	r := l.task(spool.TaskKey{Job: pbs.JobID(job), Run: pbs.RunCount(run)})
	return r != nil && r.Task().State() != task.Ended
}

// want returns what a run was given on a host. A vnode belongs to the host whose entry of
// exec_host stands at its chunk's place.
func want(t task.Task, host pbs.HostName) cgroup.Want {
	w := cgroup.Want{Job: string(t.Key.Job), Run: uint32(t.Key.Run)}
	on, err := t.Placement()
	if err != nil {
		return w
	}
	for i, c := range on.Vnodes {
		if len(t.Hosts) > 1 && !pbs.SameHost(on.Host(i, string(host)), string(host)) {
			continue
		}
		for _, p := range c.Parts {
			number := func(name string, kind resource.Type) int64 {
				text, _ := p.Items.Get(name)
				q, err := resource.Parse(kind, text)
				if err != nil {
					return 0
				}
				return max(q.Int(), 0)
			}
			w.Parts = append(w.Parts, cgroup.Part{
				Vnode: string(p.Vnode), CPUs: int(number("ncpus", resource.Long)), GPUs: int(number("ngpus", resource.Long)),
				MemoryKB: number("mem", resource.Size), VmemKB: number("vmem", resource.Size),
			})
		}
	}
	return w
}

// divide makes of the natural vnode what the hardware and the built-in hook say: its GPUs, without
// what is reserved for the host, or a vnode for each NUMA node.
func (c *Config) divide(natural *api.VnodeReport) []*api.VnodeReport {
	if c.keeper == nil {
		return []*api.VnodeReport{natural}
	}
	host := c.keeper.Host()
	amount := func(v *api.VnodeReport, res string, n int64) {
		set(v, "resources_available", res, strconv.FormatInt(n, 10))
	}
	if !c.keeper.NUMAVnodes() {
		if c.Probe != nil {
			total := c.Probe().MemoryKB
			set(natural, "resources_available", "mem", resource.Kilobytes(total-c.keeper.Reserved(total)).String())
		}
		if len(host.GPUs) > 0 {
			amount(natural, "ngpus", int64(len(host.GPUs)))
		}
		return []*api.VnodeReport{natural}
	}
	set(natural, "resources_available", "mem", resource.Kilobytes(0).String())
	amount(natural, "ncpus", 0)
	list := []*api.VnodeReport{natural}
	total := int64(0)
	for _, n := range host.Nodes {
		total += n.MemoryKB
	}
	for _, n := range host.Nodes {
		v := newVnode(fmt.Sprintf("%s[%d]", natural.Name, n.ID), string(c.Host))
		amount(v, "ncpus", int64(len(n.CPUs)))
		share := int64(0) // of what is reserved
		if total > 0 {
			share = int64(float64(c.keeper.Reserved(total)) * float64(n.MemoryKB) / float64(total))
		}
		set(v, "resources_available", "mem", resource.Kilobytes(n.MemoryKB-share).String())
		if len(host.GPUs) > 0 {
			amount(v, "ngpus", int64(n.GPUs))
		}
		list = append(list, v)
	}
	return list
}
