package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// limits are what a job's cgroup holds it to.
type limits struct {
	cpus, mems string // in the kernel's form; "" is not limited
	memory     int64  // bytes; 0 is not limited
	soft       bool   // the memory may be exceeded while there is enough
	swap       int64  // memory and swap together; 0 is not limited
	devices    []specs.LinuxDeviceCgroup
}

// plan is which controllers a job's cgroup has, and its limits.
type plan struct {
	use    map[string]bool
	limits limits
}

// plan returns what the configuration makes of a run's parts and its assignment.
func (m *Manager) plan(w Want, a *assignment) plan {
	c := &m.config.Cgroup
	host := string(m.options.Host)
	p := plan{use: map[string]bool{"freezer": true}}
	sum := w.sum()
	if c.Cpuset.on(host) {
		p.use["cpuset"] = true
		p.limits.cpus, p.limits.mems = formatList(a.CPUs), formatList(a.Mems)
	}
	if c.Cpuacct.on(host) {
		p.use["cpuacct"] = true
	}
	if c.Memory.on(host) {
		p.use["memory"] = true
		p.limits.memory = sum.MemoryKB << 10
		if p.limits.memory == 0 {
			p.limits.memory = int64(c.Memory.Default)
		}
		p.limits.soft = c.Memory.SoftLimit
		if c.Memsw.on(host) && p.limits.memory > 0 {
			p.limits.swap = sum.VmemKB << 10
			if p.limits.swap == 0 {
				p.limits.swap = p.limits.memory + int64(c.Memsw.Default)
			}
			p.limits.swap = max(p.limits.swap, p.limits.memory)
		}
	}
	if c.Hugetlb.on(host) {
		p.use["hugetlb"] = true
	}
	if c.Devices.on(host) && (len(c.Devices.Allow) > 0 || len(m.host.GPUs) > 0) {
		p.use["devices"] = true
		p.limits.devices = m.host.devices(&c.Devices, a.GPUs, numbersIn(filepath.Join(m.options.Root, "dev")))
	}
	return p
}

// relative returns the place of a job's folder in every hierarchy.
func (m *Manager) relative(t Tree, job string) string {
	return filepath.Join("/", t.Parent, m.config.Prefix+".service", "jobid", job)
}

// folders returns those of a job's cgroup. On a hybrid host one of v2 comes along, by which all
// its processes are killed at once.
func (m *Manager) folders(t Tree, job string, p plan) []string {
	path := m.relative(t, job)
	var all []string
	for _, s := range subsystems(t, p) {
		all = append(all, filepath.Join(t.Mounts[string(s.Name())], path))
	}
	if t.Unified != "" {
		all = append(all, filepath.Join(t.delegated(), path))
	}
	return all
}

// set makes the job's cgroup, or changes its limits if it is there.
func (m *Manager) set(t Tree, job string, p plan) error {
	if t.unified() {
		return m.setUnified(t, job, p)
	}
	path := m.relative(t, job)
	options := []cgroup1.InitOpts{
		cgroup1.WithHierarchy(func() ([]cgroup1.Subsystem, error) { return subsystems(t, p), nil }),
		func(c *cgroup1.InitConfig) error {
			c.InitCheck = cgroup1.AllowAny
			return nil
		},
	}
	there := true
	for _, dir := range m.folders(t, job, p) {
		_, err := os.Stat(dir)
		there = there && err == nil
	}
	if !there {
		if _, err := cgroup1.New(cgroup1.StaticPath(path), p.limits.v1(), options...); err != nil {
			return fmt.Errorf("make cgroup %s: %w", path, err)
		}
		if t.Unified == "" {
			return nil
		}
		if err := os.MkdirAll(filepath.Join(t.delegated(), path), 0o755); err != nil {
			return fmt.Errorf("make cgroup: %w", err)
		}
		return nil
	}
	c, err := cgroup1.Load(cgroup1.StaticPath(path), options...)
	if err == nil {
		err = c.Update(p.limits.v1())
	}
	if err != nil {
		return fmt.Errorf("limit cgroup %s: %w", path, err)
	}
	return nil
}

