package cgroup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/containerd/cgroups/v3/cgroup2"
	"golang.org/x/sys/unix"
)

// fake is a host whose files are in a folder of the test.
type fake struct {
	t       *testing.T
	root    string
	tree    Tree
	manager *Manager
	killed  [][]string
	left    int // processes that Kill is to find still
}

// newFake has two NUMA nodes of four cpus and 8 GB each, and two GPUs at the second.
func newFake(t *testing.T, tree func(root string) Tree) *fake {
	t.Helper()
	f := &fake{t: t, root: t.TempDir()}
	f.write("sys/devices/system/node/node0/cpulist", "0-3\n")
	f.write("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  8388608 kB\n")
	f.write("sys/devices/system/node/node1/cpulist", "4-7\n")
	f.write("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:  8388608 kB\n")
	for i, slot := range []string{"0000:17:00.0", "0000:65:00.0"} {
		digit := string(rune('0' + i))
		f.write("dev/nvidia"+digit, "")
		f.write("proc/driver/nvidia/gpus/"+slot+"/information", "Model: \t\t Toy\nGPU UUID: \t GPU-"+digit+"\nDevice Minor: \t "+digit+"\n")
		f.write("sys/bus/pci/devices/"+slot+"/numa_node", "1\n")
	}
	f.tree = tree(f.root)
	f.open()
	return f
}

func (f *fake) open() {
	f.t.Helper()
	var err error
	f.manager, err = Open(Options{
		Host: "hosta.example.org", Dir: filepath.Join(f.root, "jobs"), Root: f.root,
		Find: func() (Tree, error) { return f.tree, nil },
		Kill: func(folders []string) (int, error) {
			f.killed = append(f.killed, folders)
			return f.left, nil
		},
		Remove: func(folders []string) error {
			for _, dir := range folders {
				if err := os.RemoveAll(dir); err != nil { // a real one holds no files of ours
					return err
				}
			}
			return nil
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) write(path, text string) {
	f.t.Helper()
	full := filepath.Join(f.root, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) read(path string) string { return strings.TrimSpace(read(filepath.Join(f.root, path))) }

func (f *fake) want(path, text string) {
	f.t.Helper()
	if got := f.read(path); got != text {
		f.t.Errorf("%s is %q, want %q", path, got, text)
	}
}

var allEvents = []string{"execjob_begin", "execjob_resize", "execjob_end"}

func (f *fake) set(config string) {
	f.t.Helper()
	if err := f.manager.Set(Settings{Enabled: true, Events: allEvents, Config: []byte(config)}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) prepare(w Want) Room {
	f.t.Helper()
	r, err := f.manager.Prepare(context.Background(), w)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *fake) end(job string, run uint32) {
	f.t.Helper()
	if left, err := f.manager.End(context.Background(), job, run); left != 0 || err != nil {
		f.t.Fatalf("end of %s: %d left, %v", job, left, err)
	}
}

// v1 is a hybrid host.
func v1(root string) Tree {
	t := Tree{Mounts: map[string]string{}, Unified: filepath.Join(root, "cg", "unified"), Own: "/mom.service", Parent: "box"}
	_ = os.MkdirAll(t.Unified, 0o755)
	for _, c := range []string{"cpuset", "memory", "cpuacct", "devices", "freezer"} {
		t.Mounts[c] = filepath.Join(root, "cg", c)
		_ = os.MkdirAll(t.Mounts[c], 0o755)
	}
	_ = os.WriteFile(filepath.Join(t.Mounts["cpuset"], "cpuset.cpus"), []byte("0-7"), 0o644)
	_ = os.WriteFile(filepath.Join(t.Mounts["cpuset"], "cpuset.mems"), []byte("0-1"), 0o644)
	return t
}

// v2 is a host with one delegated subtree.
func v2(root string) Tree {
	t := Tree{Unified: filepath.Join(root, "cg"), Own: "/system.slice/mom.service"}
	dir := filepath.Join(root, "cg", t.Own)
	for _, d := range []string{dir, filepath.Join(dir, "pbs_jobs.service"), filepath.Join(dir, "pbs_jobs.service", "jobid")} {
		_ = os.MkdirAll(d, 0o755)
		_ = os.WriteFile(filepath.Join(d, "cgroup.controllers"), []byte("cpuset cpu memory pids\n"), 0o644)
		_ = os.WriteFile(filepath.Join(d, "cgroup.subtree_control"), nil, 0o644)
	}
	return t
}

func part(vnode string, cpus int, mb int64, gpus int) Part {
	return Part{Vnode: vnode, CPUs: cpus, MemoryKB: mb << 10, GPUs: gpus}
}

func TestLifeOnV1(t *testing.T) {
	f := newFake(t, v1)
	f.set("")
	r := f.prepare(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 2, 100, 1)}})
	const at = "/box/pbs_jobs.service/jobid/1.srv"
	var folders []string
	for _, c := range []string{"cpuset", "memory", "cpuacct", "devices", "freezer", "unified"} {
		folders = append(folders, filepath.Join(f.root, "cg", c, at))
	}
	if !slices.Equal(r.Folders, folders) || !slices.Equal(r.GPUs, []string{"GPU-0"}) {
		t.Errorf("room %v\nwant folders %v", r, folders)
	}
	for _, dir := range folders {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
	f.want("cg/cpuset"+at+"/cpuset.cpus", "0-1")
	f.want("cg/cpuset"+at+"/cpuset.mems", "0-1")
	f.want("cg/memory"+at+"/memory.limit_in_bytes", "104857600")
	f.want("cg/devices"+at+"/devices.deny", "c 195:1 rwm")
	if again := f.prepare(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 2, 100, 1)}}); !reflect.DeepEqual(again, r) {
		t.Errorf("a repeat gives %v", again)
	}
	if err := f.manager.Resize(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 1, 40, 1)}}); err != nil {
		t.Fatal(err)
	}
	f.want("cg/cpuset"+at+"/cpuset.cpus", "0")
	f.want("cg/memory"+at+"/memory.limit_in_bytes", "41943040")
	f.end("1.srv", 1)
	for _, dir := range folders {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(f.root, "jobs")); len(left) > 0 {
		t.Errorf("files left: %v", left)
	}
}

