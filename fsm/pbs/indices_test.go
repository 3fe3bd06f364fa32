package pbs_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/pbs"
)

func TestParseIndices(t *testing.T) {
	for in, want := range map[string]string{
		"1-5": "1-5", "0-0": "0", "7": "7", "1-5:2": "1-5:2", "1-6:2": "1-5:2", "3-4:9": "3", "1,3-9:3,12": "1,3-9:3,12",
	} {
		if set, err := pbs.ParseIndices(in); err != nil || set.String() != want {
			t.Errorf("ParseIndices(%q) = %s, %v; want %s", in, set, err, want)
		}
	}
	for _, in := range []string{"", "-", "5-1", "1-", "-1", "1-5:0", "1:2", "1-5:", "a-b", "+1-2", "1-99999999999", "3,1", "1-3,2", "1-5%2"} {
		if set, err := pbs.ParseIndices(in); err == nil {
			t.Errorf("ParseIndices(%q) = %s", in, set)
		}
	}
}

// TestIndices_AreASet compares with a set of numbers.
func TestIndices_AreASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := randomIndices(t)
		model := map[uint32]bool{}
		for i := range set.From(0) {
			model[i] = true
		}
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			i := rapid.Uint32Range(0, 40).Draw(t, "i")
			switch rapid.IntRange(0, 3).Draw(t, "op") {
			case 0:
				set, model[i] = set.With(i), true
			case 1:
				set = set.Without(i)
				delete(model, i)
			case 2:
				other := randomIndices(t)
				for n := range other.From(0) {
					delete(model, n)
				}
				set = set.Minus(other)
			case 3:
				other := randomIndices(t)
				for n := range model {
					if !other.Has(n) {
						delete(model, n)
					}
				}
				set = set.Both(other)
				slices.SortFunc(set, func(a, b pbs.IndexRange) int { return int(a.First) - int(b.First) })
				set = plainSet(set) // what two sets have in common may interleave
			}
			agree(t, set, model)
		}
	})
}

func randomIndices(t *rapid.T) pbs.Indices {
	var set pbs.Indices
	next := uint32(0)
	for range rapid.IntRange(0, 3).Draw(t, "ranges") {
		step := rapid.Uint32Range(1, 4).Draw(t, "step")
		first := next + rapid.Uint32Range(0, 5).Draw(t, "first")
		last := first + step*rapid.Uint32Range(0, 6).Draw(t, "count")
		if last == first {
			step = 1
		}
		set, next = append(set, pbs.IndexRange{First: first, Last: last, Step: step}), last+1
	}
	return set
}

func plainSet(set pbs.Indices) pbs.Indices {
	all := slices.Sorted(set.From(0))
	var out pbs.Indices
	for _, i := range all {
		out = append(out, pbs.IndexRange{First: i, Last: i, Step: 1})
	}
	return out
}

func agree(t *rapid.T, set pbs.Indices, model map[uint32]bool) {
	t.Helper()
	got := slices.Collect(set.From(0))
	if len(got) != len(model) || set.Count() != len(model) || !slices.IsSorted(got) {
		t.Fatalf("%s has %d indices %v, want %v", set, set.Count(), got, model)
	}
	for i := range uint32(60) {
		if set.Has(i) != model[i] {
			t.Fatalf("%s: has %d is %v", set, i, set.Has(i))
		}
		if from := slices.Collect(set.From(i)); len(from) > 0 && from[0] < i {
			t.Fatalf("%s from %d begins with %d", set, i, from[0])
		}
	}
	if len(set) > 0 {
		if again, err := pbs.ParseIndices(set.String()); err != nil || !slices.Equal(slices.Collect(again.From(0)), got) {
			t.Fatalf("%s reads as %s, %v", set, again, err)
		}
	}
}

func TestJobID_OfArrays(t *testing.T) {
	for in, want := range map[string]string{"3[]": "3[].srv", "3[].srv@s1": "3[].srv", "3[7]": "3[7].srv", "3[07]": "3[7].srv", "3[1-5:2].x": "3[1-5:2].x"} {
		if id, err := pbs.ParseJobID(in, "srv"); err != nil || string(id) != want {
			t.Errorf("ParseJobID(%q) = %q, %v; want %q", in, id, err, want)
		}
	}
	for _, in := range []string{"3[", "3]", "3[x]", "3[1", "3[1]2", "[1]", "3[5-1]", "3[1][2]", "3[[1]]"} {
		if id, err := pbs.ParseJobID(in, "srv"); err == nil {
			t.Errorf("ParseJobID(%q) = %q", in, id)
		}
	}
	parent := pbs.NewArrayID(3, "srv")
	if parent != "3[].srv" || parent.Seq() != 3 || parent.Sub() != 0 || parent.Number() != "3" || !parent.IsArray() {
		t.Errorf("the parent is %s: %d, %d, %s", parent, parent.Seq(), parent.Sub(), parent.Number())
	}
	sub := parent.Subjob(7)
	if sub != "3[7].srv" || sub.Seq() != 3 || sub.Sub() != 8 || sub.Parent() != parent || sub.Number() != "3" {
		t.Errorf("the subjob is %s: %d, %d, %s", sub, sub.Seq(), sub.Sub(), sub.Parent())
	}
	if set, ok := pbs.JobID("3[1-5:2].srv").Indices(); !ok || set.String() != "1-5:2" {
		t.Errorf("the range is %s, %v", set, ok)
	}
	if _, ok := parent.Indices(); ok || pbs.JobID("3.srv").Parent() != "3.srv" || pbs.JobID("3.srv").IsArray() {
		t.Error("a job without brackets has indices")
	}
}
