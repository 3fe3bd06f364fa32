package command

import (
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// AlterReservation changes a reservation: pbs_ralter. Lists and names change at once, times and select once the scheduler
// says that they fit.
type AlterReservation struct {
	Reservation pbs.ReservationID `cbor:"1,keyasint"`
	Changes     []AttrChange      `cbor:"2,keyasint,omitempty"` // but for times
	Start       pbs.Time          `cbor:"3,keyasint,omitempty"` // 0: as it is
	End         pbs.Time          `cbor:"4,keyasint,omitempty"` // 0: as it is
	Length      pbs.Time          `cbor:"5,keyasint,omitempty"` // 0: it follows from the others
	Force       bool              `cbor:"6,keyasint,omitempty"` // -W force
}

// Apply changes names and lists at once. Times and select are changed when the scheduler says that they fit; what was asked
// in the same call waits with them.
func (c *AlterReservation) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	r, ok := tx.Reservation(c.Reservation)
	if !ok {
		return pbs.Refuse(pbs.UnknownReservation)
	}
	res.Reservation = r.ID
	if r.State == pbs.ResvBeingDeleted || r.State == pbs.ResvDeletingJobs || r.State == pbs.ResvBeingAltered {
		return pbs.Refuse(pbs.BadState)
	}
	ask, decide, err := c.wanted(tx, m, r)
	if err != nil {
		return err
	}
	next := *r
	if !decide {
		next.Attrs = ask.Attrs
		tx.PutReservation(&next)
		follow(tx, &next)
		return nil
	}
	next.Ask, next.Asked = ask, r.Asked+1
	asked := next
	tx.Emit(state.Event{Kind: state.ReservationAlterAsked, Reservation: &asked, By: m.Asker, Text: c.named()})
	switch {
	case r.State == pbs.ResvUnconfirmed: // the request itself is another, and not decided
		next.Ask, next.Denied = nil, nil
		next.Resources, next.Select, next.Attrs = ask.Resources, ask.Select, ask.Attrs
		retime(&next, ask)
		tx.PutReservation(&next)
		follow(tx, &next)
		return nil
	case c.Force:
		next.Forced = true
		return grant(tx, &next, r.Nodes(), false, scheduler(tx))
	}
	next.State = pbs.ResvBeingAltered
	tx.PutReservation(&next)
	return nil
}

// wanted returns what the reservation is to be, and whether that has to be decided by the scheduler.
func (c *AlterReservation) wanted(tx *state.Tx, m Meta, r *state.Reservation) (*state.ReservationChange, bool, error) {
	ask := &state.ReservationChange{Start: r.Start, End: r.End, Resources: r.Resources, Select: r.Select, Attrs: r.Attrs, Back: r.Status()}
	text := ""
	for _, ch := range c.Changes {
		switch e := ch.Entry; {
		case e.Name == "Resource_List" && e.Resource == "select":
			text = e.Value
		case e.Name == "Resource_List":
			return nil, false, pbs.Refuse(pbs.NotSupported)
		case ch.Op == OpUnset:
			ask.Attrs = ask.Attrs.Unset(e.Name, e.Resource)
		default:
			ask.Attrs = ask.Attrs.Set(e.Name, e.Resource, e.Value)
		}
	}
	timed, err := c.times(m, r, ask)
	if err != nil {
		return nil, false, err
	}
	if ask.Start != r.Start && r.Running() && !empty(tx, r.ID) {
		return nil, false, pbs.Refuse(pbs.ResvNotEmpty)
	}
	if timed && len(r.Occurrences) > 1 && ask.End > r.Occurrences[1].Start {
		return nil, false, pbs.Refuse(pbs.ResvInterferes)
	}
	if text != "" {
		if err := reselect(tx, r, ask, text); err != nil {
			return nil, false, err
		}
	}
	if timed {
		ask.Resources = ask.Resources.Set("walltime", lasting(ask.End-ask.Start))
	}
	return ask, timed || text != "", nil
}

// times works out the period: a start alone keeps the end, an end or a length alone keeps the start.
func (c *AlterReservation) times(m Meta, r *state.Reservation, ask *state.ReservationChange) (bool, error) {
	start, end, length := c.Start, c.End, c.Length
	switch {
	case start == 0 && end == 0 && length == 0:
		return false, nil
	case start != 0 && end == 0 && length == 0:
		end = r.End
	case start == 0 && end != 0 && length != 0:
		start = end - length
	case start == 0:
		start = r.Start
	}
	told := true
	if end == 0 {
		end, told = start.After(length)
	}
	if !told || length != 0 && length != end-start || end <= start {
		return false, pbs.Refuse(pbs.BadTimes)
	}
	if start != r.Start && start < m.At || !r.Running() && end <= m.At {
		return false, pbs.Refuse(pbs.BadTimes)
	}
	ask.Start, ask.End = start, end
	return true, nil
}