func TestLifeOnV2(t *testing.T) {
	f := newFake(t, v2)
	f.set("")
	f.manager.host.GPUs = nil // a device filter wants a kernel
	const own = "cg/system.slice/mom.service"
	const at = own + "/pbs_jobs.service/jobid/1.srv"
	r := f.prepare(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 2, 100, 0)}})
	if !slices.Equal(r.Folders, []string{filepath.Join(f.root, at)}) {
		t.Errorf("room %v", r)
	}
	for _, c := range []string{"+cpuset", "+cpu", "+memory"} {
		if got := f.read(own + "/cgroup.subtree_control"); !strings.Contains(got, c) {
			t.Errorf("%s is not handed on: %s", c, got)
		}
	}
	f.want(at+"/cpuset.cpus", "0-1")
	f.want(at+"/memory.max", "104857600")
	f.write(at+"/memory.current", "90000000\n")
	err := f.manager.Resize(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 1, 40, 0)}})
	if !errors.Is(err, unix.EBUSY) {
		t.Errorf("shrunk below what it uses: %v", err)
	}
	f.want(at+"/memory.max", "104857600")
	f.want(at+"/memory.high", "max")
	f.write(at+"/memory.current", "30000000\n")
	f.write(at+"/memory.peak", "95000000\n")
	f.write(at+"/cpu.stat", "usage_usec 1500000\nuser_usec 1\n")
	if err := f.manager.Resize(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 1, 40, 0)}}); err != nil {
		t.Error(err)
	}
	f.want(at+"/memory.max", "41943040")
	f.want(at+"/cpuset.cpus", "0")
	f.write(at+"/cgroup.procs", "7\n8\n9\n")
	f.write("proc/7/statm", "100 9 9 9 0 9 0\n")
	f.write("proc/9/statm", "20 9 9 9 0 9 0\n") // 8 is gone
	if u := f.manager.Usage("1.srv", 1); u.CPU.Milliseconds() != 1500 || u.Memory != 95000000 || u.Virtual != 120*int64(os.Getpagesize()) {
		t.Errorf("usage %+v", u)
	}
	f.write(at+"/memory.events", "max 3\noom 1\noom_kill 0\n")
	if f.manager.Exhausted("1.srv", 1) {
		t.Error("exhausted before a process was killed")
	}
	f.write(at+"/memory.events", "max 3\noom 1\noom_kill 1\n")
	if !f.manager.Exhausted("1.srv", 1) {
		t.Error("not exhausted when a process was killed")
	}
	f.end("1.srv", 1)
	if _, err := os.Stat(filepath.Join(f.root, at)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
}

