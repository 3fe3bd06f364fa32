package pbs

import (
	"slices"
	"strings"

	"rampart/cli/render"
	"rampart/fsm/attr"
	"rampart/transport/api"
)

// defaultSched is the scheduler that is always there.
const defaultSched = "default"

// A managed is a kind of object that qmgr knows.
type managed struct {
	word   string
	kind   api.ObjectKind
	table  attr.Object
	single bool // the name may be left out
	later  bool // of a feature that is yet to come
	render render.Kind
}

// settable returns what qmgr's print sets of an attribute, so that it can be read again.
func (m *managed) settable(a *api.Attribute) (string, bool) {
	def, ok := attr.Lookup(m.table, a.Name)
	if !ok || def.Write == attr.ServerOnly || def.OnCreate || def.Fixed {
		return "", false
	}
	if m.table == attr.Vnode && a.Name == "state" { // the others follow from the mom and its jobs
		if slices.Contains(strings.Split(a.Value, ","), "offline") {
			return "offline", true
		}
		return a.Value, a.Value == "free"
	}
	return a.Value, true
}

// givenWithCreate tells which attributes only create can give, where they are not what they would be.
func givenWithCreate(o *api.Object, a *api.Attribute) bool {
	def, ok := attr.Lookup(attr.Vnode, a.Name)
	return ok && def.OnCreate && a.Name != "Port" && a.Value != o.Name // the port is the mom's
}

// shared reports whether a resource has its amount on another vnode, which must have some by then.
func shared(a *api.Attribute) bool {
	return a.Name == "resources_available" && strings.HasPrefix(a.Value, "@")
}

// renderOf returns how one of them is printed: of schedulers all but the default one are made, by their names, and what of that one
// cannot be set is theirs to set.
func (m *managed) renderOf(o *api.Object) render.Kind {
	k := m.render
	if m.table != attr.Sched || o.Name == defaultSched {
		return k
	}
	k.Unnamed, k.Given = false, false
	k.Settable = func(a *api.Attribute) (string, bool) {
		def, ok := attr.Lookup(attr.Sched, a.Name)
		return a.Value, ok && def.Write != attr.ServerOnly && a.Name != "state"
	}
	return k
}

func (m *managed) listed(a *api.Attribute) bool {
	def, ok := attr.Lookup(m.table, a.Name)
	return ok && def.Type == attr.Array && m.table != attr.Hook
}

// managedObjects in the order in which an abbreviation finds them.
func managedObjects() []managed {
	return []managed{
		{
			word: "server", kind: api.ObjectKind_OBJECT_KIND_SERVER, table: attr.Server, single: true,
			render: render.Kind{Title: "Server"},
		},
		{
			word: "queue", kind: api.ObjectKind_OBJECT_KIND_QUEUE, table: attr.Queue,
			render: render.Kind{Title: "Queue", Plural: "queues", What: "attributes"},
		},
		{
			word: "node", kind: api.ObjectKind_OBJECT_KIND_VNODE, table: attr.Vnode,
			render: render.Kind{Title: "Node", Plural: "nodes", What: "properties", AtCreate: givenWithCreate, Late: shared},
		},
		{
			word: "resource", kind: api.ObjectKind_OBJECT_KIND_RESOURCE, table: attr.Resource,
			render: render.Kind{Title: "Resource", Plural: "resources", What: "properties"},
		},
		{
			word: "sched", kind: api.ObjectKind_OBJECT_KIND_SCHED, table: attr.Sched, single: true,
			render: render.Kind{Title: "Sched", Define: "scheduler", Unnamed: true, Given: true},
		},
		{
			word: "hook", kind: api.ObjectKind_OBJECT_KIND_HOOK, table: attr.Hook,
			render: render.Kind{Title: "Hook", Plural: "hooks", What: "properties"},
		},
		{
			word: "pbshook", kind: api.ObjectKind_OBJECT_KIND_PBSHOOK, table: attr.Hook,
			render: render.Kind{Title: "Hook", What: "properties", Given: true},
		},
	}
}

// managedBy returns the object type by its word, in the plural too, an abbreviation of either, or
// PBS's short form of two letters for the scheduler.
func managedBy(word string) (*managed, bool) {
	all := managedObjects()
	words := make([]string, len(all))
	for i, m := range all {
		words[i] = m.word + "s"
	}
	full, ok := expand(word, words)
	for i := range all {
		if word == "sc" && all[i].word == "sched" || ok && words[i] == full {
			m := &all[i]
			m.render.Word, m.render.Settable, m.render.Listed = m.word, m.settable, m.listed
			return m, true
		}
	}
	return nil, false
}
