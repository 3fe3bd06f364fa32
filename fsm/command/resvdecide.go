package command

import (
	"cmp"
	"time"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// DecideReservation answers the question whether a reservation, an alteration, or one that lost vnodes gets vnodes.
type DecideReservation struct {
	Reservation pbs.ReservationID `cbor:"1,keyasint"`
	Asked       uint64            `cbor:"2,keyasint"`           // state.Reservation.Asked of the question
	Start       pbs.Time          `cbor:"3,keyasint,omitempty"` // of one that begins as soon as its job fits
	// Nodes are the vnodes of each of Occurrences from the first on, as exec_vnodes; of an alteration and of a degraded one
	// those of all that it has. None: it does not fit.
	Nodes []string `cbor:"4,keyasint,omitempty"`
	Why   string   `cbor:"5,keyasint,omitempty"` // it does not fit; empty: it does

	Partition string `cbor:"6,keyasint,omitempty"` // in which the vnodes of a new one are
	Sched     string `cbor:"7,keyasint,omitempty"` // who decides; empty: the default scheduler
}

// Apply confirms what fits, and checks that nothing is promised twice (L15): the answer may be that of a leader that has been
// deposed. What does not fit is gone, an alteration is undone, and one that is degraded is tried again later.
func (c *DecideReservation) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	r, ok := tx.Reservation(c.Reservation)
	if !ok {
		return pbs.Refuse(pbs.UnknownReservation)
	}
	if r.Asked != c.Asked || !r.Undecided(m.At) {
		return pbs.Errorf(pbs.BadState, "reservation %s: the question was decided, or is another by now", r.ID)
	}
	next := *r
	switch r.State {
	case pbs.ResvUnconfirmed:
		return c.confirm(tx, m, &next)
	case pbs.ResvBeingAltered:
		putOff := r.Ask.Start > m.At && r.Ask.Back.State == pbs.ResvRunning
		if len(c.Nodes) == 0 || putOff && !empty(tx, r.ID) { // a job has come meanwhile
			denyAlteration(tx, &next)
			return nil
		}
		nodes, err := spec.ParseExecVnode(c.Nodes[0])
		if err != nil {
			return err
		}
		return grant(tx, &next, nodes, true, scheduler(tx))
	}
	return c.replace(tx, &next)
}

// scheduler returns who confirms, in records.
func scheduler(tx *state.Tx) pbs.User { return pbs.User{Name: "Scheduler", Host: serverHost(tx)} }

// system returns who ends reservations, in records.
func system(tx *state.Tx) pbs.User { return pbs.User{Name: "root", Host: serverHost(tx)} }

func serverHost(tx *state.Tx) pbs.HostName { return pbs.HostName(tx.Cluster().Name) }

func (c *DecideReservation) confirm(tx *state.Tx, m Meta, r *state.Reservation) error {
	if len(c.Nodes) == 0 {
		if denied, more := tx.Deniers(r, cmp.Or(c.Sched, state.DefaultScheduler)); more { // another scheduler may have vnodes for it
			r.Denied = denied
			tx.PutReservation(r)
			return nil
		}
		tx.Emit(state.Event{Kind: state.ReservationDenied, Reservation: r, Text: c.Why})
		by := pbs.User{Name: "Server@" + tx.Cluster().Name, Host: serverHost(tx)}
		return dissolve(tx, r, by)
	}
	if r.Start == 0 {
		if c.Start < m.At-pbs.Time(time.Minute) {
			return pbs.Refuse(pbs.BadTimes)
		}
		r.Start, r.End = c.Start, c.Start+r.Length
		r.Occurrences = []state.Occurrence{{Start: c.Start}}
	}
	if len(c.Nodes) != len(r.Occurrences) {
		return pbs.Errorf(pbs.InvalidRequest, "reservation %s has %d occurrences, there are vnodes for %d", r.ID, len(r.Occurrences), len(c.Nodes))
	}
	r.Occurrences = append([]state.Occurrence(nil), r.Occurrences...)
	if err := serverHas(tx, r, len(r.Occurrences)); err != nil {
		return err
	}
	var nodes spec.ExecVnode
	var shares []spec.ExecPart
	for i, text := range c.Nodes {
		if i == 0 || text != c.Nodes[i-1] { // most occurrences have the vnodes of the one before
			var err error
			if nodes, err = spec.ParseExecVnode(text); err != nil {
				return err
			}
			if shares, err = alloc.ByVnode(nodes, tx); err != nil {
				return err
			}
		}
		if err := vacantOn(tx, r, i, shares); err != nil {
			return err
		}
		r.Occurrences[i].Nodes = nodes
	}
	r.Partition, r.Denied = c.Partition, nil
	confirmed(tx, r, scheduler(tx), "")
	return nil
}