// A host of v2 with GPUs, or a site's list of devices, makes a program for the kernel: a rule for all numbers is one, too.
func TestDevices_OnV2(t *testing.T) {
	f := newFake(t, v2)
	for _, config := range []string{"", `{"cgroup": {"devices": {"enabled": true, "allow": ["b *:* r", "c 5:* rwm", ["nvidiactl", "rwm", "*"]]}}}`} {
		f.set(config)
		p := f.manager.plan(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 1, 100, 1)}}, &assignment{GPUs: []string{"GPU-0"}})
		rules := p.limits.v2(nil).Devices
		if len(rules) < 2 {
			t.Errorf("%q: rules %+v", config, rules)
		}
		if _, _, err := cgroup2.DeviceFilter(rules); err != nil {
			t.Errorf("%q: %v", config, err)
		}
	}
}

// What a cgroup does not limit is left to the mom: memory without its controller, and the address space unless
// memory and swap are limited together, which is another measure of the same.
func TestRoom_TellsWhichLimitsItSeesTo(t *testing.T) {
	for _, c := range []struct {
		name, config string
		tree         func(root string) Tree
		mem, vmem    bool
	}{
		{"by default", "", v1, true, false},
		{"memory, v2", `{"cgroup": {"memory": {"enabled": true}}}`, v2, true, false},
		{"with memsw", `{"cgroup": {"memory": {"enabled": true}, "memsw": {"enabled": true}}}`, v1, true, true},
		{"with memsw, v2", `{"cgroup": {"memory": {"enabled": true}, "memsw": {"enabled": true}}}`, v2, true, true},
		{"without memory", `{"cgroup": {"cpuset": {"enabled": true}}}`, v1, false, false},
		{"without memory, v2", `{"cgroup": {"cpuset": {"enabled": true}}}`, v2, false, false},
		{"not mounted", "", func(root string) Tree {
			tree := v1(root)
			delete(tree.Mounts, "memory")
			return tree
		}, false, false},
	} {
		f := newFake(t, c.tree)
		f.set(c.config)
		parts := []Part{part("hosta", 1, 100, 0)}
		f.prepare(Want{Job: "1.srv", Run: 1, Parts: parts})
		f.open() // the next mom knows it
		if r := f.manager.Room("1.srv", 1); len(r.Folders) == 0 || r.Mem != c.mem || r.Vmem != c.vmem {
			t.Errorf("%s: %+v", c.name, r)
		}
		f.set(`{"cgroup": {"memory": {"enabled": true}}}`)
		if err := f.manager.Resize(Want{Job: "1.srv", Run: 1, Parts: parts}); err != nil {
			t.Error(err)
		}
		if r := f.manager.Room("1.srv", 1); r.Mem == strings.HasPrefix(c.name, "not") {
			t.Errorf("%s, resized: %+v", c.name, r)
		}
	}
}

func TestRunsApart(t *testing.T) {
	f := newFake(t, v1)
	f.set("")
	f.prepare(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 1, 0, 0)}})
	f.end("1.srv", 2) // of another run: nothing of this one
	if r := f.manager.Room("1.srv", 1); len(r.Folders) == 0 {
		t.Fatal("the end of another run has ended it")
	}
	if r := f.manager.Room("1.srv", 2); len(r.Folders) != 0 {
		t.Error("another run has its room")
	}
	n := len(f.killed)
	f.prepare(Want{Job: "1.srv", Run: 2, Parts: []Part{part("hosta", 1, 0, 0)}})
	if len(f.killed) == n {
		t.Error("what the earlier run has left was not killed")
	}
}

func TestSurvivors(t *testing.T) {
	f := newFake(t, v1)
	f.set("")
	f.prepare(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 1, 0, 0)}})
	f.left = 3
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if left, err := f.manager.End(ctx, "1.srv", 1); left != 3 || err != nil {
		t.Errorf("%d left, %v", left, err)
	}
	f.left = 0
	f.open() // the next mom knows it still
	f.set("")
	live := func(job string, run uint32) bool { return job == "2.srv" }
	f.prepare(Want{Job: "2.srv", Run: 1, Parts: []Part{part("hosta", 1, 0, 0)}})
	ended, err := f.manager.Sweep(context.Background(), live)
	if err != nil || !slices.Equal(ended, []string{"1.srv"}) {
		t.Errorf("swept %v, %v", ended, err)
	}
	if r := f.manager.Room("2.srv", 1); len(r.Folders) == 0 {
		t.Error("the live one was swept")
	}
}

