package state

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// A Reservation has vnodes for a time, or wants them (specification: advance-reservations). Its queue has the name of
// ID.Queue. It leaves no history: one that is over is no record any more.
type Reservation struct {
	ID       pbs.ReservationID    `cbor:"1,keyasint"`
	Seq      uint64               `cbor:"2,keyasint"`
	Owner    pbs.User             `cbor:"3,keyasint"`
	State    pbs.ReservationState `cbor:"4,keyasint"`
	Substate pbs.ReservationState `cbor:"5,keyasint"`
	// Start and End are those of the present or next occurrence; 0: it begins as soon as its job fits, which is not decided.
	Start pbs.Time `cbor:"6,keyasint,omitempty"`
	End   pbs.Time `cbor:"7,keyasint,omitempty"`
	// Length is how long each further occurrence lasts, and of one without a start how long it is to last.
	Length pbs.Time `cbor:"8,keyasint"`
	// Occurrences are the present or next one and all that follow.
	Occurrences []Occurrence  `cbor:"9,keyasint"`
	Count       int           `cbor:"10,keyasint"`           // of all occurrences, those that are over included
	Rule        string        `cbor:"11,keyasint,omitempty"` // RFC 5545, of a standing one
	Zone        string        `cbor:"12,keyasint,omitempty"` // in which the rule counts
	Resources   resource.List `cbor:"13,keyasint"`           // Resource_List, with select, place and walltime
	Select      string        `cbor:"14,keyasint"`           // schedselect: the select with the defaults of chunks
	First       string        `cbor:"15,keyasint"`           // the select that it was made with, of which an alteration may leave out
	Attrs       attr.List     `cbor:"16,keyasint,omitempty"` // the others
	Created     pbs.Time      `cbor:"17,keyasint"`
	Changed     pbs.Time      `cbor:"18,keyasint"` // mtime
	Modified    uint64        `cbor:"19,keyasint"` // index of the last change

	// Asked numbers the questions to the scheduler: an answer to another than the last one is void.
	Asked uint64             `cbor:"20,keyasint,omitempty"`
	Ask   *ReservationChange `cbor:"21,keyasint,omitempty"` // an alteration that is not decided; replaced, never written to
	Retry pbs.Time           `cbor:"22,keyasint,omitempty"` // of one that is degraded: when other vnodes are looked for
	Idle  pbs.Time           `cbor:"23,keyasint,omitempty"` // since when it runs without a job; 0: it does not
	// Forced says that it was altered without regard to others, whose amounts it may take.
	Forced bool `cbor:"24,keyasint,omitempty"`
	// Taken are vnodes of it that a maintenance has.
	Taken []pbs.VnodeName `cbor:"25,keyasint,omitempty"`
	// Void says that its start has passed while it was not decided.
	Void bool `cbor:"26,keyasint,omitempty"`

	due pbs.Time // the next moment at which something is due of it; derived
}

// An Occurrence is one time at which a reservation is to have its vnodes.
type Occurrence struct {
	Start pbs.Time `cbor:"1,keyasint"`
	Nodes string   `cbor:"2,keyasint,omitempty"` // as an exec_vnode; empty: it has none
}

// A ReservationChange is what an alteration makes of the times and the select.
type ReservationChange struct {
	Start     pbs.Time          `cbor:"1,keyasint"`
	End       pbs.Time          `cbor:"2,keyasint"`
	Resources resource.List     `cbor:"3,keyasint"`
	Select    string            `cbor:"4,keyasint"` // schedselect
	Back      ReservationStatus `cbor:"5,keyasint"` // what it was, and is again when the change is denied
	Attrs     attr.List         `cbor:"6,keyasint"` // all others, with those that were changed
}

// A ReservationStatus is a state with its substate.
type ReservationStatus struct {
	State    pbs.ReservationState `cbor:"1,keyasint"`
	Substate pbs.ReservationState `cbor:"2,keyasint"`
}

// Status returns the state and the substate.
func (r *Reservation) Status() ReservationStatus { return ReservationStatus{r.State, r.Substate} }

// Nodes returns resv_nodes: the vnodes of the present or next occurrence.
func (r *Reservation) Nodes() string { return r.Occurrences[0].Nodes }

