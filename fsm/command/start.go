package command

import (
	"strconv"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// StartJob gives a queued job its vnodes and orders its mother superior to run it.
// The scheduler proposes it on a view that may be old by now, so everything is
// checked again (L3).
type StartJob struct {
	Job          pbs.JobID `cbor:"1,keyasint"`
	ExecVnode    string    `cbor:"2,keyasint"`
	Comment      string    `cbor:"3,keyasint,omitempty"`
	Select       string    `cbor:"4,keyasint,omitempty"` // schedselect that was placed; empty: whatever the job has
	WithinLimits bool      `cbor:"5,keyasint,omitempty"` // keep to the limits of server and queue: who starts a job by hand does not
	// Changes are what the hooks of runjob make of the job.
	Changes []AttrChange `cbor:"6,keyasint,omitempty"`
	Wish    bool         `cbor:"7,keyasint,omitempty"` // an operator wants it, whatever max_run_subjobs says: qrun
	Choice  int          `cbor:"8,keyasint,omitempty"` // which of its alternatives was placed
	More    string       `cbor:"9,keyasint,omitempty"` // Job.More as it was placed, if Select is
}

// Apply charges the vnodes and starts the run, or refuses with ResourceBusy when
// the assignment does not fit.
func (c *StartJob) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	j, err := toStart(tx, c.Job, c.Wish)
	if err != nil {
		return err
	}
	next := *j
	if err := move(&next, pbs.EventRun); err != nil {
		return err
	}
	if tx.Server().HaltedAt != 0 {
		return pbs.Errorf(pbs.BadState, "start %s: the servers are about to end", j.ID)
	}
	if len(j.Unconfirmed) > 0 {
		return pbs.Errorf(pbs.BadState, "start %s: the end of an earlier run on %s is not confirmed", j.ID, j.Unconfirmed[0].Host)
	}
	if c.Select != "" && (c.Select != j.SchedSelect || c.More != j.More()) {
		return pbs.Errorf(pbs.ResourceBusy, "start %s: its request was altered", j.ID)
	}
	if q, ok := tx.Queue(j.Queue); ok && q.Routes() {
		return pbs.Refuse(pbs.BadState)
	}
	if r, ok := tx.Reservation(j.Reservation); j.Reservation != "" && (!ok || !r.Running()) {
		return pbs.Errorf(pbs.BadState, "%s %s", pbs.BadState.Text(), j.ID)
	}
	parts, err := spec.ParseExecVnode(c.ExecVnode)
	if err != nil {
		return err
	}
	if c.WithinLimits {
		if err := withinRunLimits(tx, j, parts.Vnodes()); err != nil {
			return err
		}
	}
	next.Begin(m.At).ExecVnode = parts
	next.Substate, next.Comment = substateAtStart(&next), c.Comment
	if err := choose(tx, &next, c.Choice); err != nil {
		return err
	}
	if err := c.alter(tx, m, &next); err != nil { // its walltime says what of reservations it would reach into
		return err
	}
	if !repaced(&next, c.Changes, false) {
		pace(tx, &next)
	}
	next.Run.Fades = fades(tx, &next)
	if err := assign(tx, &next); err != nil {
		return err
	}
	if boundElsewhere(&next) {
		return pbs.Refuse(pbs.BoundElsewhere)
	}
	tx.PutJob(&next)
	followSet(tx, &next)
	tx.Order(state.Order{Host: next.Run.MS, Kind: state.OrderRun, Job: next.ID, RunCount: next.RunCount})
	tx.Emit(state.Event{Kind: state.JobRun, Job: &next, By: m.Asker, Text: c.ExecVnode})
	hooksPending(tx, parts.Vnodes())
	return subjobStarted(tx, m, &next, c.Comment)
}

// share is what one run takes of one vnode.
type share struct {
	vnode *state.Vnode
	held  state.VnodeJob
	cpus  int
	shown int // how often the job stands among the vnode's jobs
}

// maxCPUs bounds what one run takes of one vnode: every cpu has an index.
const maxCPUs = 1 << 16

