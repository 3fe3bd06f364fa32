package command

import (
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ManageVnode creates, deletes and changes a vnode: qmgr and pbsnodes.
type ManageVnode struct {
	Verb    Verb          `cbor:"1,keyasint"`
	Vnode   pbs.VnodeName `cbor:"2,keyasint"`
	Changes []AttrChange  `cbor:"3,keyasint,omitempty"`
}

// Apply changes the vnode; one with jobs cannot be deleted.
func (c *ManageVnode) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	v, ok := tx.Vnode(c.Vnode)
	changes := c.Changes
	switch c.Verb {
	case VerbCreate:
		var host pbs.HostName
		host, changes = c.mom(tx)
		switch {
		case ok && (v.Host != host || !asReported(tx, v)):
			return pbs.Refuse(pbs.NodeExists)
		case !c.Vnode.Valid():
			return pbs.Refuse(pbs.BadAttributeValue)
		case !ok: // what the mom reports of it comes with the next registration
			v = &state.Vnode{
				Name: c.Vnode, Host: host, Seq: tx.NextSeq(),
				Flags: state.VnodeDown | state.VnodeUnknown, LastStateChange: m.At,
			}
			takeBack(tx, v)
		}
	case VerbSet, VerbUnset:
		if !ok {
			return pbs.Refuse(pbs.UnknownNode)
		}
	case VerbDelete:
		if !ok {
			return pbs.Refuse(pbs.UnknownNode)
		}
		if inService(tx, v) {
			return pbs.Refuse(pbs.BusyObject)
		}
		tx.DeleteVnode(v.Name)
		remove(tx, v, true)
		tell(tx, m, "node "+string(c.Vnode), c.Verb, nil)
		return nil
	default:
		return pbs.Refuse(pbs.InvalidRequest)
	}
	next := *v
	for _, ch := range changes {
		if err := editVnode(tx, &next, ch, m.At); err != nil {
			return err
		}
	}
	if err := onePartition(tx, v, &next); err != nil {
		return err
	}
	next.OverCommitted = overCommitted(tx, &next)
	tx.PutVnode(&next)
	tell(tx, m, "node "+string(c.Vnode), c.Verb, c.Changes)
	return nil
}

// inService reports whether jobs or reservations have a vnode, or are to have it.
func inService(tx *state.Tx, v *state.Vnode) bool {
	return len(v.Jobs) > 0 || tx.Lends(v) || promised(tx, v)
}

// onePartition refuses to move a vnode that is in service, and a vnode to be of one partition and its queue of another: none
// of the queue's jobs could run there.
func onePartition(tx *state.Tx, old, v *state.Vnode) error {
	queue, part := v.Get("queue"), v.Partition()
	if part == state.DefaultPartition && part != old.Partition() {
		return pbs.Refuse(pbs.DefaultPartition)
	}
	if part != "" && part != old.Partition() && inService(tx, old) {
		return pbs.Refuse(pbs.NodeBusy)
	}
	if queue == "" || part == "" || queue == old.Get("queue") && part == old.Get("partition") {
		return nil
	}
	q, ok := tx.Queue(pbs.QueueName(queue))
	switch {
	case !ok, q.Get("partition") == "", q.Get("partition") == part:
		return nil
	case queue != old.Get("queue"):
		return pbs.Errorf(pbs.PartitionApart, "Partition %s is not part of queue for node", part)
	}
	return pbs.Errorf(pbs.QueueApart, "Queue %s is not part of partition for node", queue)
}

// asReported tells of a vnode beside the natural one that it is no more than its mom has told.
// To make it is no mistake then: of what qmgr has printed of the vnodes of a host, the first
// line may have the mom report the others before theirs are read.
func asReported(tx *state.Tx, v *state.Vnode) bool {
	return v.Name != tx.NaturalVnode(v.Host) && !v.ByHook &&
		len(v.Configured)+len(v.Attrs)+len(v.Jobs) == 0 && v.Comment == "" && v.Flags&state.VnodeDecided == 0
}

// takeBack lets the mom of a natural vnode that is made again report its other vnodes.
func takeBack(tx *state.Tx, v *state.Vnode) { remove(tx, v, false) }

// remove notes of a host that its natural vnode was deleted, or was made again: a mom
// whose vnodes were deleted would else make them anew with its next registration.
func remove(tx *state.Tx, v *state.Vnode, removed bool) {
	h, ok := tx.Host(v.Host)
	if !ok || v.Name != tx.NaturalVnode(v.Host) || h.Removed == removed {
		return
	}
	next := *h
	if next.Removed = removed; removed {
		next.Natural = "" // whichever vnode is made next
	}
	tx.PutHost(&next)
}

