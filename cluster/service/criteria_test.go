package service

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

func TestList_JobsThatMeetCriteria(t *testing.T) {
	b := newBench(t)
	b.mustSubmit("ann@h", set("Job_Name", "a"), &api.Attribute{Name: "Resource_List", Resource: "walltime", Value: "01:00:00"}, set("Priority", "5"))
	b.mustSubmit("bob@h", set("Job_Name", "b"), &api.Attribute{Name: "Resource_List", Resource: "ncpus", Value: "4"}, &api.Attribute{Name: "Resource_List", Resource: "mem", Value: "2gb"}, set("Hold_Types", "u"))
	b.mustSubmit("ann@g", set("Job_Name", "c"), set("Checkpoint", "c=10"), set("Rerunable", "n"), set("project", "p"))
	eq := api.Relation_RELATION_EQUAL
	is := func(name, resource string, r api.Relation, value string) *api.Criterion {
		return &api.Criterion{Name: name, Resource: resource, Relation: r, Value: value}
	}
	for _, c := range []struct {
		name  string
		where []*api.Criterion
		want  string
	}{
		{"state", []*api.Criterion{is("job_state", "", eq, "HR")}, "1"},
		{"not in state", []*api.Criterion{is("job_state", "", api.Relation_RELATION_NOT_EQUAL, "HR")}, "0 2"},
		{"owner", []*api.Criterion{is("Job_Owner", "", eq, "ann")}, "0 2"},
		{"owner at a host", []*api.Criterion{is("Job_Owner", "", eq, "ann@g,bob")}, "1 2"},
		{"queue", []*api.Criterion{is("queue", "", eq, "workq")}, "0 1 2"},
		{"name", []*api.Criterion{is("Job_Name", "", eq, "b")}, "1"},
		{"number", []*api.Criterion{is("Priority", "", api.Relation_RELATION_GREATER, "0")}, "0"},
		{"number by default", []*api.Criterion{is("Priority", "", api.Relation_RELATION_LESS_OR_EQUAL, "0")}, "1 2"},
		{"resource", []*api.Criterion{is("Resource_List", "ncpus", api.Relation_RELATION_GREATER_OR_EQUAL, "4")}, "1"},
		{"size in other units", []*api.Criterion{is("Resource_List", "mem", eq, "2048mb")}, "1"},
		{"duration", []*api.Criterion{is("Resource_List", "walltime", eq, "3600")}, "0"},
		{"what is not there differs", []*api.Criterion{is("Resource_List", "mem", api.Relation_RELATION_NOT_EQUAL, "1gb")}, "0 1 2"},
		{"boolean", []*api.Criterion{is("Rerunable", "", eq, "False")}, "2"},
		{"holds", []*api.Criterion{is("Hold_Types", "", eq, "u")}, "1"},
		{"no holds", []*api.Criterion{is("Hold_Types", "", eq, "n")}, "0 2"},
		{"checkpoint", []*api.Criterion{is("Checkpoint", "", api.Relation_RELATION_GREATER, "c=5")}, "2"},
		{"all of them", []*api.Criterion{is("Job_Owner", "", eq, "ann"), is("Priority", "", eq, "5")}, "0"},
		{"project", []*api.Criterion{is("project", "", eq, "p")}, "2"},
		{"moment", []*api.Criterion{is("ctime", "", api.Relation_RELATION_GREATER, "1")}, "0 1 2"},
	} {
		got, err := b.list("ann@h", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"queue"}, Where: c.where})
		var ids []string
		for _, o := range got {
			ids = append(ids, strings.TrimSuffix(o.GetName(), ".srv"))
		}
		if text := strings.Join(ids, " "); err != nil || text != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, text, err, c.want)
		}
	}
	for _, bad := range []struct {
		c    *api.Criterion
		code pbs.Code
	}{
		{is("nosuch", "", eq, "1"), pbs.UndefinedAttribute},
		{is("Resource_List", "nosuch", eq, "1"), pbs.UnknownResource},
		{is("Resource_List", "ncpus", eq, "x"), pbs.BadAttributeValue},
		{is("Resource_List", "", eq, "1"), pbs.BadAttributeValue},
		{is("Priority", "", eq, "much"), pbs.BadAttributeValue},
		{is("Hold_Types", "", eq, "q"), pbs.BadAttributeValue},
	} {
		_, err := b.list("ann@h", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Where: []*api.Criterion{bad.c}})
		if pbs.CodeOf(err) != bad.code {
			t.Errorf("%v: %v, want %d", bad.c, err, bad.code)
		}
	}
}

// A replica of an older build passes over criteria; the header tells who has applied them.
func TestList_CriteriaAreConfirmed(t *testing.T) {
	b := newBench(t)
	for _, where := range [][]*api.Criterion{nil, {{Name: "job_state", Value: "Q"}}} {
		err := b.Batch.list(b.as("ann@h"), &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Where: where}, func(m *api.ListReply) error {
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
