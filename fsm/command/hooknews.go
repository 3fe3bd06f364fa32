package command

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// HooksTold says that a mom has all hooks and resource definitions of a generation.
type HooksTold struct {
	Host       pbs.HostName `cbor:"1,keyasint"`
	Registered uint64       `cbor:"2,keyasint"` // of the host when it was told: a later registration wants it again
	Generation uint64       `cbor:"3,keyasint"`
	Sent       []string     `cbor:"4,keyasint,omitempty"` // names of the files that it did not have
	Deleted    []string     `cbor:"5,keyasint,omitempty"` // names of those that it has removed
}

// Apply notes it. A report of a mom that has registered again since is ignored.
func (c *HooksTold) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	h, ok := tx.Host(c.Host)
	if !ok || h.Registered != c.Registered || c.Generation <= h.Hooks {
		return nil
	}
	next := *h
	next.Hooks = c.Generation
	tx.PutHost(&next)
	for _, name := range c.Sent {
		tx.Emit(state.Event{Kind: state.HookFileSent, Object: name, Text: momOf(h)})
	}
	for _, name := range c.Deleted {
		tx.Emit(state.Event{Kind: state.HookFileDeleted, Object: name, Text: momOf(h)})
	}
	return nil
}

// momOf returns a mom as logs name it: HOST:PORT with its name, whatever address it is reached by.
func momOf(h *state.Host) string {
	if i := strings.LastIndexByte(h.Address, ':'); i >= 0 {
		return string(h.Name) + h.Address[i:]
	}
	return string(h.Name)
}

// HookTasksDone forgets events whose hooks have run.
type HookTasksDone struct {
	Seqs []uint64 `cbor:"1,keyasint"`
}

// Apply forgets them.
func (c *HookTasksDone) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	for _, seq := range c.Seqs {
		tx.DeleteHookTask(seq)
	}
	return nil
}

// HookWishes are what hooks on a mom want of vnodes and jobs (specification: hooks section 5).
type HookWishes struct {
	Source  Source         `cbor:"1,keyasint"`
	Hook    string         `cbor:"2,keyasint"`
	Vnodes  []HookVnode    `cbor:"3,keyasint,omitempty"`
	Offline string         `cbor:"4,keyasint,omitempty"` // comment with which the host's vnodes go offline; empty: they do not
	Clear   string         `cbor:"5,keyasint,omitempty"` // comment that such vnodes have which are to be cleared
	Restart bool           `cbor:"6,keyasint,omitempty"` // a scheduling cycle is wanted
	Rerun   []ReportedTask `cbor:"7,keyasint,omitempty"`
	Delete  []ReportedTask `cbor:"8,keyasint,omitempty"`
	Jobs    []HookJob      `cbor:"9,keyasint,omitempty"`
	Run     *ReportedTask  `cbor:"10,keyasint,omitempty"` // at whose events the hook has run
	Kept    []ReportedTask `cbor:"11,keyasint,omitempty"` // runs whose deletion hooks have refused
	Why     string         `cbor:"12,keyasint,omitempty"` // they have, or do not let go on, in their words
	Stopped []ReportedTask `cbor:"13,keyasint,omitempty"` // runs that hooks do not let go on after a suspension
}

// A HookVnode is a vnode as a hook wants it.
type HookVnode struct {
	Name  pbs.VnodeName `cbor:"1,keyasint"`
	Set   attr.List     `cbor:"2,keyasint,omitempty"`
	Unset []string      `cbor:"3,keyasint,omitempty"` // NAME or NAME.RESOURCE
	Types attr.List     `cbor:"4,keyasint,omitempty"` // of resources that may not be known yet, by name
}

