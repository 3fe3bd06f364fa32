package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// The name of a running job may be altered (specification: ramp-down RD-6). Its mom keeps the old one, by
// which the files of its output are called.
func TestAlterJob_NameOfARunningJob(t *testing.T) {
	w := newReleasing(t)
	w.confirm("hosta", nil)
	w.must(&AlterJob{Job: w.job, Changes: []AttrChange{{Entry: attr.Entry{Name: "Job_Name", Value: "test"}}}})
	if j := w.now(); j.Name != "test" {
		t.Errorf("the name is %s", j.Name)
	}
	for o := range w.View().Orders("hosta") {
		t.Errorf("an order of kind %d", o.Kind)
	}
}

// No job becomes an array by being altered, and no array is of other indices than at first, whoever asks.
func TestAlterJob_Indices(t *testing.T) {
	w := newWriter(t)
	ann := pbs.User{Name: "ann", Host: "a"}
	w.must(&SubmitJob{Owner: ann, Attributes: attr.List{}.Set("Hold_Types", "", "u")})
	w.must(&SubmitJob{Owner: ann, Attributes: attr.List{}.Set("array_indices_submitted", "", "1-3").Set("Hold_Types", "", "u")})
	var all []pbs.JobID
	for j := range w.View().Jobs() {
		all = append(all, j.ID)
	}
	if len(all) != 2 {
		t.Fatalf("there are %v", all)
	}
	for _, id := range all {
		for _, hooked := range []bool{false, true} {
			c := &AlterJob{Job: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "array_indices_submitted", Value: "1-2"}}}, Hooked: hooked}
			if err := w.run(c); pbs.CodeOf(err) != pbs.BadAttributeValue {
				t.Errorf("%s, by a hook %t: %v", id, hooked, err)
			}
		}
		if now, _ := w.View().Job(id); (now.Array != nil) != id.IsArray() || now.Array != nil && now.Array.Indices.String() != "1-3" {
			t.Errorf("%s is of %+v", id, now.Array)
		}
	}
}