// subsystems returns the controllers of a plan that the host has mounted.
func subsystems(t Tree, p plan) []cgroup1.Subsystem {
	var all []cgroup1.Subsystem
	add := func(name string, of func(parent string) (cgroup1.Subsystem, error)) {
		point, mounted := t.Mounts[name]
		if !mounted || !p.use[name] {
			return
		}
		if s, err := of(filepath.Dir(point)); err == nil {
			all = append(all, s)
		}
	}
	add("cpuset", func(dir string) (cgroup1.Subsystem, error) { return cgroup1.NewCpuset(dir), nil })
	add("memory", func(dir string) (cgroup1.Subsystem, error) { return cgroup1.NewMemory(dir), nil })
	add("cpuacct", func(dir string) (cgroup1.Subsystem, error) { return cgroup1.NewCpuacct(dir), nil })
	add("devices", func(dir string) (cgroup1.Subsystem, error) { return cgroup1.NewDevices(dir), nil })
	add("hugetlb", func(dir string) (cgroup1.Subsystem, error) { return cgroup1.NewHugetlb(dir) })
	add("freezer", func(dir string) (cgroup1.Subsystem, error) { return cgroup1.NewFreezer(dir), nil })
	return all
}

// v1 returns the limits as the library takes them.
func (l limits) v1() *specs.LinuxResources {
	r := &specs.LinuxResources{Devices: l.devices}
	if l.cpus != "" {
		r.CPU = &specs.LinuxCPU{Cpus: l.cpus, Mems: l.mems}
	}
	if l.memory > 0 {
		r.Memory = &specs.LinuxMemory{Limit: &l.memory}
		if l.soft {
			r.Memory = &specs.LinuxMemory{Reservation: &l.memory}
		}
		if l.swap > 0 {
			r.Memory.Swap = &l.swap
		}
	}
	return r
}

// setUnified is set on v2.
func (m *Manager) setUnified(t Tree, job string, p plan) error {
	have, err := t.delegate()
	if err != nil {
		return err
	}
	usable := map[string]bool{}
	for _, c := range have {
		usable[c] = true
	}
	path, base := m.relative(t, job), t.delegated()
	dir := filepath.Join(base, path)
	if p.limits.memory > 0 && !p.limits.soft && usable["memory"] {
		if err := squeeze(dir, p.limits.memory); err != nil {
			return err
		}
	}
	r := p.limits.v2(usable)
	if _, err := cgroup2.NewManager(base, path, r); err != nil {
		return fmt.Errorf("limit cgroup %s: %w", dir, err)
	}
	return nil
}

// v2 returns the limits as the library takes them.
func (l limits) v2(usable map[string]bool) *cgroup2.Resources {
	r := &cgroup2.Resources{Devices: numbered(l.devices)}
	if usable["cpu"] || usable["cpuset"] {
		r.CPU = &cgroup2.CPU{}
		if usable["cpuset"] {
			r.CPU.Cpus, r.CPU.Mems = l.cpus, l.mems
		}
	}
	if usable["memory"] {
		r.Memory = &cgroup2.Memory{}
		switch {
		case l.memory > 0 && l.soft:
			r.Memory.High = &l.memory
		case l.memory > 0:
			r.Memory.Max = &l.memory
		}
		if l.swap > 0 {
			swap := l.swap - l.memory
			r.Memory.Swap = &swap
		}
	}
	return r
}

// numbered writes what stands for all numbers as -1: the library of v2 takes no rule without them.
func numbered(rules []specs.LinuxDeviceCgroup) []specs.LinuxDeviceCgroup {
	list, all := slices.Clone(rules), int64(-1)
	for i := range list {
		list[i].Major, list[i].Minor = cmp.Or(list[i].Major, &all), cmp.Or(list[i].Minor, &all)
	}
	return list
}

// squeeze makes a job on v2 fit into less memory, or refuses: the new limit itself would kill
// what does not fit.
func squeeze(dir string, limit int64) error {
	used := func() int64 {
		n, _ := strconv.ParseInt(strings.TrimSpace(read(filepath.Join(dir, "memory.current"))), 10, 64)
		return n
	}
	if used() <= limit {
		return nil
	}
	high := filepath.Join(dir, "memory.high")
	if err := os.WriteFile(high, []byte(strconv.FormatInt(limit, 10)), 0o644); err != nil { // reclaims
		return fmt.Errorf("limit cgroup %s: %w", dir, err)
	}
	var err error
	if n := used(); n > limit {
		err = fmt.Errorf("limit cgroup %s to %d bytes: the job uses %d: %w", dir, limit, n, unix.EBUSY)
	}
	return errors.Join(err, os.WriteFile(high, []byte("max"), 0o644))
}