// reselect takes over a select that leaves out chunks of the first one.
func reselect(tx *state.Tx, r *state.Reservation, ask *state.ReservationChange, text string) error {
	like := state.Reservation{Resources: resource.List{}.Set("select", text)}
	if place, ok := r.Resources.Get("place"); ok {
		like.Resources = like.Resources.Set("place", place)
	}
	if err := wants(tx, &like); err != nil {
		return err
	}
	first, err1 := spec.ParseSelect(r.First)
	now, err2 := spec.ParseSelect(text)
	if err1 != nil || err2 != nil || !chunksOf(now, first) {
		return pbs.Refuse(pbs.ResvNotSubset)
	}
	if walltime, ok := r.Resources.Get("walltime"); ok {
		like.Resources = like.Resources.Set("walltime", walltime)
	}
	ask.Resources, ask.Select = like.Resources, like.Select
	return nil
}

// chunksOf reports whether all chunks of a select are among those of another.
func chunksOf(some, all spec.Select) bool {
	left := map[string]int{}
	for _, ch := range all.Chunks {
		left[chunkText(ch)] += ch.Count
	}
	for _, ch := range some.Chunks {
		if left[chunkText(ch)] -= ch.Count; left[chunkText(ch)] < 0 {
			return false
		}
	}
	return true
}

// chunkText writes one chunk, the same whatever the order of its resources.
func chunkText(ch spec.Chunk) string {
	var words []string
	for _, it := range ch.Items {
		words = append(words, it.Name+"="+it.Value)
	}
	slices.Sort(words)
	return strings.Join(words, ":")
}

// named says which of the values are new, for the log.
func (c *AlterReservation) named() string {
	var words []string
	if c.Start != 0 || c.Length != 0 && c.End != 0 {
		words = append(words, "start")
	}
	if c.End != 0 || c.Length != 0 {
		words = append(words, "end")
	}
	if slices.ContainsFunc(c.Changes, func(ch AttrChange) bool { return ch.Entry.Resource == "select" }) {
		words = append(words, "select")
	}
	return strings.Join(words, " ")
}

// denyAlteration leaves all as it was, what needed no decision too.
func denyAlteration(tx *state.Tx, r *state.Reservation) {
	r.State, r.Substate, r.Ask = r.Ask.Back.State, r.Ask.Back.Substate, nil
	tx.PutReservation(r)
	tx.Emit(state.Event{Kind: state.ReservationAlterDenied, Reservation: r})
	judge(tx, r.ID) // what became of its vnodes meanwhile
}

// retime gives a reservation the times that were asked for.
func retime(r *state.Reservation, ask *state.ReservationChange) {
	r.Occurrences = slices.Clone(r.Occurrences)
	r.Start, r.End, r.Occurrences[0].Start = ask.Start, ask.End, ask.Start
	if len(r.Occurrences) == 1 {
		r.Length = ask.End - ask.Start
	}
}

// grant makes the alteration that was asked for, on the vnodes that were found. A forced alteration respects no other reservation.
func grant(tx *state.Tx, r *state.Reservation, nodes spec.ExecVnode, check bool, by pbs.User) error {
	ask, before := r.Ask, r.Nodes()
	running := ask.Back.State == pbs.ResvRunning
	start, end, has := r.Start, r.End, r.Resources
	r.State, r.Substate, r.Ask = ask.Back.State, ask.Back.Substate, nil
	r.Resources, r.Select, r.Attrs = ask.Resources, ask.Select, ask.Attrs
	retime(r, ask)
	if check {
		if err := vacant(tx, r, 0, nodes); err != nil {
			return err
		}
		if r.Start < start || r.End > end || !resource.Equal(r.Resources, has, tx) { // what it has was promised
			if err := serverHas(tx, r, 1); err != nil {
				return err
			}
		}
		if short := tx.InsidersStay(r, r.End); running && short != nil {
			return pbs.Errorf(pbs.ResourceBusy, "jobs of %s: %s", r.ID, short.Error())
		}
	}
	r.Occurrences[0].Nodes, r.Granted = nodes, tx.Index()
	switch {
	case running && r.Start > tx.Now(): // nobody is in it: it waits again
		unreserve(tx, before, r.ID)
		r.State, r.Substate, r.Idle = pbs.ResvConfirmed, pbs.ResvConfirmed, 0
		setStarted(tx, r, false)
	case running:
		if err := reshare(tx, r, before); err != nil {
			return err
		}
	}
	tx.PutReservation(r)
	follow(tx, r)
	tx.Emit(state.Event{Kind: state.ReservationConfirmed, Reservation: r, By: by, Text: "alter"})
	judge(tx, r.ID)
	return turn(tx, r.ID)
}

// follow brings the queue up to what the reservation is.
func follow(tx *state.Tx, r *state.Reservation) {
	if q, ok := tx.Queue(r.ID.Queue()); ok {
		tx.PutQueue(followed(tx, r, q))
	}
}
