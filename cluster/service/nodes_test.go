package service

import (
	"testing"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// TestSubmit_Nodes: the old way to ask for hosts becomes select and place, and stays beside them until select is changed.
func TestSubmit_Nodes(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		list       []*api.Attribute
		sel, place string
	}{
		{[]*api.Attribute{set("Resource_List.nodes", "1:ppn=2")}, "1:ncpus=2:mpiprocs=2", "scatter"},
		{[]*api.Attribute{set("Resource_List.nodes", "2"), set("Resource_List.mem", "4gb"), set("Resource_List.walltime", "60")}, "2:mem=2097152kb:ncpus=1", "scatter"},
		{[]*api.Attribute{set("Resource_List.nodes", "2"), set("Resource_List.place", "pack")}, "2:ncpus=1", "pack"},
	} {
		id := b.mustSubmit("ann@login1", c.list...)
		v, j := b.store.View(), b.job(id)
		if sel, place := v.JobAttribute(j, "Resource_List", "select"), v.JobAttribute(j, "Resource_List", "place"); sel != c.sel || place != c.place {
			t.Errorf("%v: select=%s place=%s, want %s %s", c.list, sel, place, c.sel, c.place)
		}
		if nodes := v.JobAttribute(j, "Resource_List", "nodes"); nodes != c.list[0].GetValue() {
			t.Errorf("%v: nodes=%s", c.list, nodes)
		}
		for _, change := range []string{"walltime", "select"} { // hooks alter by the same command
			want := map[string]string{"walltime": c.list[0].GetValue()}[change]
			_, err := b.Batch.Alter(b.as("ann@login1"), request(&api.AlterRequest{Job: string(id), Changes: []*api.Attribute{set("Resource_List."+change, "1")}}, ""))
			if got := b.store.View().JobAttribute(b.job(id), "Resource_List", "nodes"); err != nil || got != want {
				t.Errorf("%v, %s altered: nodes=%s, %v", c.list, change, got, err)
			}
		}
	}
	for want, list := range map[pbs.Code][]*api.Attribute{
		pbs.BadAttributeValue:    {set("Resource_List.nodes", "2:ppn=x")},
		pbs.ResourceBesideSelect: {set("Resource_List.nodes", "2"), set("Resource_List.select", "1")},
	} {
		if _, err := b.submit("ann@login1", list...); pbs.CodeOf(err) != want {
			t.Errorf("%v: %v, want %d", list, err, want)
		}
	}
}
