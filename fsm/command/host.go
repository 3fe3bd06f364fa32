package command

import (
	"slices"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// HostUp is a mom's registration: who it is and what it offers.
type HostUp struct {
	Host          pbs.HostName    `cbor:"1,keyasint"`
	Address       string          `cbor:"2,keyasint"`
	GossipAddress string          `cbor:"3,keyasint,omitempty"`
	BootID        string          `cbor:"4,keyasint"`
	SpoolID       string          `cbor:"5,keyasint"`
	Version       string          `cbor:"6,keyasint,omitempty"`
	PCPUs         uint32          `cbor:"7,keyasint,omitempty"`
	Vnodes        []ReportedVnode `cbor:"8,keyasint,omitempty"`
	Tasks         []ReportedTask  `cbor:"9,keyasint,omitempty"`  // the runs that the mom knows and that have not ended
	Trouble       string          `cbor:"10,keyasint,omitempty"` // why it cannot take jobs
	Epoch         uint64          `cbor:"11,keyasint,omitempty"` // in which it was registered last; 0: it does not say
	Told          uint64          `cbor:"12,keyasint,omitempty"` // number of the last fact that was acknowledged to it
	Ending        []ReportedTask  `cbor:"13,keyasint,omitempty"` // runs that have ended and whose facts are to come
	For           uint64          `cbor:"14,keyasint,omitempty"` // no order of another epoch was obeyed since the runs were listed; 0: it does not say
	Busy          bool            `cbor:"15,keyasint,omitempty"` // its load is too high for new jobs
	JudgesLoad    bool            `cbor:"16,keyasint,omitempty"` // it has thresholds for that
	NodeName      pbs.VnodeName   `cbor:"17,keyasint,omitempty"` // of its natural vnode; empty: the host's
}

// ReportedTask is a run that a mom knows.
type ReportedTask struct {
	Job      pbs.JobID    `cbor:"1,keyasint"`
	RunCount pbs.RunCount `cbor:"2,keyasint"`
}

// ReportedVnode is one vnode as its mom tells of it.
type ReportedVnode struct {
	Name      pbs.VnodeName `cbor:"1,keyasint"`
	Available resource.List `cbor:"2,keyasint,omitempty"`
	Sharing   string        `cbor:"3,keyasint,omitempty"`
	Attrs     attr.List     `cbor:"4,keyasint,omitempty"` // others of its definition files
}

// Apply takes the host and its vnodes over; vnodes of the host that are no longer
// reported become stale. Vnodes of another mom are left alone.
func (c *HostUp) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	if c.Host == "" || c.SpoolID == "" {
		return pbs.Errorf(pbs.InvalidRequest, "register: a mom needs a host name and a spool id")
	}
	if tx.Cluster().Revocations > 0 && tx.Revoked(momRole, c.Host) {
		return pbs.Refuse(pbs.Unauthorized) // it was on its way when the host was cut off
	}
	h, ok := tx.Host(c.Host)
	if !ok {
		h = &state.Host{Name: c.Host}
	}
	epoch := tx.Cluster().Epoch
	newEpoch := c.Epoch != 0 && c.Epoch != epoch && h.Epoch != epoch
	if res.Epoch = epoch; newEpoch && c.For != 0 && c.For != epoch {
		return nil // runs that it has accepted since may be missing in its lists (L2)
	}
	next, newDisk := *h, h.SpoolID != "" && h.SpoolID != c.SpoolID
	if newDisk || h.SpoolID == "" {
		next.SpoolID, next.Acked = c.SpoolID, 0
	}
	next.Epoch = epoch
	if newEpoch { // facts between the two were taken, and this state does not have them
		next.Acked = max(next.Acked, c.Told)
	}
	next.Registered, next.GivenUp, next.Trouble = next.Registered+1, false, c.Trouble
	next.Busy, next.JudgesLoad = c.Busy, c.JudgesLoad
	if c.NodeName == "" && h.NodeName != "" && h.Natural == h.NodeName {
		next.Natural = "" // it goes by the host's name again
	}
	next.NodeName = c.NodeName
	if next.Fence = state.LongerFence(h.Fence, tx.Server().Fence()); h.Registered == 0 {
		next.Fence = tx.Server().Fence() // it holds no deadline of ours yet
	}
	if !next.Up {
		next.Up, next.Changed = true, m.At
		tx.Emit(state.Event{Kind: state.HostWentUp, Object: string(c.Host)})
	}
	next.Address, next.GossipAddress, next.BootID = c.Address, c.GossipAddress, c.BootID
	next.Version, next.PCPUs, next.Hooks = c.Version, c.PCPUs, 0
	tx.PutHost(&next)
	res.Acked = next.Acked
	_, known := firstVnode(tx, c.Host)
	c.putVnodes(tx, m)
	if !known {
		configureHost(tx, m, res, c.Host)
	}
	c.endUnknown(tx)
	switch {
	case newDisk:
		return c.endForgotten(tx, m, "the disk of "+string(c.Host)+" is new", res)
	case newEpoch:
		return c.endForgotten(tx, m, string(c.Host)+" does not know of it any more", res)
	}
	return nil
}

