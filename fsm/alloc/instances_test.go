package alloc

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/pbs"
	"rampart/fsm/spec"
)

// ofInstance says that vnodes of hosts with even numbers share mem, and those of the others, too; what they have of ncpus is their own.
func ofInstance(v pbs.VnodeName, res string) (pbs.VnodeName, bool) {
	if res != "mem" {
		return "", false
	}
	if strings.ContainsAny(string(v[1]), "02") {
		return "h0[0]", true
	}
	return "h1[0]", true
}

// What a job has once of an instance goes over to another of its vnodes there, behind what that has already.
func TestCarry(t *testing.T) {
	for _, c := range []struct{ has, drop, kept, released, sel string }{
		{"(h0[0]:ncpus=2:mem=5kb)+(h2[0]:ncpus=1)+(h1[0]:ncpus=1:mem=5kb)", "h1[0]", "(h0[0]:ncpus=2:mem=5kb)+(h2[0]:ncpus=1)", "(h1[0]:ncpus=1:mem=5kb)", "1:ncpus=2:mem=5kb+1:ncpus=1"},
		{"(h1[0]:ncpus=1:mem=5kb)+(h0[0]:ncpus=2:mem=5kb)+(h2[0]:ncpus=1)", "h0[0]", "(h1[0]:ncpus=1:mem=5kb)+(h2[0]:ncpus=1:mem=5kb)", "(h0[0]:ncpus=2)", "1:ncpus=1:mem=5kb+1:ncpus=1:mem=5kb"},
		{"(h1[0]:ncpus=1:mem=5kb)+(h0[0]:ncpus=2:mem=5kb)+(h2[0]:ncpus=1)", "h2[0]", "(h1[0]:ncpus=1:mem=5kb)+(h0[0]:ncpus=2:mem=5kb)", "(h2[0]:ncpus=1)", "1:ncpus=1:mem=5kb+1:ncpus=2:mem=5kb"},
		{"(h1[0]:ncpus=1)+(h0[0]:ncpus=2:mem=5kb)+(h2[0]:mem=2kb:ncpus=1)", "h0[0]", "(h1[0]:ncpus=1)+(h2[0]:mem=7kb:ncpus=1)", "(h0[0]:ncpus=2)", "1:ncpus=1+1:mem=7kb:ncpus=1"},
	} {
		ev, err := spec.ParseExecVnode(c.has)
		if err != nil {
			t.Fatal(err)
		}
		var hosts spec.ExecHost
		var sel spec.Select
		for i, chunk := range ev {
			hosts = append(hosts, spec.HostSlot{Host: string(chunk.Parts[0].Vnode[:2]), Slot: i})
			sel.Chunks = append(sel.Chunks, spec.Chunk{Count: 1, Items: chunk.Parts[0].Items})
		}
		list, _ := spec.Sum(sel, defs)
		s, err := Release(Grant{Assignment{ev, hosts}, sel.String(), list}, func(v pbs.VnodeName) bool { return string(v) == c.drop }, defs)
		if err == nil {
			s, err = s.Carry(ofInstance, defs)
		}
		if err != nil || s.Kept.ExecVnode.String() != c.kept || s.ReleasedVnodes().String() != c.released || s.Kept.SchedSelect != c.sel {
			t.Errorf("%s without %s: %s with %s, released %s; %v", c.has, c.drop, s.Kept.ExecVnode, s.Kept.SchedSelect, s.ReleasedVnodes(), err)
		}
		if got, _ := s.Kept.Resources.Get("select"); got != c.sel {
			t.Errorf("select=%s", got)
		}
	}
}

// However much of a job is released, one vnode after the other: each instance keeps all that it has given as long as the job has a vnode of it,
// and nothing is lost or made.
func TestCarry_Law(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		mem, _ := defs.Resource("mem")
		of := func(all ...spec.ExecVnode) (sums map[pbs.VnodeName]int64, has map[pbs.VnodeName]bool) {
			sums, has = map[pbs.VnodeName]int64{}, map[pbs.VnodeName]bool{}
			for _, e := range all {
				for _, c := range e {
					for _, p := range c.Parts {
						pool, _ := ofInstance(p.Vnode, "mem")
						text, _ := p.Items.Get("mem")
						sums[pool] += mem.Measure(text)
						has[pool] = true
					}
				}
			}
			return sums, has
		}
		for range rapid.IntRange(1, 4).Draw(t, "releases") {
			if len(g.ExecVnode) == 0 {
				return
			}
			goes := map[pbs.VnodeName]bool{}
			for name := range g.Vnodes {
				goes[name] = rapid.Bool().Draw(t, string(name))
			}
			s, err := Release(g, func(v pbs.VnodeName) bool { return goes[v] }, defs)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Kept.ExecVnode) == 0 {
				return
			}
			next, err := s.Carry(ofInstance, defs)
			if err != nil {
				t.Fatal(err)
			}
			before, _ := of(g.ExecVnode)
			kept, has := of(next.Kept.ExecVnode)
			both, _ := of(next.Kept.ExecVnode, next.ReleasedVnodes())
			for pool, n := range before {
				if both[pool] != n || has[pool] && kept[pool] != n {
					t.Fatalf("%s had %d, now %d are kept and %d are there", pool, n, kept[pool], both[pool])
				}
			}
			if _, err := next.Kept.open(); err != nil {
				t.Fatal(err)
			}
			text, _ := next.Kept.Resources.Get("mem")
			var sum int64
			for _, n := range kept {
				sum += n
			}
			if text != "" && mem.Measure(text) != sum {
				t.Fatalf("Resource_List.mem=%s, and the vnodes give %d", text, sum)
			}
			g = next.Kept
		}
	})
}