// Index returns the number of the present or next occurrence, from 1.
func (r *Reservation) Index() int { return r.Count - len(r.Occurrences) + 1 }

// Maintenance reports whether it takes hosts whatever runs there: pbs_rsub --hosts.
func (r *Reservation) Maintenance() bool { return r.ID.Kind() == pbs.ResvMaintenance }

// Started reports whether its vnodes are assigned to it: from the start of an occurrence until the last job of it has left.
func (r *Reservation) Started() bool {
	return r.Running() || r.State == pbs.ResvDeletingJobs || r.State == pbs.ResvBeingDeleted
}

// Running reports whether jobs of it may start.
func (r *Reservation) Running() bool {
	return r.State == pbs.ResvRunning || r.State == pbs.ResvBeingAltered && r.Ask.Back.State == pbs.ResvRunning
}

// Placement returns how it wants to be placed.
func (r *Reservation) Placement() spec.Place {
	text, _ := r.Resources.Get("place")
	p, err := spec.ParsePlace(text)
	if err != nil {
		return spec.Place{}
	}
	return p
}

// Undecided reports whether the scheduler has to answer: of a new one, of an alteration, and of one that is degraded and
// whose time to look for other vnodes has come.
func (r *Reservation) Undecided(now pbs.Time) bool {
	switch r.State {
	case pbs.ResvUnconfirmed:
		return !r.Void
	case pbs.ResvBeingAltered:
		return true
	}
	return r.Retry != 0 && r.Retry <= now
}

// Times returns the start and the end of the n-th of Occurrences.
func (r *Reservation) Times(n int) (start, end pbs.Time) {
	if n == 0 {
		return r.Start, r.End
	}
	start = r.Occurrences[n].Start
	return start, start + r.Length
}

// A Promise is what an occurrence of a reservation has of a vnode.
type Promise struct {
	Reservation *Reservation
	Vnode       pbs.VnodeName
	Occurrence  int // in Reservation.Occurrences
	From, Until pbs.Time
	Items       resource.List
	Alone, Host bool // it wants the vnode, or its whole host, for itself
}

// Overlaps reports whether the promise has an instant in common with a period; periods that touch have none.
func (p *Promise) Overlaps(from, until pbs.Time) bool { return p.From < until && from < p.Until }

// promises returns what the reservation has, by vnode and occurrence. Of one that is being deleted they end when its jobs
// have left, so they count as they are.
func (r *Reservation) promises(t *tables) []*Promise {
	var all []*Promise
	place := r.Placement()
	for n := range r.Occurrences {
		nodes, err := spec.ParseExecVnode(r.Occurrences[n].Nodes)
		if r.Occurrences[n].Nodes == "" || err != nil {
			continue
		}
		from, until := r.Times(n)
		first := len(all)
		for _, ch := range nodes {
			for _, part := range ch.Parts {
				i := slices.IndexFunc(all[first:], func(p *Promise) bool { return p.Vnode == part.Vnode })
				if i < 0 {
					all = append(all, &Promise{
						Reservation: r, Vnode: part.Vnode, Occurrence: n, From: from, Until: until, Items: part.Items,
						Alone: place.Sharing == spec.Exclusive || place.Sharing == spec.ExclusiveHost, Host: place.Sharing == spec.ExclusiveHost,
					})
					continue
				}
				if sum, err := resource.Add(all[first+i].Items, part.Items, t); err == nil {
					all[first+i].Items = sum
				}
			}
		}
	}
	return all
}

func (p *Promise) compare(o *Promise) int {
	return cmp.Or(cmp.Compare(p.Vnode, o.Vnode), cmp.Compare(p.Reservation.Seq, o.Reservation.Seq), cmp.Compare(p.Occurrence, o.Occurrence))
}

// Reservation returns the reservation with the id.
func (t *tables) Reservation(id pbs.ReservationID) (*Reservation, bool) {
	return t.reservations.get(&Reservation{ID: id, Seq: id.Seq()})
}

