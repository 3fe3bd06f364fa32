package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// PBS's words for what only arrays have, for flags that cannot go together, and for subjobs that are over.
func TestTexts_OfRefusals(t *testing.T) {
	w := newWriter(t)
	refused := func(c Command, want string) {
		t.Helper()
		if err := w.run(c); err == nil || err.Error() != want {
			t.Errorf("%T: %v, want %q", c, err, want)
		}
	}
	limit := attr.Entry{Name: "max_run_subjobs", Value: "4"}
	refused(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "login1"}, Attributes: attr.List{limit}}, "Attribute has to be set on an array job")
	create := &ManageResource{Verb: VerbCreate, Name: "foo", Changes: []AttrChange{{Entry: attr.Entry{Name: "flag", Value: "nh"}}}}
	refused(create, "Erroneous to have flag 'n', 'f', or 'q' on resource foo which is type string, string_array, or boolean.")
	create.Changes = append(create.Changes, AttrChange{Entry: attr.Entry{Name: "type", Value: "long"}})
	w.must(create)
	refused(&ManageResource{Verb: VerbSet, Name: "foo", Changes: []AttrChange{{Entry: attr.Entry{Name: "flag", Value: "rnhi"}}}},
		"Erroneous to have flag 'i' and 'r' on resource foo.")
}

// What has no record of its own is shown as PBS does: those of a held array wait, those that are over have finished.
func TestSubjobOf_WithoutARecord(t *testing.T) {
	parent := &state.Job{Seq: 7, ID: "7[].srv", State: pbs.Held, Substate: pbs.SubHeld, Array: &state.Array{
		Indices: pbs.Indices{{First: 1, Last: 3, Step: 1}}, Queued: pbs.Indices{{First: 2, Last: 3, Step: 1}},
	}}
	v := newWriter(t).View()
	if j, _ := v.SubjobOf(parent, 2); j.State != pbs.Queued || j.Comment != "" {
		t.Errorf("of a held array: %s, %q", j.State, j.Comment)
	}
	if j, _ := v.SubjobOf(parent, 1); j.State != pbs.Finished || j.Comment != "Subjob finished" {
		t.Errorf("over: %s, %q", j.State, j.Comment)
	}
}
