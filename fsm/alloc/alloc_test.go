package alloc

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// definitions are the built-in resources and the custom ones of the cases.
type definitions struct{}

func (definitions) Resource(name string) (resource.Def, bool) {
	switch name {
	case "model":
		return resource.Def{Name: name, Type: resource.String, Flags: resource.AtHost}, true
	case "bigmem":
		return resource.Def{Name: name, Type: resource.Boolean, Flags: resource.AtHost}, true
	case "longres":
		return resource.Def{Name: name, Type: resource.Long, Flags: resource.AtHost | resource.PerVnode}, true
	case "sizres":
		return resource.Def{Name: name, Type: resource.Size, Flags: resource.AtHost | resource.PerVnode}, true
	case "fltres":
		return resource.Def{Name: name, Type: resource.Float, Flags: resource.AtHost | resource.PerVnode}, true
	}
	return resource.Lookup(name)
}

var defs definitions

const (
	ev = "(hosta[0]:mem=1048576kb:ncpus=1+hosta[1]:mem=1048576kb:ncpus=1+hosta[2]:ncpus=1)+(hostb:mem=1048576kb:ncpus=1+hostb[0]:mem=1048576kb:ncpus=1+hostb[1]:ncpus=1)+(hostc:ncpus=2:mem=2097152kb)"
	eh = "hosta/0*0+hostb/0*0+hostc/0*2"
)

// read returns a grant that was written down, if its chunks match.
func read(execVnode, execHost, schedselect string, list resource.List) (Grant, error) {
	g := Grant{SchedSelect: schedselect, Resources: list}
	var err error
	if g.ExecVnode, err = spec.ParseExecVnode(execVnode); err != nil {
		return Grant{}, err
	}
	if g.ExecHost, err = spec.ParseExecHost(execHost); err != nil {
		return Grant{}, err
	}
	if _, err := g.open(); err != nil {
		return Grant{}, err
	}
	return g, nil
}