// assign charges the run of a job that nobody knows yet to its vnodes, and fills in its exec_host and its mother superior.
func assign(tx *state.Tx, j *state.Job) error {
	place := j.Placement()
	shares := map[pbs.VnodeName]*share{}
	var order []pbs.VnodeName
	var hosts spec.ExecHost
	var slots slotCounter
	for _, chunk := range j.Run.ExecVnode {
		cpus := 0
		var first *share
		for _, p := range chunk.Parts {
			s, ok := shares[p.Vnode]
			if !ok {
				v, ok := tx.Vnode(p.Vnode)
				if !ok {
					return pbs.Refuse(pbs.UnknownNode)
				}
				if err := open(v, v.AloneFor(place), j.Reservation); err != nil {
					return err
				}
				s = &share{vnode: v, held: state.VnodeJob{
					Job: j.ID, RunCount: j.RunCount, Exclusive: v.AloneFor(place), Reservation: j.Reservation,
				}}
				shares[p.Vnode], order = s, append(order, p.Vnode)
			}
			n, err := s.add(tx, p.Items)
			if err != nil {
				return err
			}
			cpus += n
			if first == nil {
				first = s
			}
		}
		if first == nil {
			return pbs.Attribute(pbs.BadAttributeValue, "exec_vnode")
		}
		slot := slots.next(tx, first.vnode.Host)
		first.held.Slots = append(first.held.Slots, slot)
		hosts = append(hosts, spec.HostSlot{Host: string(first.vnode.Host), Slot: int(slot), CPUs: shownCPUs(tx, chunk, cpus)})
	}
	if len(order) == 0 {
		return pbs.Attribute(pbs.BadAttributeValue, "exec_vnode")
	}
	j.Run.MS = shares[order[0]].vnode.Host
	j.Run.Assignment = tx.InternAssignment(alloc.Assignment{ExecVnode: j.Run.ExecVnode, ExecHost: hosts})
	if err := spread(tx, j, shares, order); err != nil {
		return err
	}
	for _, name := range order {
		if err := charge(tx, j, shares[name]); err != nil {
			return err
		}
	}
	return nil
}

// shownCPUs returns the number behind the star of an entry of exec_host: a chunk over several
// vnodes always shows 0 (specification: ramp-down section 1).
func shownCPUs(tx *state.Tx, chunk spec.ExecChunk, cpus int) int {
	switch {
	case len(chunk.Parts) > 1:
		return 0
	}
	return cpus
}

// open refuses a vnode that takes no run, or not one that wants it alone.
func open(v *state.Vnode, alone bool, of pbs.ReservationID) error {
	use := alloc.Use{Here: v.Active()}
	if of == "" {
		use.Here += len(v.Reserved)
	}
	switch {
	case !v.UsableFor(of):
		return pbs.Errorf(pbs.ResourceBusy, "vnode %s is %s", v.Name, v.State())
	case !use.Lets(alone, false):
		return pbs.Errorf(pbs.ResourceBusy, "vnode %s is not free for exclusive use", v.Name)
	}
	return nil
}

// add takes the items of one chunk and returns how many cpus are among them.
func (s *share) add(tx *state.Tx, items resource.List) (int, error) {
	sum, err := resource.Add(s.held.Items, items, tx)
	if err != nil {
		return 0, err
	}
	s.held.Items = sum
	text, _ := items.Get("ncpus")
	cpus, _ := strconv.Atoi(text)
	if cpus > maxCPUs-s.cpus {
		return 0, pbs.Attribute(pbs.BadAttributeValue, "exec_vnode")
	}
	s.cpus += cpus
	s.shown += max(cpus, 1)
	return cpus, nil
}

// slotCounter gives out the lowest slots that are free at a mom.
type slotCounter struct {
	taken map[pbs.HostName]map[uint32]bool
}

func (c *slotCounter) next(tx *state.Tx, host pbs.HostName) uint32 {
	if c.taken == nil {
		c.taken = map[pbs.HostName]map[uint32]bool{}
	}
	taken := c.taken[host]
	if taken == nil {
		taken = map[uint32]bool{}
		for v := range tx.VnodesOf(host) {
			for _, held := range v.Jobs {
				for _, s := range held.Slots {
					taken[s] = true
				}
			}
		}
		if h, ok := tx.Host(host); ok {
			for _, k := range h.Kept {
				for _, s := range k.Slots {
					taken[s] = taken[s] || keeps(tx, k)
				}
			}
		}
		c.taken[host] = taken
	}
	slot := uint32(0)
	for taken[slot] {
		slot++
	}
	taken[slot] = true
	return slot
}

