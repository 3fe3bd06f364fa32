package sched_test

import "testing"

// With place=free chunks fill vnodes in their order, whether one host would do or not
// (specification: drop-in section 2).
func TestPlan_FreeFillsInOrder(t *testing.T) {
	for place, want := range map[string]string{
		"free": "(hosta:ncpus=2)+(hostb:ncpus=2)",
		"pack": "(hostb:ncpus=2)+(hostb:ncpus=2)",
	} {
		b := newBench(t)
		b.host("hosta", "hosta:ncpus=3")
		b.host("hostb", "hostb:ncpus=4")
		b.submit("select=2:ncpus=2 place=" + place)
		p := b.plan()
		if len(p.Starts) != 1 || p.Starts[0].ExecVnode != want {
			t.Errorf("place=%s: %v, want %s", place, p.Starts, want)
		}
	}
}
