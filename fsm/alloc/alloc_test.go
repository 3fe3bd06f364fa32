package alloc

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

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

func job(t testing.TB, execVnode, execHost, sel string, more ...resource.Item) Assignment {
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
	a, err := Parse(execVnode, execHost, sel, list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func j1(t testing.TB) Assignment {
	return job(t, ev, eh, "1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb", resource.Item{Name: "walltime", Value: "01:00:00"})
}

func j1x(t testing.TB) Assignment {
	return job(t, ev, eh, "1:ncpus=3:mem=2gb:mpiprocs=3:ompthreads=2+1:ncpus=3:mem=2gb:mpiprocs=3:ompthreads=3+1:ncpus=2:mem=2gb:mpiprocs=2:ompthreads=2")
}

func names(list ...string) func(pbs.VnodeName) bool {
	return func(v pbs.VnodeName) bool { return slices.Contains(list, string(v)) }
}

func TestRelease(t *testing.T) {
	evA := ev[:strings.Index(ev, "+(hostb")]
	for _, c := range []struct {
		name      string
		job       func(testing.TB) Assignment
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
	if got := s.Kept.Select.String(); got != sel {
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
func k5(t testing.TB, chunks ...string) Assignment {
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

func TestKeep(t *testing.T) {
	jk := []string{"ncpus=1", "ncpus=2", "ncpus=2", "ncpus=3:mpiprocs=2", "ncpus=3:mpiprocs=2"}
	all := []string{
		"ncpus=1", "ncpus=2:model=abc:longres=7:sizres=7k:fltres=7.1", "ncpus=2:model=def:bigmem=true:longres=9:sizres=9k:fltres=9.1",
		"ncpus=3:model=def:bigmem=true:longres=9:sizres=9k:fltres=9.1", "ncpus=3:model=xyz:longres=10:sizres=10k:fltres=10.1",
	}
	for _, c := range []struct {
		name, wish string
		chunks     []string
		hosts, sel string
		sums       map[string]string
	}{
		{"RK-1", "select=ncpus=2+ncpus=3:mpiprocs=2", jk, "", "1:ncpus=1+1:ncpus=2+1:ncpus=3:mpiprocs=2", map[string]string{"mpiprocs": "2", "ncpus": "6", "nodect": "3"}},
		{"RK-3", "select=ncpus=2:model=def+ncpus=3:model=def", []string{"ncpus=1", "ncpus=2:model=abc", "ncpus=2:model=def", "ncpus=3:model=def", "ncpus=3:model=xyz"}, "h1 h3 h4", "1:ncpus=1+1:ncpus=2:model=def+1:ncpus=3:model=def", map[string]string{"ncpus": "6", "nodect": "3"}},
		{"RK-4", "select=2:bigmem=true", []string{"ncpus=1", "ncpus=2:bigmem=true", "ncpus=2", "ncpus=3:bigmem=true", "ncpus=3"}, "h1 h2 h4", "1:ncpus=1+1:ncpus=2:bigmem=True+1:ncpus=3:bigmem=True", nil},
		{"RK-5", "select=ncpus=2:longres=9+ncpus=3:longres=9", []string{"ncpus=1", "ncpus=2:longres=7", "ncpus=2:longres=9", "ncpus=3:longres=9", "ncpus=3:longres=10"}, "h1 h3 h4", "1:ncpus=1+1:ncpus=2:longres=9+1:ncpus=3:longres=9", map[string]string{"longres": "18", "ncpus": "6"}},
		{"RK-6", "select=2:longres=9", []string{"ncpus=1", "ncpus=2:longres=7", "ncpus=2:longres=9", "ncpus=3:longres=9", "ncpus=3:longres=10"}, "h1 h3 h4", "1:ncpus=1+1:ncpus=2:longres=9+1:ncpus=3:longres=9", map[string]string{"longres": "18", "ncpus": "6"}},
		{"RK-7", "select=2:sizres=9k", []string{"ncpus=1", "ncpus=2:sizres=7k", "ncpus=2:sizres=9k", "ncpus=3:sizres=9k", "ncpus=3:sizres=10k"}, "h1 h3 h4", "1:ncpus=1+1:ncpus=2:sizres=9kb+1:ncpus=3:sizres=9kb", map[string]string{"sizres": "18kb"}},
		{"RK-8", "select=ncpus=2:fltres=9.1+ncpus=3:fltres=9.1", []string{"ncpus=1", "ncpus=2:fltres=7.1", "ncpus=2:fltres=9.1", "ncpus=3:fltres=9.1", "ncpus=3:fltres=10.1"}, "h1 h3 h4", "1:ncpus=1+1:ncpus=2:fltres=9.1+1:ncpus=3:fltres=9.1", map[string]string{"fltres": "18.2"}},
		{
			"RK-9", "select=" + all[2] + "+" + all[3], all, "h1 h3 h4",
			"1:ncpus=1+1:ncpus=2:model=def:bigmem=True:longres=9:sizres=9kb:fltres=9.1+1:ncpus=3:model=def:bigmem=True:longres=9:sizres=9kb:fltres=9.1",
			map[string]string{"longres": "18", "sizres": "18kb", "fltres": "18.2", "ncpus": "6", "nodect": "3"},
		},
		{"RK-12", "2", jk, "h1 h3 h2", "1:ncpus=1+2:ncpus=2", map[string]string{"ncpus": "5", "nodect": "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := k5(t, c.chunks...)
			w, err := ParseWish(c.wish, defs)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Keep(a, w, nil, defs)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.Kept.Hosts(), " "); c.hosts != "" && got != c.hosts {
				t.Errorf("kept %s, want %s", got, c.hosts)
			}
			if got := s.Kept.Select.String(); got != c.sel {
				t.Errorf("select %s, want %s", got, c.sel)
			}
			for name, value := range c.sums {
				if got, _ := s.Kept.Resources.Get(name); got != value {
					t.Errorf("Resource_List.%s = %s, want %s", name, got, value)
				}
			}
		})
	}
}

// RK-10, RK-15: chunks over several vnodes stay whole when all of them is wanted.
func TestKeep_SuperChunks(t *testing.T) {
	six := func(h string) string { return fmt.Sprintf("(%s[0]:ncpus=2+%s[1]:ncpus=2+%s[2]:ncpus=2)", h, h, h) }
	nine := func(h string) string { return fmt.Sprintf("(%s[0]:ncpus=3+%s[1]:ncpus=3+%s[2]:ncpus=3)", h, h, h) }
	a := job(t, "(h1:ncpus=1)+"+six("h2")+"+"+six("h3")+"+"+nine("h4")+"+"+nine("h5"), "h1/0+h2/0*0+h3/0*0+h4/0*0+h5/0*0",
		"1:ncpus=1+2:ncpus=6+2:ncpus=9:mpiprocs=2")
	for wish, sel := range map[string]string{
		"select=ncpus=6+ncpus=9:mpiprocs=2": "1:ncpus=1+1:ncpus=6+1:ncpus=9:mpiprocs=2",
		"2":                                 "1:ncpus=1+2:ncpus=6",
		"select=ncpus=5":                    "1:ncpus=1+1:ncpus=6",
	} {
		w, err := ParseWish(wish, defs)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Keep(a, w, nil, defs)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Kept.Select.String(); got != sel {
			t.Errorf("-k %s: select %s, want %s", wish, got, sel)
		}
		if wish == "select=ncpus=5" {
			if got := s.Kept.ExecVnode.String(); got != "(h1:ncpus=1)+(h3[0]:ncpus=2+h3[1]:ncpus=2+h3[2]:ncpus=1)" {
				t.Errorf("-k %s: kept %s", wish, got)
			}
			if got := s.ReleasedVnodes().String(); !strings.Contains(got, "(h3[2]:ncpus=1)") {
				t.Errorf("-k %s: released %s, want the rest of the cut vnode there", wish, got)
			}
		}
	}
}

func TestKeep_Refusals(t *testing.T) {
	a := k5(t, "ncpus=1", "ncpus=2", "ncpus=2", "ncpus=3", "ncpus=3")
	for wish, refusal := range map[string]struct {
		code pbs.Code
		text string
	}{
		"0":                           {pbs.InvalidRequest, `only a "select=" string is valid in -k option`},
		"place=scatter":               {pbs.InvalidRequest, `only a "select=" string is valid in -k option`},
		"select=":                     {pbs.BadSelect, "illegal -k value"},
		"select=ncpus=x":              {pbs.BadSelect, "illegal -k value: illegal value for ncpus"},
		"select=ncpus=2:unkownres=3":  {pbs.UnknownResource, "Unknown resource: unkownres"},
		"select=ncpus=4":              {pbs.SystemError, "Server returned error 15010 for job"},
		"5":                           {pbs.SystemError, "Server returned error 15010 for job"},
		"select=ncpus=3+2:ncpus=3":    {pbs.SystemError, "Server returned error 15010 for job"},
		"select=ncpus=1:model=absent": {pbs.SystemError, "Server returned error 15010 for job"},
	} {
		w, err := ParseWish(wish, defs)
		if err == nil {
			_, err = Keep(a, w, nil, defs)
		}
		if pbs.CodeOf(err) != refusal.code || err == nil || err.Error() != refusal.text {
			t.Errorf("-k %s: %d %v, want %d %s", wish, pbs.CodeOf(err), err, refusal.code, refusal.text)
		}
	}
	_, err := Keep(a, Wish{Chunks: []spec.Chunk{{Count: 1, Items: resource.List{{Name: "ncpus", Value: "9"}, {Name: "model", Value: "q"}}}}, Text: "ncpus=9:model=q"}, nil, defs)
	u, ok := errors.AsType[*Unsatisfied](err)
	if !ok {
		t.Fatal(err)
	}
	if got := strings.Join(u.Lines(defs), "\n"); got != "could not satisfy select chunk (ncpus=9 ssi=0 mem=0 vmem=0 naccels=0 accel_mem=0)\n"+
		"(model=q)\nNEED chunks for keep_select (ncpus=9:model=q)\nHAVE chunks from job's exec_vnode: "+a.ExecVnode.String() {
		t.Error(got)
	}
}

func TestKeep_AllChangesNothing(t *testing.T) {
	a := k5(t, "ncpus=1", "ncpus=2", "ncpus=2")
	w, err := ParseWish("2", defs)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Keep(a, w, nil, defs); err != nil || !s.Whole() {
		t.Errorf("released %v, %v", s.Released, err)
	}
}

func TestKeep_FailedVnodesSatisfyNothing(t *testing.T) {
	a := k5(t, "ncpus=1", "ncpus=2", "ncpus=2")
	w, _ := ParseWish("1", defs)
	s, err := Keep(a, w, names("h3"), defs)
	if err != nil || s.Kept.ExecVnode.String() != "(h1:ncpus=1)+(h2:ncpus=2)" {
		t.Errorf("kept %s, %v", s.Kept.ExecVnode, err)
	}
}

// draw makes an assignment over some hosts of several vnodes each.
func draw(t *rapid.T) Assignment {
	var vnodes spec.ExecVnode
	var hosts spec.ExecHost
	var sel spec.Select
	n := rapid.IntRange(1, 6).Draw(t, "chunks")
	for i := range n {
		host := fmt.Sprintf("h%d", rapid.IntRange(0, 3).Draw(t, "host"))
		var c spec.ExecChunk
		for v := range rapid.IntRange(1, 3).Draw(t, "parts") {
			c.Parts = append(c.Parts, spec.ExecPart{Vnode: pbs.VnodeName(fmt.Sprintf("%s[%d]", host, v)), Items: resource.List{
				{Name: "mem", Value: fmt.Sprintf("%dkb", rapid.IntRange(0, 4).Draw(t, "mem"))},
				{Name: "ncpus", Value: fmt.Sprint(rapid.IntRange(0, 4).Draw(t, "ncpus"))},
			}})
		}
		items, _ := summed(c, defs)
		vnodes, hosts = append(vnodes, c), append(hosts, spec.HostSlot{Host: host, Slot: i})
		sel.Chunks = append(sel.Chunks, spec.Chunk{Count: 1, Items: append(items, resource.Item{Name: "mpiprocs", Value: "2"})})
	}
	list, err := spec.Sum(sel, defs)
	if err != nil {
		t.Fatal(err)
	}
	return Assignment{vnodes, hosts, sel, list.Set("place", "pack")}
}

// tally is what each vnode gives, however it is spread over chunks.
func tally(all ...spec.ExecVnode) map[string]int64 {
	sums := map[string]int64{}
	for _, e := range all {
		for _, c := range e {
			for _, p := range c.Parts {
				for _, it := range p.Items {
					def, _ := defs.Resource(it.Name)
					if n := def.Measure(it.Value); n != 0 {
						sums[string(p.Vnode)+"/"+it.Name] += n
					}
				}
			}
		}
	}
	return sums
}

func drawWish(t *rapid.T, a Assignment) (Split, error) {
	switch rapid.IntRange(0, 3).Draw(t, "wish") {
	case 0:
		return ReleaseSisters(a, defs)
	case 1, 2:
		drop := map[pbs.VnodeName]bool{}
		for name, host := range a.Vnodes {
			drop[name] = host != a.ExecHost[0].Host && rapid.Bool().Draw(t, "drop")
		}
		return Release(a, func(v pbs.VnodeName) bool { return drop[v] }, defs)
	}
	w, err := ParseWish(fmt.Sprintf("select=%d:ncpus=%d", rapid.IntRange(1, 3).Draw(t, "count"), rapid.IntRange(0, 6).Draw(t, "cpus")), defs)
	if err != nil {
		t.Fatal(err)
	}
	return Keep(a, w, nil, defs)
}

// What stays and what is given back is what was; the first chunk stays; the result can be
// read again; the sums are those of the chunks.
func TestSplit_Properties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := draw(t)
		for range rapid.IntRange(1, 3).Draw(t, "steps") {
			s, err := drawWish(t, a)
			if pbs.CodeOf(err) == pbs.SystemError {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, was := tally(s.Kept.ExecVnode, s.ReleasedVnodes()), tally(a.ExecVnode); !maps.Equal(got, was) {
				t.Fatalf("kept and released come to %v, it was %v", got, was)
			}
			if got, was := (spec.ExecVnode{s.Kept.ExecVnode[0]}).String(), (spec.ExecVnode{a.ExecVnode[0]}).String(); got != was || s.Kept.ExecHost[0] != a.ExecHost[0] {
				t.Fatalf("the first chunk was %s, and is %s", was, got)
			}
			sums, err := spec.Sum(s.Kept.Select, defs)
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range sums {
				if got, _ := s.Kept.Resources.Get(it.Name); got != it.Value && !s.Whole() {
					t.Fatalf("Resource_List.%s = %s, the chunks sum to %s", it.Name, got, it.Value)
				}
			}
			again, err := Parse(s.Kept.ExecVnode.String(), s.Kept.ExecHost.String(), s.Kept.Select.String(), s.Kept.Resources)
			if err != nil {
				t.Fatalf("what is printed cannot be read: %v", err)
			}
			if len(s.Released) > 0 {
				if _, err := spec.ParseExecVnode(s.ReleasedVnodes().String()); err != nil {
					t.Fatal(err)
				}
			}
			a = again
		}
	})
}

// However vnodes are released, at once or one after the other, in any order: the end is the
// same.
func TestRelease_AnyOrderEndsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := draw(t)
		var sisters []pbs.VnodeName
		for name, host := range a.Vnodes {
			if host != a.ExecHost[0].Host {
				sisters = append(sisters, name)
			}
		}
		if len(sisters) == 0 {
			return
		}
		gone := rapid.Permutation(sisters).Draw(t, "order")[:rapid.IntRange(1, len(sisters)).Draw(t, "count")]
		at := func(v pbs.VnodeName) bool { return slices.Contains(gone, v) }
		once, err := Release(a, at, defs)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range gone {
			s, err := Release(a, func(n pbs.VnodeName) bool { return n == v }, defs)
			if err != nil {
				t.Fatal(err)
			}
			a = s.Kept
		}
		if got, want := fmt.Sprint(a), fmt.Sprint(once.Kept); got != want {
			t.Fatalf("one after the other: %s\nat once: %s", got, want)
		}
	})
}

