package cgroup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// Options are what a Manager needs of its host.
type Options struct {
	Host pbs.HostName
	Dir  string                      // keeps a file for each job that has something
	Root string                      // "/", or a tree for tests
	Find func() (Tree, error)        // nil: FindTree
	Kill func([]string) (int, error) // nil: proc.KillCgroup
	// Remove removes a cgroup's folders; nil: proc.RemoveCgroup.
	Remove func([]string) error
	// Warn takes what an operator should know and no job dies of.
	Warn func(text string)
}

// A Manager keeps the cgroups of a host's jobs.
type Manager struct {
	options Options

	mu      sync.Mutex
	enabled bool
	events  []string
	config  config
	host    Host
	jobs    map[string]*entry
	without string // why there are no cgroups, as it was told last
}

// entry is a job on this host. Its lock is held while its folders are changed; that of the
// manager comes after it.
type entry struct {
	sync.Mutex
	assignment
}

// A Room is where the processes of a job live.
type Room struct {
	Folders []string // of its cgroup; none: it has none
	GPUs    []string // as CUDA_VISIBLE_DEVICES takes them
	// Mem and Vmem tell which limits the cgroup sees to.
	Mem, Vmem bool
}

// Open returns the manager of a host, with what an earlier mom has written down.
func Open(o Options) (*Manager, error) {
	if o.Root == "" {
		o.Root = "/"
	}
	if o.Kill == nil {
		o.Kill = proc.KillCgroup
	}
	if o.Remove == nil {
		o.Remove = proc.RemoveCgroup
	}
	if o.Find == nil {
		o.Find = func() (Tree, error) { return FindTree(o.Root, "") }
	}
	m := &Manager{options: o, config: defaults(), host: Discover(o.Root), jobs: map[string]*entry{}}
	entries, err := os.ReadDir(o.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read cgroups of jobs: %w", err)
	}
	for _, e := range entries {
		var a assignment
		text, err := os.ReadFile(filepath.Join(o.Dir, e.Name()))
		if err != nil || json.Unmarshal(text, &a) != nil || a.Job == "" {
			_ = os.Remove(filepath.Join(o.Dir, e.Name())) // a crash of the host has spoilt it: nothing of it lives
			continue
		}
		m.jobs[a.Job] = &entry{assignment: a}
	}
	return m, nil
}

// Set takes what the servers say of the hook. A configuration that cannot be read leaves the
// one before in force.
func (m *Manager) Set(s Settings) error {
	c, err := parse(s.Config)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.enabled, m.events = s.Enabled, s.Events
	if err != nil {
		return err
	}
	m.config = c
	return nil
}

// Acts reports whether the hook acts at an event on this host.
func (m *Manager) Acts(event string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.enabled && m.config.applies(string(m.options.Host)) && slices.Contains(m.events, event)
}

// Host returns what the machine has.
func (m *Manager) Host() Host { return m.host }

// NUMAVnodes reports whether the host is to offer a vnode for each NUMA node.
func (m *Manager) NUMAVnodes() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.enabled && m.config.applies(string(m.options.Host)) && m.config.VnodePerNUMANode
}

// OnlinesOfflined reports whether vnodes that were set offline for a fault of the hook are to
// come back when it works.
func (m *Manager) OnlinesOfflined() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.config.OnlineOfflined
}

// Reserved returns how many kilobytes of the host's memory jobs do not get.
func (m *Manager) Reserved(totalKB int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &m.config.Cgroup.Memory
	if !m.enabled || !m.config.applies(string(m.options.Host)) || !c.on(string(m.options.Host)) {
		return 0
	}
	return c.reserved(totalKB<<10) >> 10
}

// Prepare makes room for a run: its cgroup, if the hook acts at execjob_begin, and its GPUs. A
// repeat changes nothing and returns the same. An earlier run of the job is over by then; what
// it has left is removed.
func (m *Manager) Prepare(ctx context.Context, w Want) (Room, error) {
	if err := checkName(w.Job); err != nil {
		return Room{}, err
	}
	acts := m.Acts("execjob_begin")
	gpus := w.sum().GPUs
	if old, there := m.entry(w.Job); there && old.Run != w.Run {
		if _, err := m.End(ctx, w.Job, old.Run); err != nil {
			return Room{}, err
		}
	}
	if !acts && gpus == 0 {
		return Room{}, nil
	}
	e := m.reserve(w)
	e.Lock()
	defer e.Unlock()
	a := e.assignment
	tree, usable := m.tree()
	var p plan
	if acts && usable {
		m.mu.Lock()
		p = m.plan(w, &a)
		a.Folders = m.folders(tree, w.Job, p)
		a.note(tree, p)
		e.assignment = a
		m.mu.Unlock()
	}
	if err := m.write(a); err != nil { // before the deed: the next mom must know what to remove
		return Room{}, err
	}
	if len(a.Folders) > 0 {
		if err := m.set(tree, w.Job, p); err != nil {
			return Room{}, err
		}
	}
	return a.room(), nil
}