// charge adds the run to its vnode if it fits there (L3).
func charge(tx *state.Tx, j *state.Job, s *share) error {
	if short := tx.ShortFor(s.vnode, s.held.Reservation, s.held.Items, state.Promised{}); short != nil {
		return pbs.Errorf(pbs.ResourceBusy, "vnode %s: %s", s.vnode.Name, short.Error())
	}
	if err := leavesPromised(tx, j, s.vnode, s.held); err != nil {
		return err
	}
	s.held.CPUs, s.held.Fades = s.vnode.FreeCPUs(min(s.shown, maxCPUs)), anyFades(j, s.held.Items)
	next, err := s.vnode.Charge(s.held, tx)
	if err != nil {
		return err
	}
	tx.PutVnode(next)
	charged := s.held.Items
	if s.held.Exclusive {
		charged = wholeOf(s.vnode, charged) // all of it is denied to others (specification: accounting section 3)
	}
	j.Run.Assigned, err = resource.Add(j.Run.Assigned, charged, tx)
	return err
}

// leavesPromised refuses a share of a run that would take, before its walltime is over, what reservations are to have (L15). A
// job in a reservation takes what that does not name.
func leavesPromised(tx *state.Tx, j *state.Job, v *state.Vnode, held state.VnodeJob) error {
	if !tx.Promising() {
		return nil
	}
	hold := state.Hold{From: tx.Now(), Until: j.Ends(tx.Now()), Items: held.Items, Alone: held.Exclusive}
	if held.Reservation != "" {
		share, _ := v.ReservedFor(held.Reservation)
		hold = state.Hold{From: tx.Now(), Until: tx.EndsInside(j), Items: share.Beyond(held.Items)}
		if len(hold.Items) == 0 {
			return nil
		}
	}
	if held.Exclusive && held.Reservation == "" && v.HostAloneFor(j.Placement()) && tx.NeighborsPromised(v, hold.From, hold.Until) {
		return pbs.Errorf(pbs.ResourceBusy, "vnode %s: others of its host are reserved", v.Name)
	}
	own := func(p *state.Promise) bool { return held.Reservation != "" && p.Reservation.ID == held.Reservation }
	if short := tx.Overbooked(v, hold, own); short != nil {
		return pbs.Errorf(pbs.ResourceBusy, "vnode %s is reserved: %s", v.Name, short.Error())
	}
	return nil
}

// wholeOf returns what a run takes that has a vnode for itself: all that is the vnode's own, and
// what it has asked for of what the vnode shares of others.
func wholeOf(v *state.Vnode, asked resource.List) resource.List {
	all := v.Own(v.Available())
	for _, it := range asked {
		if _, shared := v.Indirect(it.Name); shared {
			all = all.Set(it.Name, it.Value)
		}
	}
	return all
}

// free gives the vnodes of the present run back.
func free(tx *state.Tx, j *state.Job) {
	if j.Run.Suspension != nil {
		j.EditRun().Suspension = nil
	}
	for _, name := range j.LastRun().AllVnodes().Vnodes() {
		if v, ok := tx.Vnode(name); ok {
			vacated(tx, v, heldAt(v, j))
		}
	}
}

// vacated stores a vnode without a share of it, which is at a place in its Jobs; -1: the share is gone already.
func vacated(tx *state.Tx, v *state.Vnode, at int) {
	next := v.Without(nil)
	if at >= 0 {
		less, err := v.GiveBack(at, tx)
		if err != nil { // nobody can say how much it was
			less = v.Without([]int{at})
		}
		next = less
	}
	next.LastUsed = tx.Now()
	tx.PutSettled(next)
}

// overCommitted reports whether more is assigned than is available now.
func overCommitted(tx *state.Tx, v *state.Vnode) bool {
	return tx.Exceeded(v) != nil
}