// Apply changes the vnodes that the mom owns; one that is not known is made for it.
func (c *HookWishes) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	fresh, err := c.Source.take(tx, res)
	if err != nil || !fresh {
		return err
	}
	for _, v := range c.Vnodes {
		c.vnode(tx, m, v)
	}
	if c.Offline != "" || c.Clear != "" {
		c.offline(tx, m)
	}
	if c.Restart { // the commit itself begins the cycle
		tx.Emit(state.Event{Kind: state.HookAsked, Object: string(c.Source.Host), Text: RestartsCycle(c.Hook)})
	}
	for _, w := range c.Jobs { // before its end, so that holds count
		c.job(tx, m, w)
	}
	for _, t := range c.Kept {
		c.keep(tx, t)
	}
	m.Asker = pbs.User{Name: "root", Host: c.Source.Host} // as which hooks run
	for _, t := range c.Stopped {
		c.stop(tx, m, t)
	}
	for _, t := range c.Rerun {
		c.ask(tx, "rerun", t)
		if j, ok := c.run(tx, t); ok && j.Live() {
			again := RerunJob{Job: j.ID}
			if err := again.Apply(tx, m, &state.Result{}); err != nil && pbs.CodeOf(err) == pbs.SystemError {
				return err
			}
		}
	}
	for _, t := range c.Delete {
		c.ask(tx, "delete", t)
		if j, ok := c.run(tx, t); ok {
			end := DeleteJob{Job: j.ID}
			if err := end.Apply(tx, m, &state.Result{}); err != nil && pbs.CodeOf(err) == pbs.SystemError {
				return err
			}
		}
	}
	return nil
}

// RestartsCycle returns what the log says of a hook that wants a scheduling cycle, in PBS's words.
func RestartsCycle(hook string) string {
	return "hook '" + hook + "' requested for scheduler to restart cycle"
}

func (c *HookWishes) ask(tx *state.Tx, what string, t ReportedTask) {
	tx.Emit(state.Event{Kind: state.HookAsked, Object: string(c.Source.Host), Text: "hook request " + what + " " + string(t.Job)})
}

// run returns the job if the run is its present one, or its last, and the mom has a part in it
// (L2). A sister may be heard when its mother superior has ended the run already.
func (c *HookWishes) run(tx *state.Tx, t ReportedTask) (*state.Job, bool) {
	j, ok := tx.Job(t.Job)
	if !ok || j.RunCount != t.RunCount {
		return nil, false
	}
	last := slices.ContainsFunc(j.Unconfirmed, state.HostRun{Host: c.Source.Host, RunCount: t.RunCount}.Same)
	return j, partOf(j, c.Source.Host, t.RunCount) || !j.Live() && last
}

// ofOthers returns what a mom may do to a vnode of another host: the mother superior of a run that starts
// takes one of the run out of service, and nothing else (specification: reliable-startup section 6).
func (c *HookWishes) ofOthers(tx *state.Tx, w HookVnode) HookVnode {
	may := HookVnode{Name: w.Name}
	if c.Run == nil {
		return may
	}
	j, ok := tx.Job(c.Run.Job)
	if !ok || !j.Is(c.Run.RunCount) || j.Run.MS != c.Source.Host || tolerates(j) == "" {
		return may
	}
	p := j.Run.Phases
	if value, ok := w.Set.Get("state", ""); ok && (j.Run.ExecVnode.Has(w.Name) || p != nil && p.Orig.ExecVnode.Has(w.Name)) {
		may.Set = may.Set.Set("state", "", value)
	}
	return may
}

// vnode changes one vnode as far as the mom may: what cannot be taken is left out.
func (c *HookWishes) vnode(tx *state.Tx, m Meta, w HookVnode) {
	host := c.Source.Host
	if w.Name == pbs.VnodeName(host) { // hooks on the mom know its natural vnode by the host's name
		w.Name = tx.NaturalVnode(host)
	}
	v, ok := tx.Vnode(w.Name)
	switch {
	case ok && v.Host != host:
		may := c.ofOthers(tx, w)
		if len(may.Set) < len(w.Set) || len(w.Unset) > 0 || len(may.Set) == 0 {
			tx.Emit(state.Event{
				Kind: state.HookVnodeRefused, Object: string(host),
				Text: "Not allowed to update vnode '" + string(w.Name) + "', as it is owned by a different mom",
			})
		}
		if len(may.Set) == 0 {
			return
		}
		w = may
	case !ok && !w.Name.Valid():
		return
	case !ok:
		v = &state.Vnode{Name: w.Name, Host: host, Seq: tx.NextSeq(), LastStateChange: m.At, ByHook: true}
		tx.Emit(state.Event{Kind: state.HookVnodeChanged, Object: string(host), Text: "autocreated vnode " + string(w.Name)})
	}
	next := *v
	for _, e := range w.Set {
		c.setVnode(tx, m, &next, w, e)
	}
	for _, name := range w.Unset {
		base, res, _ := strings.Cut(name, ".")
		_ = editVnode(tx, &next, AttrChange{Op: OpUnset, Entry: attr.Entry{Name: base, Resource: res}}, m.At)
	}
	next.OverCommitted = overCommitted(tx, &next)
	tx.PutVnode(&next)
}

