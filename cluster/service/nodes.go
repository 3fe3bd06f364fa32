package service

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// fromNodes adds to a request for nodes, as it was written before there was select, the select and place that it means. It is done
// here, so that nobody else has to know: nodes stays beside them, for users and hooks to read.
func fromNodes(list []*api.Attribute, v *state.View) ([]*api.Attribute, error) {
	nodes, whole, placed := "", resource.List(nil), false
	var rest []*api.Attribute
	for _, a := range list {
		def, ok := v.Resource(a.GetResource())
		switch {
		case a.GetName() != "Resource_List":
		case a.GetResource() == "nodes":
			nodes = a.GetValue()
		case a.GetResource() == "place":
			placed = true
		case a.GetResource() == "select":
			whole = whole.Set("select", a.GetValue())
		case ok && def.AtHost() && a.GetOp() == api.Op_OP_SET:
			whole = whole.Set(a.GetResource(), a.GetValue())
			continue
		}
		rest = append(rest, a)
	}
	if nodes == "" {
		return list, nil
	}
	if _, both := whole.Get("select"); both {
		return nil, pbs.Errorf(pbs.ResourceBesideSelect, "%snodes", pbs.ResourceBesideSelect.Text())
	}
	sel, place, err := spec.ParseNodes(nodes, whole, v)
	if err != nil {
		return nil, err
	}
	rest = append(rest, &api.Attribute{Name: "Resource_List", Resource: "select", Value: sel.String()})
	if !placed {
		rest = append(rest, &api.Attribute{Name: "Resource_List", Resource: "place", Value: place.String()})
	}
	return rest, nil
}