// A host that lets the mom make no cgroups runs jobs without, and says so once.
func TestWithout(t *testing.T) {
	for name, tree := range map[string]Tree{
		"nothing mounted":    {},
		"not to be written":  {Mounts: map[string]string{"memory": "/nowhere/memory"}},
		"nothing delegated":  {Unified: "/nowhere"},
		"no controllers":     v2(t.TempDir()),
		"no controller file": {Unified: t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, v1)
			f.tree = tree
			if name == "no controllers" {
				if err := os.WriteFile(filepath.Join(tree.delegated(), "cgroup.controllers"), []byte("pids\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var told []string
			f.manager.options.Warn = func(text string) { told = append(told, text) }
			f.set("")
			for i := range uint32(3) {
				if r := f.prepare(Want{Job: "1.srv", Run: i, Parts: []Part{part("hosta", 1, 1, 1)}}); len(r.Folders) > 0 || len(r.GPUs) != 1 {
					t.Errorf("room %v", r)
				}
			}
			if len(told) != 1 {
				t.Errorf("told %q", told)
			}
		})
	}
}

func TestConfigSteers(t *testing.T) {
	for _, c := range []struct {
		name, config string
		enabled      bool
		events       []string
		folders      int
	}{
		{"disabled", "", false, allEvents, 0},
		{"without execjob_begin", "", true, []string{"execjob_end"}, 0},
		{"excluded by its short name", `{"exclude_hosts": ["hosta"]}`, true, allEvents, 0},
		{"excluded in other letters, with more of its domain", `{"exclude_hosts": ["HostA.example.org.lan"]}`, true, allEvents, 0},
		{"not among those named", `{"run_only_on_hosts": ["hostb"]}`, true, allEvents, 0},
		{"named", `{"run_only_on_hosts": ["hosta.example.org"]}`, true, allEvents, 6},
		{"memory only", `{"cgroup": {"memory": {"enabled": true}}}`, true, allEvents, 3},
		{"memory not here", `{"cgroup": {"memory": {"enabled": true, "exclude_hosts": ["hosta"]}}}`, true, allEvents, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, v1)
			if err := f.manager.Set(Settings{Enabled: c.enabled, Events: c.events, Config: []byte(c.config)}); err != nil {
				t.Fatal(err)
			}
			if r := f.prepare(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 1, 1, 0)}}); len(r.Folders) != c.folders {
				t.Errorf("folders %v, want %d", r.Folders, c.folders)
			}
		})
	}
}

func TestMemoryConfig(t *testing.T) {
	f := newFake(t, v1)
	f.set(`{"cgroup_prefix": "work", "cgroup": {"memory": {"enabled": true, "default": "64MB", "reserve_amount": "1gb", "reserve_percent": 10}, "memsw": {"enabled": true, "default": "16mb"}}}`)
	f.write("cg/memory/box/work.service/jobid/.keep", "")
	f.prepare(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 1, 0, 0)}})
	f.want("cg/memory/box/work.service/jobid/1.srv/memory.limit_in_bytes", "67108864")
	f.want("cg/memory/box/work.service/jobid/1.srv/memory.memsw.limit_in_bytes", "83886080")
	if got, want := f.manager.Reserved(10<<20), int64(2<<20); got < want-100 || got > want {
		t.Errorf("reserved %d kB of 10 GB, want %d", got, want)
	}
}

func TestBadConfig(t *testing.T) {
	for _, text := range []string{
		`{`, `[]`, `{"cgroup_prefix": "../x"}`, `{"cgroup_prefix": ""}`, `{"cgroup": {"memory": {"default": "much"}}}`,
		`{"cgroup": {"devices": {"allow": ["x 1:2 rwm"]}}}`, `{"cgroup": {"devices": {"allow": [["null", "q"]]}}}`,
	} {
		if _, err := parse([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	if _, err := parse([]byte(`{"some": "thing", "cgroup": {"devices": {"enabled": true, "allow": ["b *:* r", ["nvidiactl", "rwm", "*"]]}}}`)); err != nil {
		t.Error(err)
	}
	f := newFake(t, v1)
	f.set(`{"cgroup_prefix": "good"}`)
	if err := f.manager.Set(Settings{Enabled: true, Events: allEvents, Config: []byte("{")}); err == nil {
		t.Error("a broken configuration is taken")
	}
	if r := f.prepare(Want{Job: "1.srv", Run: 1}); len(r.Folders) == 0 || !strings.Contains(r.Folders[0], "good.service") {
		t.Errorf("the one before is not in force: %v", r)
	}
	for _, job := range []string{"", "..", "../x", "a/b", ".hidden"} {
		if _, err := f.manager.Prepare(context.Background(), Want{Job: job, Run: 1}); err == nil {
			t.Errorf("job %q is taken", job)
		}
	}
}