func (c *HookWishes) setVnode(tx *state.Tx, m Meta, v *state.Vnode, w HookVnode, e attr.Entry) {
	object, what := string(v.Name), "attribute "+e.Name
	switch e.Name {
	case "state":
		setFlags(v, wished(tx, v, e.Value), m.At)
	case "comment":
		v.Comment = e.Value
	case "sharing":
		if !slices.Contains(attr.Sharings(), e.Value) {
			return
		}
		v.Sharing, v.Attrs = e.Value, v.Attrs.Set(e.Name, "", e.Value)
	case "pcpus":
		if n, err := strconv.ParseUint(e.Value, 10, 31); err != nil || n == 0 {
			return
		}
		v.Attrs = v.Attrs.Set(e.Name, "", e.Value)
	case "resources_available":
		object, what = string(v.Host), "resource "+e.Name+"."+e.Resource // as PBS has it
		if !define(tx, w, e.Resource) || editAvailable(tx, v, AttrChange{Entry: e}) != nil {
			return
		}
	default: // ntype has one value, and nobody else knows the rest
		return
	}
	tx.Emit(state.Event{
		Kind: state.HookVnodeChanged, Object: object,
		Text: "Updated vnode " + string(v.Name) + "'s " + what + "=" + e.Value + " per mom hook request",
	})
}

// wished returns the conditions of a vnode that a hook has given a state. What is neither free nor offline leaves it offline
// if it is.
func wished(tx *state.Tx, v *state.Vnode, text string) state.VnodeFlags {
	var decided state.VnodeFlags
	for word := range strings.SplitSeq(text, ",") {
		decided |= decisions[word]
	}
	if decided != 0 && decided&state.VnodeOffline == 0 {
		decided |= v.Flags & state.VnodeOffline
	}
	return v.Flags&^state.VnodeDecided | decided
}

// define makes a resource that a hook has given a value and nobody has made yet.
func define(tx *state.Tx, w HookVnode, name string) bool {
	if _, ok := tx.Resource(name); ok {
		return true
	}
	word, _ := w.Types.Get(name, "")
	t, err := resource.ParseType(word)
	if err != nil || !resource.ValidName(name) {
		return false
	}
	tx.PutResource(&state.ResourceDef{Def: resource.Def{Name: name, Type: t, Flags: resource.AtHost}})
	tx.NewsForMoms()
	return true
}

// offline sets the vnodes of the host offline, or clears those that were set offline so.
func (c *HookWishes) offline(tx *state.Tx, m Meta) {
	for _, v := range vnodesOf(tx, c.Source.Host) {
		next := *v
		switch {
		case c.Offline != "":
			next.Comment = c.Offline
			setFlags(&next, v.Flags|state.VnodeOffline, m.At)
		case v.Flags&state.VnodeOffline != 0 && v.Comment == c.Clear:
			next.Comment = ""
			setFlags(&next, v.Flags&^state.VnodeOffline, m.At)
		default:
			continue
		}
		tx.PutVnode(&next)
	}
}

// hooksPending tells in the log which vnodes of a job that starts have a mom that has yet
// to get copies of hooks (specification: hooks section 3).
func hooksPending(tx *state.Tx, vnodes []pbs.VnodeName) {
	generation := tx.Cluster().HookGeneration
	if generation == 0 {
		return
	}
	for _, name := range vnodes {
		v, ok := tx.Vnode(name)
		if !ok {
			continue
		}
		if h, ok := tx.Host(v.Host); ok && h.Hooks < generation {
			tx.Emit(state.Event{
				Kind: state.HookNewsPending, Object: string(name),
				Text: "vnode " + string(name) + "'s parent mom " + momOf(h) + " has a pending copy hook or delete hook request",
			})
		}
	}
}
