package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// RS-16 and reliable-startup section 3: what a padded job asks for, through all that happens
// to it before it runs.
func TestPadding(t *testing.T) {
	const (
		user      = "3:ncpus=1+mem=5gb+ncpus=2:mem=2gb"
		requested = "3:ncpus=1+1:mem=5gb:ncpus=1+1:ncpus=2:mem=2gb"
		larger    = "4:ncpus=1+2:mem=5gb+2:ncpus=2:mem=2gb"
		complete  = "4:ncpus=1+2:mem=5gb:ncpus=1+2:ncpus=2:mem=2gb"
	)
	w := newWriter(t)
	w.must(&ManageQueue{Verb: VerbCreate, Queue: "other", Changes: []AttrChange{
		{Entry: attr.Entry{Name: "enabled", Value: "True"}}, {Entry: attr.Entry{Name: "started", Value: "True"}},
	}})
	res := func(name, value string) AttrChange {
		return AttrChange{Entry: attr.Entry{Name: "Resource_List", Resource: name, Value: value}}
	}
	var id pbs.JobID
	check := func(when string, want map[string]string) {
		t.Helper()
		j, _ := w.View().Job(id)
		for name, value := range want {
			var got string
			switch name {
			case "schedselect", "tolerate_node_failures":
				got = w.View().JobAttribute(j, name, "")
			default:
				got = w.View().JobAttribute(j, "Resource_List", name)
			}
			if got != value {
				t.Errorf("%s: %s is %q, want %q", when, name, got, value)
			}
		}
	}
	full := map[string]string{
		"select": complete, "schedselect": complete, "select_requested": requested, "select_reliable_startup": larger,
		"nodect": "8", "ncpus": "10", "mem": "14gb", "tolerate_node_failures": "all",
	}
	plain := map[string]string{
		"select": requested, "schedselect": requested, "select_requested": "", "select_reliable_startup": "",
		"nodect": "5", "ncpus": "6", "mem": "7gb",
	}
	id = w.submit(attr.List{}.Set("Resource_List", "select", user).Set("Resource_List", "select_reliable_startup", larger))
	check("submitted", full)
	w.must(&MoveJob{Job: id, Queue: "other"})
	check("moved", full)
	w.must(&AlterJob{Job: id, Changes: []AttrChange{res("select_reliable_startup", "5:ncpus=1")}})
	check("padded again", map[string]string{"select": "5:ncpus=1", "select_requested": requested, "nodect": "5", "ncpus": "5", "mem": ""})
	if err := w.run(&AlterJob{Job: id, Changes: []AttrChange{res("ncpus", "7")}}); pbs.CodeOf(err) != pbs.ResourceBesideSelect {
		t.Errorf("ncpus beside a padded select: %v", err)
	}
	w.must(&AlterJob{Job: id, Changes: []AttrChange{res("select_reliable_startup", "")}})
	check("unpadded", plain)
	w.must(&AlterJob{Job: id, Changes: []AttrChange{res("select_reliable_startup", larger)}})
	check("padded when queued", full)
	w.must(&AlterJob{Job: id, Changes: []AttrChange{res("select", "2:ncpus=2")}})
	check("altered", map[string]string{"select": "2:ncpus=2", "select_requested": "", "select_reliable_startup": "", "nodect": "2", "ncpus": "4"})

	id = w.submit(attr.List{}.Set("Resource_List", "select_reliable_startup", "2:ncpus=3").Set("Resource_List", "ncpus", "3").
		Set("tolerate_node_failures", "", "none"))
	check("without a select", map[string]string{
		"select": "2:ncpus=3", "select_requested": "1:ncpus=3", "ncpus": "6", "tolerate_node_failures": "none",
	})
}

// A select stays as it was written, as PBS keeps it; schedselect has the counts.
func TestSelectAsGiven(t *testing.T) {
	const given = "ncpus=3:mem=2gb+2:ncpus=1+ncpus=1"
	w := newWriter(t)
	id := w.submit(attr.List{}.Set("Resource_List", "select", given))
	j, _ := w.View().Job(id)
	if got := w.View().JobAttribute(j, "Resource_List", "select"); got != given {
		t.Errorf("select is %s, want %s", got, given)
	}
	if want := "1:ncpus=3:mem=2gb+2:ncpus=1+1:ncpus=1"; j.SchedSelect != want {
		t.Errorf("schedselect is %s, want %s", j.SchedSelect, want)
	}
}

func (w *writer) submit(list attr.List) pbs.JobID {
	w.t.Helper()
	seq := w.View().Cluster().NextJob
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Attributes: list})
	return pbs.NewJobID(seq, "srv")
}
