package alloc

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// draw makes an assignment over some hosts of several vnodes each.
func draw(t *rapid.T) Grant {
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
	return Grant{Assignment{vnodes, hosts}, sel.String(), list.Set("place", "pack")}
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

func drawWish(t *rapid.T, a Grant) (Split, error) {
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
			sel, err := spec.ParseSelect(s.Kept.SchedSelect)
			if err != nil {
				t.Fatal(err)
			}
			sums, err := spec.Sum(sel, defs)
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range sums {
				if got, _ := s.Kept.Resources.Get(it.Name); got != it.Value && !s.Whole() {
					t.Fatalf("Resource_List.%s = %s, the chunks sum to %s", it.Name, got, it.Value)
				}
			}
			again, err := read(s.Kept.ExecVnode.String(), s.Kept.ExecHost.String(), s.Kept.SchedSelect, s.Kept.Resources)
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
