package command

import (
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// ManageResource creates, deletes and changes a custom resource: qmgr.
type ManageResource struct {
	Verb    Verb         `cbor:"1,keyasint"`
	Name    string       `cbor:"2,keyasint"`
	Changes []AttrChange `cbor:"3,keyasint,omitempty"`
}

// Apply changes the resource. One that a job names, or that suspended jobs are to release,
// cannot be deleted; of others it is unset wherever it is set. One that is in use at all
// keeps its type and what it means; who may see and set it can change.
func (c *ManageResource) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if !resource.ValidName(c.Name) {
		return pbs.Refuse(pbs.BadAttributeValue)
	}
	def, known := tx.Resource(c.Name)
	switch {
	case c.Verb == VerbCreate && known && def.Raises(): // it is load until then
		if err := deletable(tx, c.Name); err != nil {
			return err
		}
		def = resource.Def{Name: c.Name, Type: resource.String}
	case c.Verb == VerbCreate && known && def.Builtin && resource.Creatable(c.Name):
		def.Builtin = false
	case c.Verb == VerbCreate && known:
		return pbs.Refuse(pbs.DuplicateEntry)
	case c.Verb == VerbCreate:
		def = resource.Def{Name: c.Name, Type: resource.String}
	case !known:
		return pbs.Refuse(pbs.UnknownResource)
	case def.Builtin:
		return pbs.Refuse(pbs.ReadOnlyAttribute)
	case c.Verb == VerbDelete:
		if err := deletable(tx, c.Name); err != nil {
			return err
		}
		unsetResource(tx, c.Name)
		tx.DeleteResource(c.Name)
		resourcesChanged(tx)
		tell(tx, m, "resource "+c.Name, c.Verb, nil)
		return nil
	}
	next, err := c.edit(def)
	if err != nil {
		return err
	}
	if own, ok := resource.Lookup(c.Name); ok && !own.Raises() && (next.Type != own.Type || next.Flags&own.Flags != own.Flags) {
		return pbs.Errorf(pbs.BadAttributeValue, "%s is type=%s,flag=%s", c.Name, own.Type, own.Flags)
	}
	if known && meaning(next) != meaning(def) && inUse(tx, c.Name) {
		return pbs.Refuse(pbs.ResourceBusy)
	}
	if err := next.Check(); err != nil {
		return err
	}
	tx.PutResource(&state.ResourceDef{Def: next})
	resourcesChanged(tx)
	tell(tx, m, "resource "+c.Name, c.Verb, c.Changes)
	return nil
}

// resourcesChanged makes moms be told.
func resourcesChanged(tx *state.Tx) {
	tx.NewsForMoms()
}

func (c *ManageResource) edit(def resource.Def) (resource.Def, error) {
	for _, ch := range c.Changes {
		var err error
		switch {
		case ch.Entry.Name == "type" && ch.Op == OpSet:
			def.Type, err = resource.ParseType(ch.Entry.Value)
		case ch.Entry.Name == "flag" && ch.Op == OpUnset:
			def.Flags = 0
		case ch.Entry.Name == "flag":
			def.Flags, err = resource.ParseFlags(ch.Entry.Value)
		default:
			err = pbs.Refuse(pbs.UndefinedAttribute)
		}
		if err != nil {
			return resource.Def{}, err
		}
	}
	return def, nil
}

// meaning returns a definition without the flags i and r.
func meaning(def resource.Def) resource.Def {
	def.Flags &^= resource.Invisible | resource.ReadOnly
	return def
}

// inUse reports whether anything names the resource.
func inUse(tx *state.Tx, name string) bool {
	if names(tx.Server().Attrs, name) {
		return true
	}
	for q := range tx.Queues() {
		if names(q.Attrs, name) {
			return true
		}
	}
	for v := range tx.Vnodes() {
		if _, ok := v.Available().Get(name); ok {
			return true
		}
	}
	return reservationNames(tx, name) || jobNames(tx, name, func(j *state.Job) bool { return j.State != pbs.Finished })
}

// jobNames reports whether one of the jobs asks for the resource, or has used it. It looks at
// every job: a resource is deleted once in its life.
func jobNames(tx *state.Tx, name string, among func(*state.Job) bool) bool {
	for j := range tx.Jobs() {
		if !among(j) {
			continue
		}
		asked, _ := j.Resources.Get("select")
		_, has := j.Resources.Get(name)
		_, used := j.LastRun().Used.Get(name)
		if has || used || selects(asked, name) || selects(j.SchedSelect, name) || names(j.Attrs, name) || mayChoose(j, name) {
			return true
		}
	}
	return false
}

// mayChoose reports whether one of the alternatives of a job asks for the resource.
func mayChoose(j *state.Job, name string) bool {
	text, _ := j.Attrs.Get(lsf.JobAlternatives, "")
	return slices.ContainsFunc(lsf.ReadAlternatives(text), func(a lsf.Alternative) bool {
		_, whole := a.Wide.Get(name)
		return whole || selects(a.Select, name)
	})
}

// reservationNames reports whether a reservation asks for the resource, or is to ask for it.
func reservationNames(tx *state.Tx, name string) bool {
	for r := range tx.Reservations() {
		asked, _ := r.Resources.Get("select")
		_, has := r.Resources.Get(name)
		if has || selects(asked, name) || selects(r.Select, name) || selects(r.First, name) {
			return true
		}
		if r.Ask == nil {
			continue
		}
		if _, has := r.Ask.Resources.Get(name); has || selects(r.Ask.Select, name) {
			return true
		}
	}
	return false
}

// selects reports whether a chunk asks for the resource.
func selects(text, name string) bool {
	if !strings.Contains(text, name) { // most do not, and to parse takes longer
		return false
	}
	sel, err := spec.ParseSelect(text)
	return err == nil && slices.ContainsFunc(sel.Chunks, func(c spec.Chunk) bool {
		_, ok := c.Items.Get(name)
		return ok
	})
}

func names(list attr.List, res string) bool {
	for _, e := range list {
		if e.Resource == res {
			return true
		}
	}
	return false
}
