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
	for flags, want := range map[string]string{
		"n": "Erroneous to have flag 'n' or 'f' without 'h'.", "nfh": "Erroneous to have flag 'n' and 'f'.",
	} {
		refused(&ManageResource{Verb: VerbCreate, Name: "foo", Changes: []AttrChange{{Entry: attr.Entry{Name: "flag", Value: flags}}}}, want)
	}
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
