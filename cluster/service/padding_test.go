package service

import (
	"testing"

	"rampart/fsm/pbs"
	"rampart/mom/hook"
	"rampart/transport/api"
)

const onlyManagers = "Only PBS managers and operators are allowed to set 'select_reliable_startup'"

// RS-15, RS-18, RS-20: who may ask for more than he needs, and what nobody may.
func TestPadding_RS15_RS18_RS20(t *testing.T) {
	b := newBench(t)
	padded := set("Resource_List.select_reliable_startup", "2:ncpus=1")
	for _, c := range []struct {
		who     string
		change  *api.Attribute
		want    pbs.Code
		message string
	}{
		{"ann@h", padded, pbs.Unauthorized, onlyManagers},
		{"op@hosta", padded, 0, ""},
		{"boss@h", padded, 0, ""},
		{"boss@h", set("Resource_List.select_reliable_startup", "2:"), pbs.BadAttributeValue, ""},
		{"boss@h", set("Resource_List.select_requested", "1:ncpus=1"), pbs.ReadOnlyAttribute, ""},
		{"ann@h", set("Resource_List.select_requested", "1:ncpus=1"), pbs.ReadOnlyAttribute, ""},
		{"ann@h", set("tolerate_node_failures", "maybe"), pbs.BadAttributeValue, ""},
		{"ann@h", set("tolerate_node_failures", "job_start"), 0, ""},
		{"ann@h", set("tolerate_node_failures", "none"), 0, ""},
	} {
		id := b.mustSubmit(c.who)
		queued := b.store.View().JobCount()
		_, err := b.submit(c.who, c.change)
		_, err2 := b.Batch.Alter(b.as(c.who), request(&api.AlterRequest{Job: id, Changes: []*api.Attribute{c.change}}, ""))
		for _, err := range []error{err, err2} {
			if pbs.CodeOf(err) != c.want || c.message != "" && err.Error() != c.message {
				t.Errorf("%s %v: %v", c.who, c.change, err)
			}
		}
		if more := b.store.View().JobCount() - queued; (more == 1) != (c.want == 0) {
			t.Errorf("%s %v: %d jobs more", c.who, c.change, more)
		}
	}
	if pbs.Unauthorized%256 != 159 {
		t.Errorf("the exit status is %d", pbs.Unauthorized%256)
	}
}

// RS-16: a hook may pad anybody's job. RS-18: not even a hook may write what was requested.
func TestPadding_RS16(t *testing.T) {
	edits := map[string]string{"Resource_List.select_reliable_startup": "4:ncpus=1+2:mem=5gb+2:ncpus=2:mem=2gb"}
	b, _ := hookedBench(t, "queuejob", func(*hook.Event) *hook.Outcome { return accepted(edits) })
	j := b.job(b.mustSubmit("ann@h", set("Resource_List.select", "3:ncpus=1+mem=5gb+ncpus=2:mem=2gb")))
	for name, want := range map[string]string{
		"select": "4:ncpus=1+2:mem=5gb:ncpus=1+2:ncpus=2:mem=2gb", "nodect": "8",
		"select_requested": "3:ncpus=1+1:mem=5gb:ncpus=1+1:ncpus=2:mem=2gb",
	} {
		if got, _ := j.Resources.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got, _ := j.Attrs.Get("tolerate_node_failures", ""); got != "all" || j.SchedSelect != "4:ncpus=1+2:mem=5gb:ncpus=1+2:ncpus=2:mem=2gb" {
		t.Errorf("tolerate_node_failures is %q, schedselect %q", got, j.SchedSelect)
	}
	edits["Resource_List.select_requested"] = "1:ncpus=1"
	if _, err := b.submit("ann@h"); pbs.CodeOf(err) != pbs.ReadOnlyAttribute {
		t.Errorf("a hook that writes select_requested: %v", err)
	}
}
