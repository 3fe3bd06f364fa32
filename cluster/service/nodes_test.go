package service

import (
	"testing"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// TestSubmit_Nodes: the old way to ask for hosts becomes select and place.
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
	}
	for want, list := range map[pbs.Code][]*api.Attribute{
		pbs.BadAttributeValue: {set("Resource_List.nodes", "2:ppn=x")},
		pbs.ResourceBesides:   {set("Resource_List.nodes", "2"), set("Resource_List.select", "1")},
	} {
		if _, err := b.submit("ann@login1", list...); pbs.CodeOf(err) != want {
			t.Errorf("%v: %v, want %d", list, err, want)
		}
	}
}