// ReservationOf returns the reservation whose queue has the name.
func (t *tables) ReservationOf(queue pbs.QueueName) (*Reservation, bool) {
	q, ok := t.Queue(queue)
	if !ok || q.Reservation == "" {
		return nil, false
	}
	return t.Reservation(q.Reservation)
}

// Reservations yields all in the order of their creation.
func (t *tables) Reservations() iter.Seq[*Reservation] { return t.reservations.all() }

// PromisesOf yields what reservations have, or are to have, of a vnode.
func (t *tables) PromisesOf(v pbs.VnodeName) iter.Seq[*Promise] {
	return func(yield func(*Promise) bool) {
		for p := range t.promised.from(&Promise{Vnode: v, Reservation: &Reservation{}}) {
			if p.Vnode != v || !yield(p) {
				return
			}
		}
	}
}

// Promises yields what reservations have, or are to have, of all vnodes, by vnode.
func (t *tables) Promises() iter.Seq[*Promise] { return t.promised.all() }

// PutReservation stores a reservation.
func (tx *Tx) PutReservation(r *Reservation) {
	r.Modified, r.Changed = tx.index, tx.Now()
	old, delta := tx.reservations.put(r)
	tx.digest += delta
	tx.indexReservation(old, r)
}

// DeleteReservation removes one that is over. Its queue is the caller's to remove.
func (tx *Tx) DeleteReservation(r *Reservation) {
	old, delta := tx.reservations.remove(r)
	tx.digest += delta
	tx.indexReservation(old, nil)
}

// indexReservation brings what follows from a reservation up to date.
func (tx *Tx) indexReservation(old, r *Reservation) {
	if r != nil {
		r.due = r.next()
	}
	tx.moments.move(old, r, func(*Reservation) bool { return true })
	if old != nil {
		for _, p := range old.promises(&tx.tables) {
			tx.promised.drop(p)
		}
	}
	if r != nil {
		for _, p := range r.promises(&tx.tables) {
			tx.promised.set(p)
		}
	}
}

func (tx *Tx) touchVnode(name pbs.VnodeName) {
	for range tx.PromisesOf(name) {
		tx.touchedVnodes = append(tx.touchedVnodes, name)
		return
	}
}

func (tx *Tx) touchReservation(j *Job) {
	if j != nil && j.Reservation != "" && !slices.Contains(tx.touchedReservations, j.Reservation) {
		tx.touchedReservations = append(tx.touchedReservations, j.Reservation)
	}
}

// Touched returns the promised vnodes whose conditions, and the reservations whose jobs have changed since it was asked last.
func (tx *Tx) Touched() ([]pbs.VnodeName, []pbs.ReservationID) {
	vnodes, reservations := tx.touchedVnodes, tx.touchedReservations
	tx.touchedVnodes, tx.touchedReservations = nil, nil
	return vnodes, reservations
}

// never is after all times that anybody can name.
const never = pbs.Time(1<<63 - 1)

// next returns the next moment at which something is due: the start of one that has not begun, the end of one that has
// and of one that never will, the end of the patience with one that is idle.
func (r *Reservation) next() pbs.Time {
	switch {
	case r.Start == 0, r.State == pbs.ResvBeingDeleted, r.State == pbs.ResvDeletingJobs:
		return never
	case !r.Running() && !r.Void:
		return r.Start
	case r.Idle != 0:
		return min(r.End, r.Idle+r.Patience())
	}
	return r.End
}

// Patience returns delete_idle_time: how long it may run without a job; 0: as long as it likes.
func (r *Reservation) Patience() pbs.Time {
	text, _ := r.Attrs.Get("delete_idle_time", "")
	q, err := resource.Parse(resource.Time, text)
	if err != nil {
		return 0
	}
	return pbs.Time(q.Int()) * pbs.Time(time.Second)
}

// PostProcessing returns resv_post_processing_time: how long before their end reservations are closed.
func (s *Server) PostProcessing() pbs.Time {
	return pbs.Time(s.Seconds("resv_post_processing_time")) * pbs.Time(time.Second)
}

// Closes returns when the present occurrence is over, which is its end but for resv_post_processing_time.
func (t *tables) Closes(r *Reservation) pbs.Time {
	return max(r.Start, r.End-t.server.PostProcessing())
}

