package command

import (
	"cmp"
	"slices"
	"strings"

	"rampart/fsm/alloc"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// ofJob makes a reservation of a running job that has exactly its vnodes, and moves the job into it (specification:
// advance-reservations section 12).
func (c *Reserve) ofJob(tx *state.Tx, m Meta, r *state.Reservation, res *state.Result) error {
	j, err := liveJob(tx, c.Job)
	switch {
	case err != nil:
		return err
	case j.Array != nil || j.IsSubjob():
		return pbs.Refuse(pbs.ResvFromArray)
	case j.Reservation != "":
		return pbs.Refuse(pbs.ResvFromResv)
	case j.State != pbs.Running || j.Substate != pbs.SubRunning && j.Substate != pbs.SubStarting:
		return pbs.Refuse(pbs.BadState)
	}
	r.Attrs = r.Attrs.Set("reserve_job", "", string(j.ID))
	r.Length = min(j.Lasts(0, 0), mostOfJob)
	r.Start, r.End = j.Started, j.Started+r.Length
	nodes := j.LastRun().AllVnodes() // those that it has released are not free yet
	r.Occurrences, r.Count = []state.Occurrence{{Start: r.Start, Nodes: nodes}}, 1
	if err := stays(tx, j, r.End); err != nil {
		return err
	}
	r.Select, r.Partition = j.SchedSelect, tx.Partition(j.Queue)
	for _, it := range j.Resources {
		if def, ok := tx.Resource(it.Name); ok && (def.Consumable() || it.Name == "select" || it.Name == "place") {
			r.Resources = r.Resources.Set(it.Name, it.Value)
		}
	}
	r.First, _ = r.Resources.Get("select")
	r.Resources = r.Resources.Set("walltime", lasting(r.Length))
	book(tx, r, pbs.ResvAdvance, res)
	next := *j
	next.Queue, next.Queued, next.Reservation, next.ReservedName = r.ID.Queue(), m.At, r.ID, r.Name()
	for _, s := range tx.Stakes(j) {
		held := s.Held()
		share := alloc.Reserved{Reservation: r.ID, Items: held.Items, Exclusive: r.Claim().AloneOn(s.Vnode)}
		less, err := s.Vnode.GiveBack(s.At, tx)
		if err != nil {
			return err
		}
		if less, err = less.Reserve(share, tx); err != nil {
			return err
		}
		held.Reservation = r.ID
		charged, err := less.Charge(held, tx)
		if err != nil {
			return err
		}
		tx.PutSettled(charged)
	}
	r.State, r.Substate, r.Granted = pbs.ResvRunning, pbs.ResvRunning, tx.Index()
	if q, ok := tx.Queue(r.ID.Queue()); ok {
		open := *q
		open.Enabled, open.Started, open.Attrs = true, true, open.Attrs.Set("partition", "", cmp.Or(r.Partition, state.DefaultPartition))
		tx.PutQueue(&open)
	}
	tx.PutReservation(r)
	tx.PutJob(&next)
	tx.Emit(state.Event{Kind: state.ReservationConfirmed, Reservation: r, By: c.Owner})
	tx.Emit(state.Event{Kind: state.ReservationBegan, Reservation: r, By: system(tx)})
	return nil
}

// stays refuses to keep the vnodes of a job for longer than others leave them (L15): its walltime may have been altered since it
// was started.
func stays(tx *state.Tx, j *state.Job, until pbs.Time) error {
	nobody := func(*state.Promise) bool { return false }
	for _, s := range tx.Stakes(j) {
		held := s.Held()
		hold := state.Hold{From: tx.Now(), Until: until, Items: held.Items, Alone: held.Exclusive}
		if held.Exclusive && s.Vnode.HostAloneFor(j.Placement()) && tx.NeighborsPromised(s.Vnode, hold.From, hold.Until) {
			return pbs.Errorf(pbs.ResourceBusy, "vnode %s: others of its host are reserved", s.Vnode.Name)
		}
		if short := tx.Overbooked(s.Vnode.Without([]int{s.At}), hold, nobody); short != nil {
			return pbs.Errorf(pbs.ResourceBusy, "vnode %s is reserved: %s", s.Vnode.Name, short.Error())
		}
	}
	return nil
}

// reserveFor makes a reservation of a job that has just started and has asked for that: qsub -W create_resv_from_job=1. The job
// is in it afterwards.
func reserveFor(tx *state.Tx, m Meta, j *state.Job) error {
	if v, _ := j.Attrs.Get("create_resv_from_job", ""); v != "True" || j.Reservation != "" || j.IsSubjob() || j.Substate != pbs.SubRunning {
		return nil
	}
	c := &Reserve{Owner: j.Owner, Job: j.ID, Attributes: attr.List{}.Set("Authorized_Users", "", j.Owner.String())}
	if stays(tx, j, j.Ends(tx.Now())) != nil {
		return nil // others are to have its vnodes: it runs without one
	}
	if err := c.Apply(tx, m, &state.Result{}); err != nil {
		return err
	}
	now, _ := tx.Job(j.ID)
	*j = *now
	return nil
}

// maintain makes a maintenance: whole hosts at a time, whatever they do then (specification: advance-reservations section 10).
func (c *Reserve) maintain(tx *state.Tx, r *state.Reservation, res *state.Result) error {
	var chunks []string
	var sum resource.List
	var nodes spec.ExecVnode
	var taken []pbs.VnodeName
	for _, host := range c.Hosts {
		var parts []spec.ExecPart
		var all resource.List
		for v := range tx.Vnodes() {
			cpus, ok := v.Available().Get("ncpus")
			if !ok || cpus == "0" || !sameHostWord(v, host) {
				continue
			}
			items := resource.List{{Name: "ncpus", Value: cpus}}
			parts = append(parts, spec.ExecPart{Vnode: v.Name, Items: items})
			var err error
			if all, err = resource.Add(all, items, tx); err != nil {
				return err
			}
			taken = append(taken, v.Name)
		}
		if len(parts) == 0 {
			return pbs.Errorf(pbs.UnknownNode, "Host with resources not found: %s", host)
		}
		cpus, _ := all.Get("ncpus")
		chunks = append(chunks, "host="+host+":ncpus="+cpus)
		nodes = append(nodes, spec.ExecChunk{Parts: parts})
		var err error
		if sum, err = resource.Add(sum, all, tx); err != nil {
			return err
		}
	}
	r.Resources = r.Resources.Set("select", strings.Join(chunks, "+")).Set("place", spec.Place{Sharing: spec.ExclusiveHost}.String())
	if err := wants(tx, r); err != nil {
		return err
	}
	for _, it := range sum {
		r.Resources = r.Resources.Set(it.Name, it.Value)
	}
	r.Occurrences[0].Nodes = nodes
	book(tx, r, pbs.ResvMaintenance, res)
	tx.PutReservation(r)
	tx.Emit(state.Event{Kind: state.ReservationAsked, Reservation: r, By: c.Owner})
	for _, name := range taken {
		takeFrom(tx, r, name)
	}
	confirmed(tx, r, c.Owner, "")
	return nil
}

func sameHostWord(v *state.Vnode, host string) bool {
	return v.HostWord() == host || string(v.Host) == host || pbs.ShortHost(v.Host) == host
}

// takeFrom takes a vnode from the reservations that are to have it during a maintenance: they look for others.
func takeFrom(tx *state.Tx, by *state.Reservation, name pbs.VnodeName) {
	var victims []pbs.ReservationID
	times := map[pbs.ReservationID][]int{} // their occurrences
	for p := range tx.PromisesIn(name, by.Start, by.End) {
		id := p.Reservation.ID
		if id == by.ID || p.Reservation.Maintenance() {
			continue
		}
		if times[id] == nil {
			victims = append(victims, id)
		}
		times[id] = append(times[id], p.Occurrence)
	}
	for _, id := range victims {
		r, ok := tx.Reservation(id)
		if !ok {
			continue
		}
		next := *r
		next.Occurrences = slices.Clone(r.Occurrences)
		taken := false
		var had, left spec.ExecVnode
		for _, n := range times[id] {
			if n >= len(r.Occurrences) || n == 0 && !leaves(tx, &next, name) {
				continue
			}
			o := &next.Occurrences[n]
			if !o.Nodes.Equal(had) { // most occurrences have the vnodes of the one before
				had, left = o.Nodes, lessVnode(o.Nodes, name)
			}
			o.Nodes, o.Taken = left, append(slices.Clone(o.Taken), name)
			taken = true
		}
		if taken {
			tx.PutReservation(&next)
		}
	}
}

// leaves takes a vnode from the present or next occurrence of a reservation, unless its jobs go on there.
func leaves(tx *state.Tx, r *state.Reservation, name pbs.VnodeName) bool {
	v, _ := tx.Vnode(name)
	share, has := v.ReservedFor(r.ID)
	if has && !nothing(share.Used) {
		return false
	}
	victim(r, tx.Now())
	if less, err := v.Unreserve(r.ID, tx); has && err == nil {
		tx.PutSettled(less)
	}
	return true
}

// victim degrades a reservation of whose present or next occurrence a vnode was taken: it looks for another at once.
func victim(r *state.Reservation, now pbs.Time) {
	hurt := func(s state.ReservationStatus) state.ReservationStatus {
		switch s.State {
		case pbs.ResvConfirmed, pbs.ResvDegraded:
			return state.ReservationStatus{State: pbs.ResvDegraded, Substate: pbs.ResvInConflict}
		case pbs.ResvRunning:
			s.Substate = pbs.ResvDegraded
		}
		return s
	}
	if r.State == pbs.ResvBeingAltered { // until that is decided
		ask := *r.Ask
		ask.Back = hurt(ask.Back)
		r.Ask = &ask
		return
	}
	s := hurt(r.Status())
	r.State, r.Substate = s.State, s.Substate
	r.Retry, r.Asked = now, r.Asked+1
}

// lessVnode returns an assignment without a vnode.
func lessVnode(nodes spec.ExecVnode, name pbs.VnodeName) (left spec.ExecVnode) {
	for _, ch := range nodes {
		ch.Parts = slices.DeleteFunc(slices.Clone(ch.Parts), func(p spec.ExecPart) bool { return p.Vnode == name })
		if len(ch.Parts) > 0 {
			left = append(left, ch)
		}
	}
	return left
}

// giveBackTaken has the victims of a maintenance that is over looked at again.
func giveBackTaken(tx *state.Tx, over *state.Reservation) {
	order := over.Nodes().Vnodes()
	for _, r := range slices.Collect(tx.Reservations()) {
		if slices.ContainsFunc(order, func(name pbs.VnodeName) bool { return slices.Contains(r.Taken(), name) }) {
			next := *r
			next.Retry, next.Asked = tx.Now(), r.Asked+1
			tx.PutReservation(&next)
		}
	}
}

// reserved notes of a job that comes into a queue whose reservation it is. It cannot have for itself what the reservation has not.
func reserved(tx *state.Tx, q *state.Queue, j *state.Job) error {
	j.Reservation, j.ReservedName = "", ""
	r, ok := tx.Reservation(q.Reservation)
	if q.Reservation == "" || !ok {
		return nil
	}
	exclusive := func(p spec.Place) bool { return p.Sharing == spec.Exclusive || p.Sharing == spec.ExclusiveHost }
	if exclusive(j.Placement()) && !exclusive(r.Placement()) {
		return pbs.Refuse(pbs.ConflictingPlace)
	}
	j.Reservation, j.ReservedName = r.ID, r.Name()
	return nil
}

// ownReservation reports whether the owner of a reservation comes from another host, where all hosts have the same users.
func ownReservation(tx *state.Tx, q *state.Queue, u pbs.User) bool {
	r, ok := tx.Reservation(q.Reservation)
	return q.Reservation != "" && ok && tx.Server().Bool("flatuid") && r.Owner.Name == u.Name &&
		UserListed(q.List("acl_users"), r.Owner)
}
