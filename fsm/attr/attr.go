// Package attr owns the attribute table: every attribute of server, queue, vnode,
// job, resource, scheduler, hook and reservation once, with its type, who may read and set it, its
// default and its parser, in the order in which PBS shows them; and the options of
// qsub and qalter that set them. It does not hold values (fsm/state does), nor print
// them (cli/render does). The tables never change after the program's start, so any
// number of goroutines may use them; nothing is started, so nothing stops.
package attr

import (
	"slices"
	"strings"
	"sync"

	"rampart/fsm/pbs"
)

// An Object is a kind of thing that has attributes.
type Object uint8

// The objects.
const (
	Server Object = iota + 1
	Queue
	Vnode
	Job
	Resource
	Sched
	Hook
	Reservation
	objects
)

var objectNames = [objects]string{
	Server: "server", Queue: "queue", Vnode: "node", Job: "job", Resource: "resource", Sched: "sched", Hook: "hook", Reservation: "resv",
}

// String returns qmgr's word for the object.
func (o Object) String() string {
	if o == 0 || o >= objects {
		return "?"
	}
	return objectNames[o]
}

// A Perm is the privilege of a user, or the least privilege that is needed. The zero value is the
// server itself.
type Perm uint8

// The permissions.
const (
	ServerOnly Perm = iota
	User
	Operator
	Manager
)

// Allows reports whether who satisfies the permission.
func (p Perm) Allows(who Perm) bool { return p != ServerOnly && who >= p }

// A Type says what the values of an attribute look like.
type Type uint8

// The types.
const (
	Text      Type = iota + 1
	Number         // a whole number
	Boolean        // True, False
	Duration       // HH:MM:SS
	Epoch          // a moment: seconds since the epoch, shown as a date
	Array          // items separated by commas; += appends, -= removes
	Resources      // one value per resource
	Variables      // NAME=VALUE separated by commas, with backslashes before commas in values
	Limits         // [u:NAME=N],[g:NAME=N]; per resource if the name ends in _res
)

// A Def defines an attribute.
type Def struct {
	Object       Object
	Name         string
	Type         Type
	Read, Write  Perm
	Shareable    bool   // a value may be @VNODE: the amount of that vnode
	AlterRunning bool   // may be altered while the job runs; of Resource_List command.alterableWhileRunning decides
	OnCreate     bool   // Write holds only when the object is made
	Fixed        bool   // of the default scheduler it can be unset only: there it follows from where the leader runs
	Hidden       bool   // shown only with show_hidden_attribs, or if asked for
	Default      string // shown and in force when unset
	Implied      string // in force when unset, and not shown
	Level        uint32 // feature level of the cluster from which it may be set; 0: always
	// Parse returns the canonical text of a value, or refuses it with a message that
	// names the attribute. Attributes with resources use ParseResource.
	Parse func(text string) (string, error)
}

// A row is one line of a table: a Def and what becomes its Parse.
type row struct {
	Def
	parse   func(text string) (string, bool)  // nil: by type
	refusal pbs.Code                          // 0: BadAttributeValue, naming the attribute
	explain func(text string) (string, error) // instead of parse: it has words of its own
}

type index struct {
	all    []*Def
	byName map[string]*Def
}

// tables is built from the literal rows at its first use, since most commands of users
// have none, and only read afterwards.
var tables = sync.OnceValue(func() *[objects]index {
	return &[objects]index{
		Server:      build(Server, serverRows()),
		Queue:       build(Queue, queueRows()),
		Vnode:       build(Vnode, vnodeRows()),
		Job:         build(Job, jobRows()),
		Resource:    build(Resource, resourceRows()),
		Sched:       build(Sched, schedRows()),
		Hook:        build(Hook, hookRows()),
		Reservation: build(Reservation, resvRows()),
	}
})

func build(o Object, rows []row) index {
	x := index{byName: make(map[string]*Def, len(rows))}
	for _, r := range rows {
		d := r.Def
		d.Object = o
		d.Parse = r.parser()
		x.all = append(x.all, &d)
		x.byName[d.Name] = &d
	}
	return x
}

func (r row) parser() func(string) (string, error) {
	if r.explain != nil {
		return r.explain
	}
	parse, refusal := r.parse, error(pbs.Attribute(pbs.BadAttributeValue, r.Name))
	if parse == nil {
		parse = parserOf(r.Type)
	}
	if r.refusal != 0 {
		refusal = pbs.Refuse(r.refusal)
	}
	return func(text string) (string, error) {
		if canonical, ok := parse(text); ok {
			return canonical, nil
		}
		return "", refusal
	}
}

// Lookup returns the attribute of the object with the name.
func Lookup(o Object, name string) (*Def, bool) {
	if o >= objects {
		return nil, false
	}
	d, ok := tables()[o].byName[name]
	return d, ok
}

// Find is Lookup of a name as people write it: upper and lower case are the same to PBS.
func Find(o Object, name string) (*Def, bool) {
	if d, ok := Lookup(o, name); ok {
		return d, true
	}
	all := All(o)
	i := slices.IndexFunc(all, func(d *Def) bool { return strings.EqualFold(d.Name, name) })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

// All returns the attributes of the object in the order in which PBS shows them.
// The slice is shared: read it only.
func All(o Object) []*Def {
	if o >= objects {
		return nil
	}
	return slices.Clip(tables()[o].all)
}

// WhenUnset returns the value in force when the attribute is not set.
func (d *Def) WhenUnset() string {
	if d.Default != "" {
		return d.Default
	}
	return d.Implied
}

// Defaults returns the entries with which a new object of the kind begins: what
// unsetting takes away for good, unlike Def.Default.
func Defaults(o Object) List {
	if o != Server {
		return nil
	}
	return List{
		{Name: "default_chunk", Resource: "ncpus", Value: "1"},
		{Name: "default_queue", Value: "workq"},
		{Name: "node_fail_requeue", Value: "310"}, // here, since unset means never
		{Name: "resources_default", Resource: "ncpus", Value: "1"},
		{Name: "timezone", Value: "UTC"},
	}
}
