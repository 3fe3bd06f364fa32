package pbs

import (
	"rampart/cli/render"
	"rampart/fsm/attr"
	"rampart/transport/api"
)

// A managed is a kind of object that qmgr knows.
type managed struct {
	word   string
	kind   api.ObjectKind
	table  attr.Object
	single bool // the name may be left out
	later  bool // of a feature that is yet to come
	render render.Kind
}

func (m *managed) printed(a *api.Attribute) bool {
	def, ok := attr.Lookup(m.table, a.Name)
	return ok && def.Write != attr.ServerOnly && !def.OnCreate
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
			render: render.Kind{Title: "Node", Plural: "nodes", What: "properties", Besides: "Mom"},
		},
		{
			word: "resource", kind: api.ObjectKind_OBJECT_KIND_RESOURCE, table: attr.Resource,
			render: render.Kind{Title: "Resource", Plural: "resources", What: "properties"},
		},
		{
			word: "sched", kind: api.ObjectKind_OBJECT_KIND_SCHED, table: attr.Sched, single: true,
			render: render.Kind{Title: "Sched", Define: "scheduler", Unnamed: true},
		},
		{
			word: "hook", kind: api.ObjectKind_OBJECT_KIND_HOOK, table: attr.Hook,
			render: render.Kind{Title: "Hook", Plural: "hooks", What: "properties"},
		},
		{
			word: "pbshook", kind: api.ObjectKind_OBJECT_KIND_PBSHOOK, table: attr.Hook,
			render: render.Kind{Title: "Hook", What: "properties"},
		},
	}
}

// managedBy returns the object type by its word, an abbreviation, or PBS's short
// form of two letters for the scheduler.
func managedBy(word string) (*managed, bool) {
	all := managedObjects()
	words := make([]string, len(all))
	for i, m := range all {
		words[i] = m.word
	}
	full, ok := expand(word, words)
	for i := range all {
		if word == "sc" && all[i].word == "sched" || ok && all[i].word == full {
			m := &all[i]
			m.render.Word, m.render.Printed, m.render.Listed = m.word, m.printed, m.listed
			return m, true
		}
	}
	return nil, false
}
