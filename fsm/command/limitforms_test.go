package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// A server, and each queue, has limits of the older form or of the newer one.
func TestManage_LimitsOfOneForm(t *testing.T) {
	set := func(name, res, value string) []AttrChange {
		return []AttrChange{{Entry: attr.Entry{Name: name, Resource: res, Value: value}}}
	}
	older := [][]AttrChange{
		set("max_running", "", "4"), set("max_user_run", "", "2"), set("max_group_run", "", "2"), set("max_user_run_soft", "", "2"),
		set("max_group_run_soft", "", "2"), set("max_user_res", "ncpus", "2"), set("max_group_res", "ncpus", "2"),
		set("max_user_res_soft", "ncpus", "2"), set("max_group_res_soft", "ncpus", "2"),
	}
	newer := [][]AttrChange{
		set("max_run", "", "[u:PBS_GENERIC=2]"), set("max_run_soft", "", "[u:PBS_GENERIC=2]"), set("max_queued", "", "[o:PBS_ALL=2]"),
		set("max_run_res", "ncpus", "[u:PBS_GENERIC=2]"), set("max_run_res_soft", "ncpus", "[u:PBS_GENERIC=2]"),
		set("max_queued_res", "ncpus", "[o:PBS_ALL=2]"), set("queued_jobs_threshold", "", "[o:PBS_ALL=2]"),
		set("queued_jobs_threshold_res", "ncpus", "[o:PBS_ALL=2]"),
	}
	server := func(c []AttrChange) Command { return &ManageServer{Verb: VerbSet, Changes: c} }
	queue := func(c []AttrChange) Command { return &ManageQueue{Verb: VerbSet, Queue: "workq", Changes: c} }
	for _, object := range []func([]AttrChange) Command{server, queue} {
		for _, o := range older {
			for _, n := range newer {
				for _, pair := range [][2][]AttrChange{{o, n}, {n, o}} {
					w := newWriter(t)
					w.must(object(pair[0]))
					if err := w.run(object(pair[1])); pbs.CodeOf(err) != 15141 || err.Error() != "use new/old qmgr syntax, not both" {
						t.Errorf("%v after %v: %v", pair[1], pair[0], err)
					}
				}
			}
		}
	}
	w := newWriter(t)
	w.must(server(older[1]))
	w.must(queue(newer[0])) // another object
	w.must(server(set("resources_available", "ncpus", "4")))
	if err := w.run(queue(set("max_queuable", "", "3"))); pbs.CodeOf(err) != pbs.MixedLimits {
		t.Error("max_queuable:", err)
	}
	w.must(&ManageServer{Verb: VerbUnset, Changes: []AttrChange{{Op: OpUnset, Entry: attr.Entry{Name: "max_user_run"}}}})
	w.must(server(newer[0]))
	if err := w.run(&ManageQueue{Verb: VerbCreate, Queue: "q", Changes: append(older[0], newer[0]...)}); pbs.CodeOf(err) != pbs.MixedLimits {
		t.Error("both at once:", err)
	}
}