func FuzzWish(f *testing.F) {
	for _, s := range []string{"select=2:ncpus=1", "3", "select=ncpus=1:mem=1gb+2:bigmem=t", "select=", "place=pack", "-1", "select=1:model='a b'"} {
		f.Add(s)
	}
	a := k5(f, "ncpus=1:mem=1gb", "ncpus=2:mem=1mb", "ncpus=2:bigmem=true", "ncpus=3:mpiprocs=2", "ncpus=3:fltres=1.5")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := ParseWish(text, defs)
		if err != nil {
			return
		}
		s, err := Keep(a, w, nil, defs)
		if err != nil {
			return
		}
		if got, was := tally(s.Kept.ExecVnode, s.ReleasedVnodes()), tally(a.ExecVnode); !maps.Equal(got, was) {
			t.Fatalf("kept and released come to %v, it was %v", got, was)
		}
	})
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
		do   func(a Assignment) (Split, error)
	}{
		{"all", func(a Assignment) (Split, error) { return ReleaseSisters(a, defs) }},
		{"half", func(a Assignment) (Split, error) {
			return Release(a, func(v pbs.VnodeName) bool { return v > "host5" }, defs)
		}},
		{"keep", func(a Assignment) (Split, error) {
			w, err := ParseWish("select=5000:ncpus=2", defs)
			if err != nil {
				return Split{}, err
			}
			return Keep(a, w, nil, defs)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				a, err := Parse(vnodes.String(), hosts.String(), "10000:ncpus=2:mem=1gb", list)
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
