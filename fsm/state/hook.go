package state

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// A Hook is a script that runs at events (specification: hooks section 1).
type Hook struct {
	Name     string      `cbor:"1,keyasint"`
	Seq      uint64      `cbor:"2,keyasint"` // order of creation
	Attrs    attr.List   `cbor:"3,keyasint,omitempty"`
	Script   HookFileSum `cbor:"4,keyasint,omitempty"`
	Config   HookFileSum `cbor:"5,keyasint,omitempty"`
	Suffix   string      `cbor:"6,keyasint,omitempty"` // of the file that a configuration was read from; nobody reads it, and only old entries have it
	Modified uint64      `cbor:"7,keyasint,omitempty"` // index of the last change
}

// A HookFileSum tells which content a hook's file has, without the content.
type HookFileSum struct {
	Sum  string `cbor:"1,keyasint,omitempty"` // SHA-256, hexadecimal; empty: there is no file
	Size uint64 `cbor:"2,keyasint,omitempty"` // bytes
}

// A HookFileKind tells a hook's files apart. The numbers are in every log and snapshot.
type HookFileKind uint8

// The files of a hook.
const (
	HookScript HookFileKind = iota + 1
	HookConfig
)

// A HookFile is the content of one file of a hook, apart from the hook so that lists of
// hooks stay short.
type HookFile struct {
	Hook string       `cbor:"1,keyasint"`
	Kind HookFileKind `cbor:"2,keyasint"`
	Body []byte       `cbor:"3,keyasint"`
}

// A HookTask is an event that was committed and at which hooks of the leader have still to
// run: at least once, whoever leads by then.
type HookTask struct {
	Seq   uint64        `cbor:"1,keyasint"`
	Event string        `cbor:"2,keyasint"`
	At    pbs.Time      `cbor:"3,keyasint"`
	By    pbs.User      `cbor:"4,keyasint,omitempty"` // who asked
	Job   pbs.JobID     `cbor:"5,keyasint,omitempty"`
	Vnode pbs.VnodeName `cbor:"6,keyasint,omitempty"`
	Attrs attr.List     `cbor:"7,keyasint,omitempty"` // of the object as it was then
	Old   attr.List     `cbor:"8,keyasint,omitempty"` // of a vnode before

	Reservation pbs.ReservationID `cbor:"9,keyasint,omitempty"`
}

// MaxHookTasks bounds the events that wait for their hooks: while none can run, the oldest
// make room.
const MaxHookTasks = 10_000

// Cgroups is the built-in hook whose work the mom does itself.
const Cgroups = "pbs_cgroups"

// builtinHooks are there as long as nobody has changed them.
var builtinHooks = map[string]*Hook{
	Cgroups: {Name: Cgroups, Attrs: attr.List{
		{Name: "alarm", Value: "90"},
		{Name: "enabled", Value: "false"},
		{Name: "event", Value: "execjob_begin,execjob_epilogue,execjob_end,execjob_launch,execjob_attach,execjob_resize,execjob_abort,execjob_postsuspend,execjob_preresume,exechost_periodic,exechost_startup"},
		{Name: "fail_action", Value: attr.FailOffline},
		{Name: "order", Value: "100"},
		{Name: "type", Value: attr.HookPBS},
	}},
}

// Get returns an attribute of the hook, its default if it is not set.
func (h *Hook) Get(name string) string { return attrValue(attr.Hook, h.Attrs, name) }

// Int returns an attribute of the hook that is a number.
func (h *Hook) Int(name string) int64 {
	n, _ := strconv.ParseInt(h.Get(name), 10, 64)
	return n
}

// Builtin reports whether the hook is one of type pbs.
func (h *Hook) Builtin() bool { return h.Get("type") == attr.HookPBS }

// Enabled reports whether the hook runs at its events.
func (h *Hook) Enabled() bool { return h.Get("enabled") == "true" }

// Events returns the names of the events at which the hook runs.
func (h *Hook) Events() []string {
	if text := h.Get("event"); text != "" {
		return strings.Split(text, ",")
	}
	return nil
}

// Bits returns the events as a set.
func (h *Hook) Bits() (bits uint64) {
	for _, name := range h.Events() {
		if e, ok := attr.LookupHookEvent(name); ok {
			bits |= e.Bit
		}
	}
	return bits
}

// OnMoms reports whether moms have copies of the hook: of a built-in one when somebody has
// changed it, for it steers what they do.
func (h *Hook) OnMoms() bool { return h.Bits()&momBits() != 0 && (!h.Builtin() || h.Seq != 0) }

func momBits() (bits uint64) {
	for _, e := range attr.HookEvents() {
		if e.Mom {
			bits |= e.Bit
		}
	}
	return bits
}

// Periodic reports whether freq means anything.
func (h *Hook) Periodic() bool {
	return slices.ContainsFunc(h.Events(), func(e string) bool { return e == "exechost_periodic" || e == "periodic" })
}

// HookAttributes returns the attributes of a hook in the order of list hook.
func HookAttributes(h *Hook) attr.List {
	var out attr.List
	for _, def := range attr.All(attr.Hook) {
		value := h.Get(def.Name)
		switch {
		case def.Name == "freq" && !h.Periodic():
			continue
		case value == "":
			value = `""`
		}
		out = append(out, attr.Entry{Name: def.Name, Value: value})
	}
	return out
}