// DueReservations yields the reservations of which something may be due at a time, the earliest first.
func (t *tables) DueReservations(at pbs.Time) iter.Seq[*Reservation] {
	return func(yield func(*Reservation) bool) {
		for r := range t.moments.all() {
			if r.due > at+t.server.PostProcessing() || !yield(r) {
				return
			}
		}
	}
}

// NextReservation returns the next moment at which something is due of a reservation; false if there is none.
func (t *tables) NextReservation() (at pbs.Time, ok bool) {
	post := t.server.PostProcessing()
	for r := range t.moments.all() {
		if r.due == never || ok && r.due-post >= at {
			break
		}
		due := r.due
		if r.Running() {
			due = min(due, t.Closes(r))
		}
		if !ok || due < at {
			at, ok = due, true
		}
		if post == 0 {
			break
		}
	}
	return at, ok
}

// Insiders yields the jobs in a reservation that are not over.
func (t *tables) Insiders(id pbs.ReservationID) iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for j := range t.insiders.from(&Job{Reservation: id}) {
			if j.Reservation != id || !yield(j) {
				return
			}
		}
	}
}

// Occupied reports whether a job of the reservation is on vnodes.
func (t *tables) Occupied(id pbs.ReservationID) bool {
	for j := range t.Insiders(id) {
		if j.Live() {
			return true
		}
	}
	return false
}