func (c *HostUp) putVnodes(tx *state.Tx, m Meta) {
	all := c.named(tx)
	reported, removed, conditioned := map[pbs.VnodeName]bool{}, false, state.VnodeFlags(0)
	if h, ok := tx.Host(c.Host); ok {
		removed, conditioned = h.Removed, conditions(h)
	}
	for _, r := range all {
		reported[r.Name] = true
		v, ok := tx.Vnode(r.Name)
		if ok && v.Host != c.Host || !ok && removed {
			continue
		}
		next := state.Vnode{Name: r.Name, Host: c.Host, LastStateChange: m.At}
		if ok {
			next = *v
		} else {
			next.Seq = tx.NextSeq()
		}
		next.Reported, next.Sharing, next.ReportedAttrs = r.Available, r.Sharing, r.Attrs
		if sharing, ok := next.Attrs.Get("sharing", ""); ok { // a hook has set it
			next.Sharing = sharing
		}
		setFlags(&next, next.Flags&(state.VnodeOffline|state.VnodeAsleep)|conditioned, m.At)
		next.OverCommitted = overCommitted(tx, &next)
		tx.PutVnode(&next)
	}
	for _, v := range vnodesOf(tx, c.Host) {
		if reported[v.Name] {
			continue
		}
		next, flags := *v, state.VnodeStale
		if v.ByHook {
			flags = conditioned
		}
		setFlags(&next, next.Flags&(state.VnodeOffline|state.VnodeAsleep)|flags, m.At)
		tx.PutVnode(&next)
	}
}

// named returns the vnodes that the mom reports, its natural one by the name that qmgr has given it.
func (c *HostUp) named(tx *state.Tx) []ReportedVnode {
	c.adopt(tx)
	name, all := tx.NaturalVnode(c.Host), c.Vnodes
	if name == pbs.VnodeName(c.Host) || name == c.NodeName { // then what goes by the host's name is another one
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		if r := &all[i]; r.Name == pbs.VnodeName(c.Host) {
			r.Name, r.Available = name, r.Available.Set("vnode", string(name))
		}
	}
	return all
}

// adopt has a vnode stand for the host whose own was deleted: the first one that qmgr has made for the mom and
// that it does not report. What it reports by that name from now on stands for itself.
func (c *HostUp) adopt(tx *state.Tx) {
	h, ok := tx.Host(c.Host)
	if !ok {
		return
	}
	own := pbs.VnodeName(c.Host)
	reports := func(name pbs.VnodeName) bool {
		return slices.ContainsFunc(c.Vnodes, func(r ReportedVnode) bool { return r.Name == name })
	}
	next := *h
	if next.Natural != "" && reports(next.Natural) {
		next.Natural = ""
	}
	if c.NodeName != "" {
		v, there := tx.Vnode(c.NodeName)
		switch {
		case !there:
			next.Natural = c.NodeName
		case c.owns(tx, v):
			next.Natural, next.Removed = c.NodeName, false
		}
	}
	if _, there := tx.Vnode(own); next.Natural == "" && !there {
		first := uint64(0)
		for v := range tx.VnodesOf(c.Host) {
			made := !v.ByHook && len(v.Reported) == 0 && !reports(v.Name)
			if made && (first == 0 || v.Seq < first) {
				first, next.Natural, next.Removed = v.Seq, v.Name, false
			}
		}
	}
	if next.Natural != h.Natural || next.Removed != h.Removed {
		tx.PutHost(&next)
	}
}

// owns reports whether a vnode is of the host. One that was made by the name that the mom gives its natural vnode, without a word of
// whose it is, becomes so, unless there is a host of that name.
func (c *HostUp) owns(tx *state.Tx, v *state.Vnode) bool {
	if v.Host == c.Host {
		return true
	}
	if _, other := tx.Host(v.Host); other || v.Host != pbs.HostName(c.NodeName) {
		return false
	}
	next := *v
	next.Host = c.Host
	tx.PutVnode(&next)
	return true
}

// vnodesOf returns the vnodes of a host, so that they can be changed on the way.
func vnodesOf(tx *state.Tx, host pbs.HostName) []*state.Vnode {
	var vs []*state.Vnode
	for v := range tx.VnodesOf(host) {
		vs = append(vs, v)
	}
	return vs
}

func setFlags(v *state.Vnode, flags state.VnodeFlags, at pbs.Time) {
	if v.Flags != flags {
		v.Flags, v.LastStateChange = flags, at
	}
}

// HostDown is the verdict that a mom does not answer. It changes vnodes only; what
// becomes of the host's jobs is for the fence to say (L2, L13).
type HostDown struct {
	Host   pbs.HostName `cbor:"1,keyasint"`
	Reason string       `cbor:"2,keyasint,omitempty"`
	// Unheard says that the leader has heard nothing of the mom since its term began.
	Unheard bool `cbor:"3,keyasint,omitempty"`
}

// Apply marks the host's vnodes.
func (c *HostDown) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	h, ok := tx.Host(c.Host)
	if !ok {
		return pbs.Refuse(pbs.UnknownNode)
	}
	if !h.Up {
		if c.Unheard { // another leader has found it down
			for _, v := range vnodesOf(tx, c.Host) {
				if v.Flags&state.VnodeDown != 0 {
					unknown := *v
					setFlags(&unknown, v.Flags|state.VnodeUnknown, m.At)
					tx.PutVnode(&unknown)
				}
			}
		}
		return nil
	}
	next := *h
	next.Up, next.Changed = false, m.At
	tx.PutHost(&next)
	flags := state.VnodeDown
	if c.Unheard {
		flags |= state.VnodeUnknown
	}
	for _, v := range vnodesOf(tx, c.Host) {
		down := *v
		setFlags(&down, down.Flags&^state.VnodeBusy|flags, m.At)
		tx.PutVnode(&down)
	}
	tellLoss(tx, c.Host)
	confirmIdle(tx, c.Host)
	tx.Emit(state.Event{Kind: state.HostWentDown, Object: string(c.Host), Text: c.Reason})
	return nil
}