// mom returns the host to which a new vnode belongs, which Mom names or the vnode's own name
// is, and the other changes. A host goes by its name, and by the one that its mom gives its natural vnode.
func (c *ManageVnode) mom(tx *state.Tx) (host pbs.HostName, rest []AttrChange) {
	host = pbs.HostName(c.Vnode)
	if _, known := tx.Host(host); !known {
		for h := range tx.Hosts() {
			if h.NodeName == c.Vnode {
				host = h.Name
				break
			}
		}
	}
	for _, ch := range c.Changes {
		if ch.Entry.Name == "Mom" {
			host = pbs.HostName(ch.Entry.Value)
			continue
		}
		rest = append(rest, ch)
	}
	return host, rest
}

func editVnode(tx *state.Tx, v *state.Vnode, ch AttrChange, at pbs.Time) error {
	e := ch.Entry
	switch e.Name {
	case "state":
		return editVnodeState(tx, v, ch, at)
	case "comment":
		v.Comment = e.Value
		if ch.Op == OpUnset {
			v.Comment = ""
		}
	case "resv_enable":
		v.Unreserved = ch.Op != OpUnset && e.Value == "False"
	case "sharing":
		v.Sharing = e.Value
	case "resources_available":
		return editAvailable(tx, v, ch)
	default:
		list, err := editOne(tx, attr.Vnode, v.Attrs, ch)
		if err != nil {
			return err
		}
		v.Attrs = list
	}
	return nil
}

// decisions are the conditions that people and hooks decide, by the words of state.
var decisions = map[string]state.VnodeFlags{"free": 0, "offline": state.VnodeOffline, "down": state.VnodeSetDown, "sleep": state.VnodeAsleep}

// editVnodeState sets and clears what people decide of a vnode.
func editVnodeState(tx *state.Tx, v *state.Vnode, ch AttrChange, at pbs.Time) error {
	if ch.Op == OpUnset {
		setFlags(v, v.Flags&^state.VnodeDecided, at)
		return nil
	}
	words := strings.Split(ch.Entry.Value, ",")
	var decided state.VnodeFlags
	for _, word := range words {
		flag, ok := decisions[word]
		if !ok || word == "free" && (len(words) > 1 || ch.Op != OpSet) {
			return pbs.Refuse(pbs.BadNodeState)
		}
		decided |= flag
	}
	switch ch.Op {
	case OpIncrease:
		decided |= v.Flags
	case OpDecrease:
		decided = v.Flags &^ decided
	default:
		decided |= v.Flags &^ state.VnodeDecided
	}
	setFlags(v, decided, at)
	return nil
}

func editAvailable(tx *state.Tx, v *state.Vnode, ch AttrChange) error {
	e := ch.Entry
	if target, ok := state.Target(e.Value); ok && ch.Op != OpUnset {
		if err := mayShare(tx, v, ch, target); err != nil {
			return err
		}
		v.Configured = v.Configured.Set(e.Resource, e.Value)
		return nil
	}
	if ch.Op == OpUnset {
		if e.Resource == "" {
			v.Configured = nil
		} else {
			v.Configured = v.Configured.Unset(e.Resource)
		}
		return nil
	}
	value, err := checkedValue(tx, e)
	if err != nil {
		return err
	}
	if ch.Op != OpSet {
		old, _ := v.Available().Get(e.Resource)
		def, _ := attr.Lookup(attr.Vnode, e.Name)
		if value, err = combined(tx, def, e, old, value, ch.Op); err != nil {
			return err
		}
		if value, err = checkedResult(tx, def, e, value); err != nil {
			return err
		}
	}
	v.Configured = v.Configured.Set(e.Resource, value)
	return nil
}

// mayShare refuses an amount that no vnode can share: resources_available.RES = @VNODE.
func mayShare(tx *state.Tx, v *state.Vnode, ch AttrChange, target pbs.VnodeName) error {
	res := ch.Entry.Resource
	name := ch.Entry.Name + "." + res
	def, ok := tx.Resource(res)
	if !ok {
		return pbs.Attribute(pbs.UnknownResource, name)
	}
	bad := func(why string) error {
		return pbs.Errorf(pbs.BadAttributeValue, "%v: %s", pbs.Attribute(pbs.BadAttributeValue, name), why)
	}
	if !def.AtVnodes() {
		return bad("only what is consumed at vnodes can be shared")
	}
	if ch.Op != OpSet {
		return bad("what is shared can be set, not added to")
	}
	if target == v.Name {
		return bad("vnode " + string(v.Name) + " cannot share with itself")
	}
	other, ok := tx.Vnode(target)
	if !ok {
		return pbs.Errorf(pbs.UnknownNode, "Unknown node %s", target)
	}
	if _, again := other.Indirect(res); again {
		return bad("vnode " + string(target) + " shares the amount of another vnode itself")
	}
	if _, has := other.Available().Get(res); !has {
		return bad("vnode " + string(target) + " has none")
	}
	for w := range tx.Sharers() {
		if to, ok := w.Indirect(res); ok && to == v.Name {
			return bad("vnode " + string(w.Name) + " shares the amount of " + string(v.Name))
		}
	}
	return nil
}