// confirmed opens the queue of a reservation that has its vnodes, and begins it if it is time.
func confirmed(tx *state.Tx, r *state.Reservation, by pbs.User, what string) {
	r.State, r.Substate, r.Retry, r.Granted = pbs.ResvConfirmed, pbs.ResvConfirmed, 0, tx.Index()
	r.Attrs = r.Attrs.Unset("interactive", "")
	if q, ok := tx.Queue(r.ID.Queue()); ok {
		next := *q
		next.Enabled, next.Attrs = true, next.Attrs.Set("partition", "", cmp.Or(r.Partition, state.DefaultPartition))
		tx.PutQueue(&next)
	}
	tx.PutReservation(r)
	tx.Emit(state.Event{Kind: state.ReservationConfirmed, Reservation: r, By: by, Text: what})
	if r.Start <= tx.Now() {
		begun := *r // the record is in the tables
		begin(tx, &begun)
	}
}

// vacant refuses vnodes for an occurrence that others have, or are to have, in its time (L15), or that cannot be used.
func vacant(tx *state.Tx, r *state.Reservation, n int, nodes spec.ExecVnode) error {
	shares, err := alloc.ByVnode(nodes, tx)
	if err != nil {
		return err
	}
	return vacantOn(tx, r, n, shares)
}

// serverHas refuses the first occurrences of a reservation where the server has too little as a whole beside what others have, or
// are to have, in their time (L15).
func serverHas(tx *state.Tx, r *state.Reservation, occurrences int) error {
	holds := tx.ServerHolds(r.Resources, r.ID)
	if holds == nil {
		return nil
	}
	for n := range occurrences {
		from, until := r.Times(n)
		from = max(from, tx.Now())
		if why, short := holds.Short(from, until, r.Resources); short {
			return pbs.Errorf(pbs.ResourceBusy, "reservation %s: %s", r.ID, why.Text())
		}
		holds.Add(from, until, r.Resources)
	}
	return nil
}

func vacantOn(tx *state.Tx, r *state.Reservation, n int, shares []spec.ExecPart) error {
	from, until := r.Times(n)
	claim := r.Claim()
	own := func(p *state.Promise) bool { return p.Reservation.ID == r.ID }
	for _, s := range shares {
		name := s.Vnode
		v, ok := tx.Vnode(name)
		if !ok {
			return pbs.Refuse(pbs.UnknownNode)
		}
		hold := state.Hold{From: max(from, tx.Now()), Until: until, Items: s.Items, Alone: claim.AloneOn(v)}
		if short := tx.Overbooked(v, hold, own); short != nil {
			return pbs.Errorf(pbs.ResourceBusy, "vnode %s: %s", name, short.Error())
		}
		if tx.HostInUse(v, hold.From) {
			return pbs.Errorf(pbs.ResourceBusy, "vnode %s: a job has its host", name)
		}
		if !claim.HostAloneOn(v) {
			continue
		}
		for other := range tx.VnodesOf(v.Host) {
			hold.Items, hold.Alone = nil, true
			if short := tx.Overbooked(other, hold, own); other.HostWord() == v.HostWord() && short != nil {
				return pbs.Errorf(pbs.ResourceBusy, "vnode %s: %s", other.Name, short.Error())
			}
		}
	}
	return nil
}

// replace gives one that is degraded other vnodes, or tries again later.
func (c *DecideReservation) replace(tx *state.Tx, r *state.Reservation) error {
	if len(c.Nodes) == 0 {
		retryLater(tx, r)
		tx.PutReservation(r)
		return nil
	}
	nodes, err := spec.ParseExecVnode(c.Nodes[0])
	if err != nil {
		return err
	}
	if err := vacant(tx, r, 0, nodes); err != nil {
		return err
	}
	before := r.Nodes()
	r.Occurrences = append([]state.Occurrence(nil), r.Occurrences...)
	r.Occurrences[0].Nodes, r.Occurrences[0].Taken, r.Granted = nodes, nil, tx.Index()
	if r.State == pbs.ResvRunning {
		if err := reshare(tx, r, before); err != nil {
			return err
		}
		setStarted(tx, r, true)
	}
	well(r)
	tx.PutReservation(r)
	tx.Emit(state.Event{Kind: state.ReservationConfirmed, Reservation: r, By: scheduler(tx)})
	return nil
}