// Hook returns a hook; built-in ones are always there.
func (t *tables) Hook(name string) (*Hook, bool) {
	if h, ok := t.hooks.get(&Hook{Name: name}); ok {
		return h, true
	}
	h, ok := builtinHooks[name]
	return h, ok
}

// Hooks yields all hooks, built-in ones first, in the order of their creation.
func (t *tables) Hooks() iter.Seq[*Hook] {
	var all []*Hook
	for _, h := range builtinHooks {
		if _, ok := t.hooks.get(h); !ok {
			all = append(all, h)
		}
	}
	for h := range t.hooks.all() {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *Hook) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Name, b.Name)) })
	return slices.Values(all)
}

// HooksAt returns the enabled hooks of an event that have a script, in the order in which
// they run: by order, then by creation.
func (t *tables) HooksAt(event string) []*Hook {
	if !t.HasHooksAt(event) {
		return nil
	}
	var all []*Hook
	for h := range t.hooks.all() {
		if h.Enabled() && h.Script.Sum != "" && slices.Contains(h.Events(), event) {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b *Hook) int {
		return cmp.Or(cmp.Compare(a.Int("order"), b.Int("order")), cmp.Compare(a.Seq, b.Seq))
	})
	return all
}

// HasHooksAt tells, without looking at the hooks, whether any runs at the event.
func (t *tables) HasHooksAt(event string) bool {
	if t.cluster.HookEvents == 0 {
		return false
	}
	e, ok := attr.LookupHookEvent(event)
	return ok && t.cluster.HookEvents&e.Bit != 0
}

// HookFile returns the content of a hook's file. It is not to be written to.
func (t *tables) HookFile(hook string, kind HookFileKind) ([]byte, bool) {
	f, ok := t.hookFiles.get(&HookFile{Hook: hook, Kind: kind})
	if !ok {
		return nil, false
	}
	return f.Body, true
}

// HookTasks yields the events that wait for their hooks, the oldest first.
func (t *tables) HookTasks() iter.Seq[*HookTask] { return t.hookTasks.all() }

// ofNewJob reports whether hooks of postqueuejob have still to see the job of the event.
func (t *HookTask) ofNewJob() bool { return t.Event == "postqueuejob" }

// NewToHooks yields the jobs that hooks of postqueuejob have still to see; one may come twice.
func (t *tables) NewToHooks() iter.Seq[pbs.JobID] {
	return func(yield func(pbs.JobID) bool) {
		for task := range t.unseen.all() {
			if !yield(task.Job) {
				return
			}
		}
	}
}

// IsNewToHooks reports whether hooks of postqueuejob have still to see a job.
func (t *tables) IsNewToHooks(id pbs.JobID) bool {
	task, ok := t.unseen.at(&HookTask{Job: id})
	return ok && task.Job == id
}

// PutHook stores a hook. Moms get what concerns them anew.
func (tx *Tx) PutHook(h *Hook) {
	h.Modified = tx.index
	old, delta := tx.hooks.put(h)
	tx.digest += delta
	tx.hooksChanged(h.OnMoms() || old != nil && old.OnMoms())
}

// DeleteHook removes a hook and its files.
func (tx *Tx) DeleteHook(name string) {
	for _, kind := range []HookFileKind{HookScript, HookConfig} {
		tx.DeleteHookFile(name, kind)
	}
	old, delta := tx.hooks.remove(&Hook{Name: name})
	tx.digest += delta
	tx.hooksChanged(old != nil && old.OnMoms())
}

// PutHookFile stores the content of a hook's file.
func (tx *Tx) PutHookFile(f *HookFile) {
	_, delta := tx.hookFiles.put(f)
	tx.digest += delta
}

// DeleteHookFile drops the content of a hook's file.
func (tx *Tx) DeleteHookFile(hook string, kind HookFileKind) {
	_, delta := tx.hookFiles.remove(&HookFile{Hook: hook, Kind: kind})
	tx.digest += delta
}

// NewsForMoms makes all moms be told anew what they have to know of hooks and resources.
func (tx *Tx) NewsForMoms() { tx.EditCluster().HookGeneration++ }

// RecountHooks finds out at which events hooks run.
func (tx *Tx) RecountHooks() { tx.hooksChanged(true) }

func (tx *Tx) hooksChanged(moms bool) {
	var bits uint64
	for h := range tx.hooks.all() {
		if h.Enabled() && h.Script.Sum != "" && !h.Builtin() {
			bits |= h.Bits()
		}
	}
	if tx.cluster.HookEvents != bits {
		tx.EditCluster().HookEvents = bits
	}
	if moms {
		tx.NewsForMoms()
	}
}

// PutHookTask notes that hooks of an event have still to run, if there are any.
func (tx *Tx) PutHookTask(task *HookTask) {
	if !tx.HasHooksAt(task.Event) {
		return
	}
	task.Seq, task.At = tx.NextSeq(), tx.Now()
	old, delta := tx.hookTasks.put(task)
	tx.digest += delta
	tx.unseen.move(old, task, (*HookTask).ofNewJob)
	if oldest, ok := tx.hookTasks.first(); ok && tx.hookTasks.count() > MaxHookTasks {
		tx.DeleteHookTask(oldest.Seq)
	}
}

// DeleteHookTask forgets an event whose hooks have run.
func (tx *Tx) DeleteHookTask(seq uint64) {
	old, delta := tx.hookTasks.remove(&HookTask{Seq: seq})
	tx.digest += delta
	tx.unseen.move(old, nil, (*HookTask).ofNewJob)
}
