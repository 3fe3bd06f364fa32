package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

func TestChooseCPUs(t *testing.T) {
	h := Host{Nodes: []Node{{ID: 0, CPUs: []int{0, 1, 2, 3}}, {ID: 1, CPUs: []int{4, 5, 6, 7}}}}
	for _, c := range []struct {
		name           string
		parts          []Part
		taken, exclude []int
		perNode        bool
		want           string
		shared         bool
	}{
		{"the first that are free", []Part{part("h", 2, 0, 0)}, []int{0, 2}, nil, false, "1,3", false},
		{"a node that has room", []Part{part("h", 3, 0, 0)}, []int{0, 2}, nil, false, "4-6", false},
		{"over nodes when it must", []Part{part("h", 6, 0, 0)}, nil, nil, false, "0-5", false},
		{"not the excluded", []Part{part("h", 2, 0, 0)}, nil, []int{0, 1}, false, "2-3", false},
		{"of the vnode's node", []Part{part("h[1]", 2, 0, 0)}, nil, nil, true, "4-5", false},
		{"of each vnode's node", []Part{part("h[1]", 1, 0, 0), part("h[0]", 1, 0, 0)}, nil, nil, true, "0,4", false},
		{"two parts of one", []Part{part("h[1]", 1, 0, 0), part("h[1]", 2, 0, 0)}, nil, nil, true, "4-6", false},
		{"more than there are", []Part{part("h", 9, 0, 0)}, nil, []int{7}, false, "0-6", true},
		{"more than are free", []Part{part("h[0]", 2, 0, 0)}, []int{0, 1, 2}, nil, true, "0-3", true},
	} {
		got, shared := h.cpus(c.parts, c.taken, c.exclude, c.perNode)
		if formatList(got) != c.want || shared != c.shared {
			t.Errorf("%s: %s shared %v, want %s %v", c.name, formatList(got), shared, c.want, c.shared)
		}
	}
}

func TestGPUs(t *testing.T) {
	f := newFake(t, v1)
	if want := []GPU{{0, "GPU-0", 1}, {1, "GPU-1", 1}}; !slices.Equal(f.manager.host.GPUs, want) {
		t.Errorf("found %v", f.manager.host.GPUs)
	}
	// They are shared out whether there are cgroups or not.
	if r := f.prepare(Want{Job: "1.srv", Run: 1, Parts: []Part{part("hosta", 1, 0, 1)}}); !slices.Equal(r.GPUs, []string{"GPU-0"}) || len(r.Folders) > 0 {
		t.Errorf("%v", r)
	}
	f.open()
	if r := f.prepare(Want{Job: "2.srv", Run: 1, Parts: []Part{part("hosta", 1, 0, 1)}}); !slices.Equal(r.GPUs, []string{"GPU-1"}) {
		t.Errorf("after a restart of the mom: %v", r)
	}
	f.end("1.srv", 1)
	if r := f.prepare(Want{Job: "3.srv", Run: 1, Parts: []Part{part("hosta", 1, 0, 1)}}); !slices.Equal(r.GPUs, []string{"GPU-0"}) {
		t.Errorf("given back: %v", r)
	}
	if r := f.prepare(Want{Job: "4.srv", Run: 1, Parts: []Part{part("hosta", 1, 0, 0)}}); len(r.GPUs) > 0 {
		t.Errorf("none was asked for: %v", r)
	}
	h := Host{}
	if got := h.gpus([]Part{part("h", 1, 0, 2)}, []string{"1"}, false); !slices.Equal(got, []string{"0", "2"}) {
		t.Errorf("without a driver: %v", got)
	}
}

func TestLists(t *testing.T) {
	for text, want := range map[string]string{"0-3,8": "0-3,8", "": "", "3,1,2\n": "1-3", "x,2": "2", "5-3": "", "0": "0"} {
		if got := formatList(parseList(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestFindTree(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, "proc/self", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"memory", "cpu,cpuacct", "cpuacct"} {
		if err := os.MkdirAll(filepath.Join(root, "sys/fs/cgroup", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("mountinfo", `30 20 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro
31 30 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
33 30 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
`)
	write("cgroup", "4:memory:/x\n0::/system.slice/mom.service\n")
	got, err := FindTree(root, "p")
	want := Tree{
		Mounts:  map[string]string{"memory": "/sys/fs/cgroup/memory", "cpuacct": "/sys/fs/cgroup/cpuacct"},
		Unified: "/sys/fs/cgroup/unified", Own: "/system.slice/mom.service", Parent: "p",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("hybrid: %+v, %v", got, err)
	}
	if got.unified() || got.delegated() != "/sys/fs/cgroup/unified" {
		t.Errorf("hybrid: delegated %s", got.delegated())
	}
	write("mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
	write("cgroup", "0::/system.slice/mom.service/mom\n")
	got, err = FindTree(root, "")
	if err != nil || !got.unified() || got.delegated() != "/sys/fs/cgroup/system.slice/mom.service" {
		t.Errorf("v2: %+v, %v", got, err)
	}
}
