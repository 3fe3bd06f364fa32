package resource

import (
	"testing"

	"pgregory.net/rapid"
)

// However lists repeat, they come to what one after the other does.
func TestProperty_SumIsAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sum := NewSum(Builtins{})
		var want List
		for range rapid.IntRange(0, 12).Draw(t, "lists") {
			l := List{}.Set("mem", rapid.SampledFrom([]string{"1gb", "512mb", "3kb"}).Draw(t, "mem")).
				Set("ncpus", rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, "ncpus")).Set("host", "a")
			if rapid.Bool().Draw(t, "bare") {
				l = l.Unset("mem")
			}
			sum.Add(l)
			var err error
			if want, err = Add(want, l, Builtins{}); err != nil {
				t.Fatal(err)
			}
		}
		if got := sum.List(); !Equal(got, want, Builtins{}) || len(got) != len(want) {
			t.Fatalf("the sum is %v, want %v", got, want)
		}
	})
}

func TestSum_LeavesOutWhatCannotBeAdded(t *testing.T) {
	sum := NewSum(Builtins{})
	sum.Add(List{{"ncpus", "1"}})
	sum.Add(List{{"ncpus", "many"}})
	sum.Add(List{{"ncpus", "2"}})
	if got, _ := sum.List().Get("ncpus"); got != "3" {
		t.Errorf("the sum is %s, want 3", got)
	}
}