// reservedText is the attribute resv of a vnode.
func (t *tables) reservedText(v *Vnode) string {
	var ids []string
	for p := range t.PromisesOf(v.Name) {
		if id := string(p.Reservation.ID); len(ids) == 0 || ids[len(ids)-1] != id {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, ", ")
}

// assignedWhole returns what the server has assigned: to reservations that have begun as a whole, and to jobs outside of them.
func (t *tables) assignedWhole() resource.List {
	sum := t.assigned("")
	for r := range t.Reservations() {
		if !r.Started() {
			continue
		}
		if less, err := resource.Sub(sum, t.assigned(r.ID.Queue()), t); err == nil {
			sum = less
		}
		if more, err := resource.Add(sum, resource.Only(r.Resources, t, resource.PerQueue), t); err == nil {
			sum = more
		}
	}
	return nonZero(sum, t)
}

func (t *tables) checkReservations() error {
	var errs []error
	for r := range t.Reservations() {
		q, ok := t.Queue(r.ID.Queue())
		if !ok || q.Reservation != r.ID {
			errs = append(errs, fmt.Errorf("reservation %s has no queue of its own", r.ID))
		}
		if len(r.Occurrences) == 0 {
			errs = append(errs, fmt.Errorf("reservation %s has no occurrence", r.ID))
		}
	}
	var all []*Promise // of one vnode
	for p := range t.Promises() {
		if len(all) > 0 && all[0].Vnode != p.Vnode {
			errs = append(errs, t.checkPromises(all[0].Vnode, all))
			all = nil
		}
		if p.Reservation.Well() {
			all = append(all, p)
		}
	}
	if len(all) > 0 {
		errs = append(errs, t.checkPromises(all[0].Vnode, all))
	}
	return errors.Join(errs...)
}

// Well reports whether a reservation is to get what it was promised: none is that has lost vnodes, and a maintenance, or one
// that was forced, may take what others have.
func (r *Reservation) Well() bool {
	return !r.Maintenance() && !r.Forced && (r.State == pbs.ResvConfirmed || r.State == pbs.ResvRunning && r.Substate == pbs.ResvRunning)
}

// checkPromises verifies that a vnode has at all times what is promised of it (L15).
func (t *tables) checkPromises(name pbs.VnodeName, all []*Promise) error {
	v, ok := t.Vnode(name)
	if !ok {
		return fmt.Errorf("reservation %s has vnode %s, which is none", all[0].Reservation.ID, name)
	}
	for _, at := range all {
		var sum resource.List
		var alone pbs.ReservationID
		held := 0
		for _, p := range all {
			if p.From > at.From || p.Until <= at.From {
				continue
			}
			if held++; p.Alone {
				alone = p.Reservation.ID
			}
			if more, err := resource.Add(sum, v.Own(p.Items), t); err == nil {
				sum = more
			}
		}
		if short := resource.Fits(sum, v.Available(), nil, t); short != nil {
			return fmt.Errorf("vnode %s is promised more than it has at %d (L15): %w", name, at.From.Unix(), short)
		}
		if alone != "" && held > 1 {
			return fmt.Errorf("vnode %s is promised to %s alone at %d, and to others (L15)", name, alone, at.From.Unix())
		}
	}
	return nil
}

// checkReserved verifies that the reservation that holds a share of a vnode has begun.
func (t *tables) checkReserved(v *Vnode, share Reserved) error {
	r, ok := t.Reservation(share.Reservation)
	switch {
	case !ok:
		return fmt.Errorf("vnode %s is held by %s, which is no reservation", v.Name, share.Reservation)
	case !r.Started():
		return fmt.Errorf("vnode %s is held by %s in state %s", v.Name, share.Reservation, r.State)
	}
	return nil
}

// checkUsed verifies that what reservations count as used of a vnode is what their jobs hold.
func checkUsed(v *Vnode, used map[pbs.ReservationID]resource.List, t resource.Table) error {
	for _, r := range v.Reserved {
		if !resource.Equal(r.Used, used[r.Reservation], t) {
			return fmt.Errorf("vnode %s: %s has %v in use, its jobs hold %v", v.Name, r.Reservation, r.Used, used[r.Reservation])
		}
		delete(used, r.Reservation)
	}
	for id := range used {
		return fmt.Errorf("vnode %s has jobs of %s, which has nothing of it", v.Name, id)
	}
	return nil
}

// ReservationAttributes returns every attribute of a reservation, in the order of the attribute table.
func (t *tables) ReservationAttributes(r *Reservation) attr.List {
	hot := map[string]string{
		"Reserve_Owner":    r.Owner.String(),
		"reserve_state":    r.State.String(),
		"reserve_substate": strconv.Itoa(int(r.Substate)),
		"reserve_start":    seconds(r.Start),
		"reserve_end":      seconds(r.End),
		"reserve_duration": strconv.FormatInt(r.shownLength().Unix(), 10),
		"queue":            string(r.ID.Queue()),
		"resv_nodes":       r.Nodes(),
		"server":           t.cluster.Name,
		"ctime":            seconds(r.Created),
		"mtime":            seconds(r.Changed),
		"reserve_rrule":    r.Rule,
		"reserve_count":    strconv.Itoa(r.Count),
		"reserve_retry":    seconds(r.Retry),
	}
	if _, named := r.Attrs.Get("Reserve_Name", ""); !named {
		hot["Reserve_Name"] = NoReserveName
	}
	if r.Rule != "" {
		hot["reserve_index"] = strconv.Itoa(r.Index())
	}
	if r.State != pbs.ResvUnconfirmed {
		hot["partition"] = "pbs-default"
	}
	var out attr.List
	for _, def := range attr.All(attr.Reservation) {
		switch v, computed := hot[def.Name]; {
		case def.Name == "Resource_List":
			out = appendItems(out, def.Name, r.ShownResources())
		case computed:
			out = appendValue(out, def.Name, v)
		default:
			out = appendCold(out, def, r.Attrs)
		}
	}
	return out
}

// NoReserveName is shown of a reservation without a name.
const NoReserveName = "NULL"

// Name returns Reserve_Name.
func (r *Reservation) Name() string {
	if name, ok := r.Attrs.Get("Reserve_Name", ""); ok {
		return name
	}
	return NoReserveName
}

func (r *Reservation) shownLength() pbs.Time {
	if r.Start == 0 {
		return r.Length
	}
	return r.End - r.Start
}

// ShownResources returns Resource_List in its order: consumables by name, nodect, select, place, walltime.
func (r *Reservation) ShownResources() resource.List {
	var out resource.List
	last := []string{"nodect", "select", "place", "walltime"}
	for _, it := range r.Resources {
		if !slices.Contains(last, it.Name) {
			out = append(out, it)
		}
	}
	for _, name := range last {
		if value, ok := r.Resources.Get(name); ok {
			out = append(out, resource.Item{Name: name, Value: value})
		}
	}
	return out
}
