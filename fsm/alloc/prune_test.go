package alloc

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/quick"

	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// The chunks of the specification's complex P5 (reliable-startup section 15).
const (
	chunkA = "(hosta[0]:mem=1048576kb:ncpus=1+hosta[1]:mem=1048576kb:ncpus=1+hosta[2]:ncpus=1)"
	chunkB = "(hostb:mem=1048576kb:ncpus=1+hostb[0]:mem=1048576kb:ncpus=1+hostb[1]:ncpus=1)"
	chunkC = "(hostc:ncpus=2:mem=2097152kb)"
	chunkD = "(hostd:ncpus=3:mem=2097152kb)"
	chunkE = "(hoste:mem=1048576kb:ncpus=1+hoste[0]:mem=1048576kb:ncpus=1)"
	so     = "ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb"
	sn     = "1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb"
)

func padded(t *testing.T) Grant {
	t.Helper()
	a, err := read(chunkA+"+"+chunkB+"+"+chunkD+"+"+chunkC+"+"+chunkE, "hosta/0*0+hostb/0*0+hostd/0*3+hostc/0*2+hoste/0*0",
		"1:ncpus=3:mem=2gb+2:ncpus=3:mem=2gb+2:ncpus=2:mem=2gb", resource.List{}.Set("mem", "10gb").Set("ncpus", "13").Set("nodect", "5").
			Set("place", "scatter").Set("walltime", "60").Set("select_requested", "x"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func except(bad ...string) func(string) bool {
	return func(h string) bool {
		for _, b := range bad {
			if b == h {
				return false
			}
		}
		return true
	}
}

func mustSelect(t testing.TB, text string) spec.Select {
	t.Helper()
	sel, err := spec.ParseSelect(text)
	if err != nil {
		t.Fatal(err)
	}
	return sel
}

func TestPrune_Cases(t *testing.T) {
	for _, c := range []struct {
		id, keep  string
		bad       []string
		want, sel string
		mem, cpus string
	}{
		{"RS-1", so, []string{"hostb", "hostc"}, chunkA + "+" + chunkD + "+" + chunkE, sn, "6gb", "8"},
		{"RS-3", so, []string{"hostb"}, chunkA + "+" + chunkD + "+" + chunkC, sn, "6gb", "8"},
		{"RS-4", so, []string{"hostc"}, chunkA + "+" + chunkB + "+" + chunkE, sn, "6gb", "8"},
		{"RS-6", so, nil, chunkA + "+" + chunkB + "+" + chunkC, sn, "6gb", "8"},
		{
			"RS-8", "ncpus=3:mem=2gb:mpiprocs=3+ncpus=3:mem=2gb+ncpus=2:mem=2gb:ompthreads=2",
			[]string{"hostb", "hostc"},
			chunkA + "+" + chunkD + "+" + chunkE, "1:ncpus=3:mem=2gb:mpiprocs=3+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb:ompthreads=2", "6gb", "8",
		},
		{"RS-10", so + "+ncpus=1:mem=1gb", nil, chunkA + "+" + chunkB + "+" + chunkC + "+(hoste:mem=1048576kb:ncpus=1)", sn + "+1:ncpus=1:mem=1gb", "7gb", "9"},
		{"RS-14", so, []string{"hostc", "hoste"}, chunkA + "+" + chunkB + "+(hostd:ncpus=2:mem=2097152kb)", sn, "6gb", "8"},
		{
			"section 8 rule 4", "ncpus=3+ncpus=1:mem=1gb",
			[]string{"hostc", "hostd", "hoste"},
			"(hosta[0]:ncpus=1+hosta[1]:ncpus=1+hosta[2]:ncpus=1)+(hostb:mem=1048576kb:ncpus=1)", "1:ncpus=3+1:ncpus=1:mem=1gb", "1gb", "4",
		},
		{"the first chunk is bad", "ncpus=1", []string{"hosta"}, "(hosta[0]:ncpus=1)", "1:ncpus=1", "", "1"},
		{"nothing is wanted of a chunk", "ncpus=1+2:ncpus=0", nil, "(hosta[0]:ncpus=1)+(hostc)+(hoste)", "1:ncpus=1+2:ncpus=0", "", "1"},
	} {
		s, err := Prune(padded(t), mustSelect(t, c.keep), except(c.bad...), resource.Builtins{})
		if err != nil {
			t.Errorf("%s: %v", c.id, err)
			continue
		}
		if got := s.Kept.ExecVnode.String(); got != c.want {
			t.Errorf("%s: exec_vnode\n%s, want\n%s", c.id, got, c.want)
		}
		if got := s.Kept.SchedSelect; got != c.sel {
			t.Errorf("%s: schedselect %s, want %s", c.id, got, c.sel)
		}
		for name, want := range map[string]string{
			"select": c.sel, "mem": c.mem, "ncpus": c.cpus, "place": "scatter", "walltime": "60", "select_requested": "x",
			"nodect": fmt.Sprint(len(s.Kept.ExecVnode)),
		} {
			if got, _ := s.Kept.Resources.Get(name); got != want {
				t.Errorf("%s: Resource_List.%s is %q, want %q", c.id, name, got, want)
			}
		}
	}
}

// The middle vnodes of a chunk are cut as the specification's example says.
func TestPrune_CutsVnodes(t *testing.T) {
	a, err := read("(a:ncpus=1)+(b1:mem=1048576kb+b2:mem=1048576kb:ncpus=1+b3:ncpus=1)", "a/0+b/0*0", "1:ncpus=1+1:ncpus=2:mem=2gb", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Prune(a, mustSelect(t, "ncpus=1+ncpus=1:mem=1gb"), except(), resource.Builtins{})
	if err != nil || s.Kept.ExecVnode.String() != "(a:ncpus=1)+(b1:mem=1048576kb+b2:ncpus=1)" {
		t.Errorf("%v, %v", s.Kept.ExecVnode, err)
	}
	if got := s.ReleasedVnodes().String(); got != "(b2:mem=1048576kb+b3:ncpus=1)" {
		t.Errorf("released %s", got)
	}
}

// RS-5, RS-11: what is said when hosts are lacking.
func TestPrune_Unsatisfied(t *testing.T) {
	for _, c := range []struct {
		keep   string
		bad    []string
		lines  []string
		detail string
	}{
		{so, []string{"hostb", "hostd"}, []string{
			"could not satisfy select chunk (ncpus=3 ssi=0 mem=2097152 vmem=0 naccels=0 accel_mem=0)",
			"NEED chunks for keep_select (" + sn + ")",
			"HAVE chunks from job's exec_vnode: " + chunkA + "+" + chunkC + "+" + chunkE,
		}, "could not satisfy the original select chunk (ncpus=3 mem=2gb) with first available chunk (ncpus=2 mem=2097152kb)"},
		{"ncpus=4", nil, []string{
			"could not satisfy select chunk (ncpus=4 ssi=0 mem=0 vmem=0 naccels=0 accel_mem=0)",
			"NEED chunks for keep_select (1:ncpus=4)",
			"HAVE chunks from job's exec_vnode: " + chunkA + "+" + chunkC + "+" + chunkE + "+" + chunkB + "+" + chunkD,
		}, "could not satisfy 1st select chunk (ncpus=4) with first available chunk (mem=2097152kb ncpus=3)"},
	} {
		_, err := Prune(padded(t), mustSelect(t, c.keep), except(c.bad...), resource.Builtins{})
		u, ok := errors.AsType[*Unpruned](err)
		if !ok {
			t.Errorf("%s: %v", c.keep, err)
			continue
		}
		lines, detail := u.Lines(resource.Builtins{})
		if strings.Join(lines, "\n") != strings.Join(c.lines, "\n") || detail != c.detail {
			t.Errorf("%s:\n%s\n%s", c.keep, strings.Join(lines, "\n"), detail)
		}
	}
}

// Whatever is kept: the first chunk comes first, bad hosts are out, each chunk has what was
// wanted and no more, what is kept and what is released come to what there was, and what is
// printed can be read again.
func TestPrune_Properties(t *testing.T) {
	check := func(seed uint64) bool {
		r := rand.New(rand.NewPCG(seed, 1))
		var chunks, hosts, wants, keeps []string
		bad := map[string]bool{}
		for i := range 2 + r.IntN(6) {
			host := fmt.Sprintf("h%d", i)
			cpus := 1 + r.IntN(4)
			var parts []string
			for n := range cpus {
				parts = append(parts, fmt.Sprintf("%s[%d]:mem=%dkb:ncpus=1", host, n, 1+r.IntN(9)))
			}
			chunks, hosts = append(chunks, "("+strings.Join(parts, "+")+")"), append(hosts, host+"/0*0")
			wants = append(wants, fmt.Sprintf("1:ncpus=%d:mem=1kb", cpus))
			if i == 0 || r.IntN(2) == 0 {
				keeps = append(keeps, fmt.Sprintf("ncpus=%d:mem=1kb", 1+r.IntN(cpus)))
			}
			bad[host] = r.IntN(4) == 0
		}
		a, err := read(strings.Join(chunks, "+"), strings.Join(hosts, "+"), strings.Join(wants, "+"), nil)
		if err != nil {
			t.Fatal(err)
		}
		keep := mustSelect(t, strings.Join(keeps, "+"))
		s, err := Prune(a, keep, func(h string) bool { return !bad[h] }, resource.Builtins{})
		if err != nil {
			_, ok := errors.AsType[*Unpruned](err)
			return ok
		}
		if s.Kept.ExecHost[0] != a.ExecHost[0] || len(s.Kept.ExecVnode) != keep.Total() {
			return false
		}
		for i, c := range s.Kept.ExecVnode {
			sums, err := summed(c, resource.Builtins{})
			if err != nil || i > 0 && bad[s.Kept.ExecHost[i].Host] {
				return false
			}
			for _, it := range keep.Chunks[i].Items {
				if got, _ := sums.Get(it.Name); got != it.Value {
					return false
				}
			}
		}
		return total(a.ExecVnode) == total(append(append(spec.ExecVnode{}, s.Kept.ExecVnode...), s.ReleasedVnodes()...)) && reads(s.Kept.ExecVnode)
	}
	if err := quick.Check(check, &quick.Config{MaxCount: 2000}); err != nil {
		t.Error(err)
	}
}

func reads(e spec.ExecVnode) bool {
	again, err := spec.ParseExecVnode(e.String())
	return err == nil && again.String() == e.String()
}

// total is what each vnode gives, whatever the order.
func total(e spec.ExecVnode) string {
	var sum resource.List
	for _, c := range e {
		for _, p := range c.Parts {
			for _, it := range p.Items {
				q, _ := parse(it, resource.Builtins{})
				if before, ok := sum.Get(string(p.Vnode) + "." + it.Name); ok {
					b, _ := parse(resource.Item{Name: it.Name, Value: before}, resource.Builtins{})
					q, _ = q.Add(b)
				}
				sum = sum.Set(string(p.Vnode)+"."+it.Name, q.InKB().String())
			}
		}
	}
	return fmt.Sprint(sum)
}

func BenchmarkPrune_1000Hosts(b *testing.B) {
	var chunks, hosts []string
	for i := range 1050 {
		chunks, hosts = append(chunks, fmt.Sprintf("(h%d:ncpus=4:mem=1048576kb)", i)), append(hosts, fmt.Sprintf("h%d/0*4", i))
	}
	a, err := read(strings.Join(chunks, "+"), strings.Join(hosts, "+"), "1050:ncpus=4:mem=1gb", nil)
	if err != nil {
		b.Fatal(err)
	}
	keep := mustSelect(b, "1000:ncpus=4:mem=1gb")
	for b.Loop() {
		if _, err := Prune(a, keep, func(h string) bool { return !strings.HasSuffix(h, "7") || len(h) < 4 }, resource.Builtins{}); err != nil {
			b.Log(err)
		}
	}
}