func job(t testing.TB, execVnode, execHost, sel string, more ...resource.Item) Grant {
	t.Helper()
	parsed, err := spec.ParseSelect(sel)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := spec.Sum(parsed, defs)
	if err != nil {
		t.Fatal(err)
	}
	list := resource.Sorted(append(slices.Clone(sums), append(more, resource.Item{Name: "place", Value: "scatter"}, resource.Item{Name: "select", Value: sel})...))
	a, err := read(execVnode, execHost, sel, list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func j1(t testing.TB) Grant {
	return job(t, ev, eh, "1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb", resource.Item{Name: "walltime", Value: "01:00:00"})
}

func j1x(t testing.TB) Grant {
	return job(t, ev, eh, "1:ncpus=3:mem=2gb:mpiprocs=3:ompthreads=2+1:ncpus=3:mem=2gb:mpiprocs=3:ompthreads=3+1:ncpus=2:mem=2gb:mpiprocs=2:ompthreads=2")
}

func names(list ...string) func(pbs.VnodeName) bool {
	return func(v pbs.VnodeName) bool { return slices.Contains(list, string(v)) }
}

func TestRelease(t *testing.T) {
	evA := ev[:strings.Index(ev, "+(hostb")]
	for _, c := range []struct {
		name      string
		job       func(testing.TB) Grant
		drop      []string
		vnode     string
		host      string
		sel       string
		resources string
	}{
		{
			"RD-16", j1,
			[]string{"hostb"},
			strings.Replace(ev, "hostb:mem=1048576kb:ncpus=1+", "", 1), eh,
			"1:mem=2097152kb:ncpus=3+1:mem=1048576kb:ncpus=2+1:ncpus=2:mem=2097152kb", "mem=5242880kb ncpus=7 nodect=3",
		},
		{
			"RD-19", j1x,
			[]string{"hostb[0]"},
			strings.Replace(ev, "hostb[0]:mem=1048576kb:ncpus=1+", "", 1), eh,
			"1:mem=2097152kb:ncpus=3:mpiprocs=3:ompthreads=2+1:mem=1048576kb:ncpus=2:mpiprocs=3:ompthreads=3+1:ncpus=2:mem=2097152kb:mpiprocs=2:ompthreads=2",
			"mem=5242880kb mpiprocs=8 ncpus=7 nodect=3",
		},
		{
			"RD-20", j1x,
			[]string{"hostb[1]"},
			strings.Replace(ev, "+hostb[1]:ncpus=1", "", 1), eh,
			"1:mem=2097152kb:ncpus=3:mpiprocs=3:ompthreads=2+1:mem=2097152kb:ncpus=2:mpiprocs=3:ompthreads=3+1:ncpus=2:mem=2097152kb:mpiprocs=2:ompthreads=2",
			"mem=6291456kb mpiprocs=8 ncpus=7 nodect=3",
		},
		{
			"RD-21", j1x,
			[]string{"hostb", "hostb[0]", "hostc"},
			evA + "+(hostb[1]:ncpus=1)", "hosta/0*0+hostb/0*0",
			"1:mem=2097152kb:ncpus=3:mpiprocs=3:ompthreads=2+1:ncpus=1:mpiprocs=3:ompthreads=3", "mem=2097152kb mpiprocs=6 ncpus=4 nodect=2",
		},
		{
			"RD-22", j1,
			[]string{"hostb[0]", "hostb[1]", "hostc"},
			evA + "+(hostb:mem=1048576kb:ncpus=1)", "hosta/0*0+hostb/0*0",
			"1:mem=2097152kb:ncpus=3+1:mem=1048576kb:ncpus=1", "mem=3145728kb ncpus=4 nodect=2",
		},
		{
			"RD-23", j1,
			[]string{"hostb", "hostb[0]", "hostb[1]", "hostc"},
			evA, "hosta/0*0",
			"1:mem=2097152kb:ncpus=3", "mem=2097152kb ncpus=3 nodect=1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := c.job(t)
			s, err := Release(a, names(c.drop...), defs)
			if err != nil {
				t.Fatal(err)
			}
			want(t, s, c.vnode, c.host, c.sel, c.resources)
			if w, _ := a.Resources.Get("walltime"); w != "" {
				if still, _ := s.Kept.Resources.Get("walltime"); still != w {
					t.Errorf("walltime = %q, want %q", still, w)
				}
			}
		})
	}
}

func want(t *testing.T, s Split, vnode, host, sel, resources string) {
	t.Helper()
	if got := s.Kept.ExecVnode.String(); got != vnode {
		t.Errorf("exec_vnode = %s\nwant %s", got, vnode)
	}
	if got := s.Kept.ExecHost.String(); got != host {
		t.Errorf("exec_host = %s, want %s", got, host)
	}
	if got := s.Kept.SchedSelect; got != sel {
		t.Errorf("schedselect = %s\nwant %s", got, sel)
	}
	if got, _ := s.Kept.Resources.Get("select"); got != sel {
		t.Errorf("select = %s\nwant %s", got, sel)
	}
	var sums []string
	for _, it := range s.Kept.Resources {
		if it.Name != "select" && it.Name != "place" && it.Name != "walltime" {
			sums = append(sums, it.Name+"="+it.Value)
		}
	}
	if got := strings.Join(sums, " "); got != resources {
		t.Errorf("Resource_List %s, want %s", got, resources)
	}
}

// k5 is a job on the five hosts of the cases of -k, with more behind each chunk.
func k5(t testing.TB, chunks ...string) Grant {
	var vnodes, hosts []string
	for i, c := range chunks {
		parsed, err := spec.ParseSelect("1:" + c)
		if err != nil {
			t.Fatal(err)
		}
		part := fmt.Sprintf("h%d", i+1)
		cpus := 0
		for _, it := range parsed.Chunks[0].Items {
			if def, _ := defs.Resource(it.Name); def.AtVnodes() {
				q, _ := def.Parse(it.Value)
				part += ":" + it.Name + "=" + q.InKB().String()
				if it.Name == "ncpus" {
					cpus = int(q.Int())
				}
			}
		}
		vnodes = append(vnodes, "("+part+")")
		hosts = append(hosts, spec.ExecHost{{Host: fmt.Sprintf("h%d", i+1), CPUs: cpus}}.String())
	}
	sel, err := spec.ParseSelect("1:" + strings.Join(chunks, "+1:"))
	if err != nil {
		t.Fatal(err)
	}
	full, err := spec.Complete(sel, nil, defs)
	if err != nil {
		t.Fatal(err)
	}
	return job(t, strings.Join(vnodes, "+"), strings.Join(hosts, "+"), full.String())
}

func BenchmarkRelease10000(b *testing.B) {
	var vnodes, hosts strings.Builder
	for i := range 10000 {
		if i > 0 {
			vnodes.WriteByte('+')
			hosts.WriteByte('+')
		}
		fmt.Fprintf(&vnodes, "(host%d:ncpus=2:mem=1048576kb)", i)
		fmt.Fprintf(&hosts, "host%d/0*2", i)
	}
	list := resource.List{{Name: "ncpus", Value: "20000"}, {Name: "place", Value: "scatter"}}
	for _, c := range []struct {
		name string
		do   func(a Grant) (Split, error)
	}{
		{"all", func(a Grant) (Split, error) { return ReleaseSisters(a, defs) }},
		{"half", func(a Grant) (Split, error) {
			return Release(a, func(v pbs.VnodeName) bool { return v > "host5" }, defs)
		}},
		{"keep", func(a Grant) (Split, error) {
			w, err := ParseWish("select=5000:ncpus=2", defs)
			if err != nil {
				return Split{}, err
			}
			return Keep(a, w, nil, defs)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				a, err := read(vnodes.String(), hosts.String(), "10000:ncpus=2:mem=1gb", list)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := c.do(a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