// checkName refuses what is no name of a folder, so that no job reaches others' cgroups.
func checkName(job string) error {
	if job == "" || job[0] == '.' || strings.ContainsAny(job, "/\x00") {
		return pbs.Errorf(pbs.InvalidRequest, "job %q: no name of a cgroup", job)
	}
	return nil
}

// entry returns a copy of what is known of a job.
func (m *Manager) entry(job string) (assignment, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.jobs[job]
	if !ok {
		return assignment{}, false
	}
	return e.assignment, true
}

func (m *Manager) forget(job string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, job)
}

// reserve gives a run cpus and GPUs that no other has, unless it has them already.
func (m *Manager) reserve(w Want) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, there := m.jobs[w.Job]; there {
		return e
	}
	var cpus []int
	var gpus []string
	for _, e := range m.jobs {
		if !e.Shared {
			cpus = append(cpus, e.CPUs...)
		}
		gpus = append(gpus, e.GPUs...)
	}
	e := &entry{assignment: assignment{Job: w.Job, Run: w.Run}}
	c := &m.config
	e.CPUs, e.Shared = m.host.cpus(w.Parts, cpus, c.Cgroup.Cpuset.ExcludeCPUs, c.VnodePerNUMANode)
	if len(e.CPUs) == 0 { // a part without cpus is not to be left without any to run on
		e.CPUs, e.Shared = m.host.all(), true
	}
	e.Mems = m.mems(e.CPUs)
	e.GPUs = m.host.gpus(w.Parts, gpus, c.VnodePerNUMANode)
	m.jobs[w.Job] = e
	return e
}

// mems returns the NUMA nodes whose memory a job may use.
func (m *Manager) mems(cpus []int) []int {
	if m.config.Cgroup.Cpuset.MemFences {
		return m.host.mems(cpus)
	}
	var all []int
	for _, n := range m.host.Nodes {
		all = append(all, n.ID)
	}
	return all
}

// tree returns where cgroups are made; false, and once a word to the operator, if they are not.
func (m *Manager) tree() (Tree, bool) {
	t, err := m.options.Find()
	why := ""
	switch {
	case err != nil:
		why = err.Error()
	case len(t.Mounts) == 0 && t.Unified == "":
		why = "no hierarchy is mounted"
	case t.unified():
		if _, err := t.delegate(); err != nil {
			why = err.Error()
		}
	default:
		for _, top := range t.Tops() {
			if err := unix.Access(top, unix.W_OK); err != nil {
				why = fmt.Sprintf("%s is not ours to write: %v", top, err)
			}
		}
	}
	m.mu.Lock()
	told := m.without
	m.without = why
	m.mu.Unlock()
	if why != "" && why != told && m.options.Warn != nil {
		m.options.Warn("jobs get no cgroups: " + why)
	}
	return t, why == ""
}

// Room returns what a run has; it is empty for one that has nothing.
func (m *Manager) Room(job string, run uint32) Room {
	a, ok := m.entry(job)
	if !ok || a.Run != run {
		return Room{}
	}
	return a.room()
}

// note writes down to which limits a cgroup made by that plan sees.
func (a *assignment) note(t Tree, p plan) {
	memory := p.use["memory"] && t.has("memory")
	a.Unbounded, a.Swap = !memory, memory && p.limits.swap > 0
}

func (a assignment) room() Room {
	there := len(a.Folders) > 0
	return Room{Folders: a.Folders, GPUs: a.GPUs, Mem: there && !a.Unbounded, Vmem: there && a.Swap}
}

// Resize shrinks, or widens, a run's cgroup to the parts that it has on this host, at once. An
// error that wraps EBUSY says that it uses more memory than it would have.
func (m *Manager) Resize(w Want) error {
	m.mu.Lock()
	e, ok := m.jobs[w.Job]
	m.mu.Unlock()
	if !ok {
		return nil
	}
	e.Lock()
	defer e.Unlock()
	m.mu.Lock()
	a := e.assignment
	if a.Run != w.Run || len(a.Folders) == 0 {
		m.mu.Unlock()
		return nil
	}
	if n := w.sum().CPUs; n > 0 && n < len(a.CPUs) && !a.Shared {
		a.CPUs = m.host.keep(a.CPUs, w.Parts, m.config.VnodePerNUMANode)
		a.Mems = m.mems(a.CPUs)
	}
	if n := w.sum().GPUs; n < len(a.GPUs) {
		a.GPUs = a.GPUs[:n]
	}
	p := m.plan(w, &a)
	m.mu.Unlock()
	tree, usable := m.tree()
	if !usable {
		return nil
	}
	a.note(tree, p)
	if err := m.set(tree, w.Job, p); err != nil {
		return err
	}
	if err := m.write(a); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e.assignment = a
	return nil
}

// Attach moves a process into a run's cgroup.
func (m *Manager) Attach(job string, run uint32, pid int) error {
	return proc.EnterCgroup(m.Room(job, run).Folders, pid)
}
