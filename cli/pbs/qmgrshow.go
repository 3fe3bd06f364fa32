package pbs

import (
	"context"
	"slices"
	"strings"

	"rampart/cli/render"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// read lists or prints the objects that a name stands for.
func (m *manager) read(ctx context.Context, d *directive, n objectName) error {
	var only []string
	for _, a := range d.changes {
		name := a.Name
		if a.Resource != "" {
			name += "." + a.Resource
		}
		only = append(only, name)
	}
	if d.verb == "print" && d.object.word == "server" && len(only) == 0 {
		m.whole = true
		defer func() { m.whole = false }()
		for _, word := range []string{"resource", "queue"} {
			object, _ := managedBy(word)
			if err := m.print(ctx, object, "", nil); err != nil {
				return err
			}
			m.headed = false
		}
	}
	if d.verb == "print" {
		return m.print(ctx, d.object, n.name, only)
	}
	found, err := m.find(ctx, d.object, n.name)
	if d.object.word == "resource" && n.name == "" && len(found) > 0 {
		render.PrintHead(m.env.Stdout, d.object.render) // PBS heads the list of all resources so
	}
	for _, o := range found {
		render.List(m.env.Stdout, d.object.render, o, only)
	}
	return err
}

func (m *manager) print(ctx context.Context, object *managed, name string, only []string) error {
	found, err := m.find(ctx, object, name)
	if err != nil || len(found) == 0 {
		return err
	}
	out := m.env.Stdout
	if object.word == "server" {
		render.PrintServer(out, object.render, found[0], only)
		return nil
	}
	if m.whole && object.word == "queue" {
		if found, err = m.withoutReserved(ctx, found); err != nil || len(found) == 0 {
			return err
		}
	}
	if !m.headed && (object.word != "resource" || name == "") {
		render.PrintHead(out, object.render)
	}
	m.headed = true
	for _, o := range found {
		render.Print(out, object.renderOf(o), o, only)
		if object.table == attr.Hook && len(only) == 0 {
			if err := m.printContents(ctx, object, o.Name); err != nil {
				return err
			}
		}
	}
	render.PrintLate(out, object.render, found, only)
	return nil
}

// withoutReserved leaves out the queues of reservations, which come and go with them.
func (m *manager) withoutReserved(ctx context.Context, queues []*api.Object) ([]*api.Object, error) {
	named := func(o *api.Object) bool { return pbs.NamesReservation(o.Name) }
	if !slices.ContainsFunc(queues, named) {
		return queues, nil
	}
	_, all, err := m.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_RESERVATION, Attributes: []string{"queue"}})
	if err != nil {
		return nil, err
	}
	theirs := map[string]bool{}
	for _, r := range all {
		queue, _, _ := strings.Cut(r.Name, ".")
		theirs[queue] = true
	}
	return slices.DeleteFunc(queues, func(o *api.Object) bool { return theirs[o.Name] }), nil
}

func (m *manager) find(ctx context.Context, object *managed, name string) ([]*api.Object, error) {
	r := &api.ListRequest{Kind: object.kind}
	if name != "" && object.word != "server" {
		r.Names = []string{name}
	}
	_, found, err := m.objects(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, o := range found {
		if o.Refusal != nil {
			return nil, refusal(o)
		}
	}
	return found, nil
}
