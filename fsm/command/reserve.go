package command

import (
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// Reserve asks for a reservation: pbs_rsub. The attributes have passed the parsers of the attribute table; reserve_start,
// reserve_end, reserve_duration and reserve_rrule are not among them.
type Reserve struct {
	Owner      pbs.User   `cbor:"1,keyasint"`
	Attributes attr.List  `cbor:"2,keyasint,omitempty"`
	Starts     []pbs.Time `cbor:"3,keyasint,omitempty"` // of all occurrences, in their order; none: as soon as the job of QMove fits
	Length     pbs.Time   `cbor:"4,keyasint,omitempty"` // of each; not of one that is made of a job
	Rule       string     `cbor:"5,keyasint,omitempty"` // of a standing one
	Zone       string     `cbor:"6,keyasint,omitempty"`
	Hosts      []string   `cbor:"7,keyasint,omitempty"` // of a maintenance: resources_available.host
	Job        pbs.JobID  `cbor:"8,keyasint,omitempty"` // the running job that it is made of
	QMove      pbs.JobID  `cbor:"9,keyasint,omitempty"` // the queued job that is moved into it once it is confirmed
}

// Apply makes the reservation with its queue, and leaves it to the scheduler to find vnodes. A maintenance, and one that is
// made of a job, has them at once.
func (c *Reserve) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	r := &state.Reservation{
		Owner: c.Owner, State: pbs.ResvUnconfirmed, Substate: pbs.ResvUnconfirmed, Created: m.At, Length: c.Length, Asked: 1,
	}
	for _, e := range c.Attributes {
		if e.Name == "Resource_List" {
			r.Resources = r.Resources.Set(e.Resource, e.Value)
			continue
		}
		r.Attrs = r.Attrs.Set(e.Name, e.Resource, e.Value)
	}
	for _, name := range []string{"min_walltime", "max_walltime"} {
		if _, ok := r.Resources.Get(name); ok {
			return pbs.Refuse(pbs.ResvWalltimeRange)
		}
	}
	if c.Job != "" {
		return c.ofJob(tx, m, r, res)
	}
	if c.QMove != "" {
		if err := c.likeJob(tx, r); err != nil {
			return err
		}
	}
	if err := c.times(r, m.At); err != nil {
		return err
	}
	if len(c.Hosts) > 0 {
		return c.maintain(tx, r, res)
	}
	if err := wants(tx, r); err != nil {
		return err
	}
	kind := pbs.ResvAdvance
	if sel, err := spec.ParseSelect(r.Select); err == nil && r.Count > 1 && sel.Total() > MaxRecurring/r.Count {
		return pbs.Refuse(pbs.BadTimes)
	}
	if r.Count > 1 {
		kind, r.Rule, r.Zone = pbs.ResvStanding, c.Rule, c.Zone
	}
	book(tx, r, kind, res)
	tx.PutReservation(r)
	tx.Emit(state.Event{Kind: state.ReservationAsked, Reservation: r, By: c.Owner})
	return nil
}

// MaxRecurring is how many chunks all occurrences of a standing reservation may have together: each of them is kept, and
// counted anew whenever something becomes of the reservation.
const MaxRecurring = 100_000

// times gives the reservation its occurrences.
func (c *Reserve) times(r *state.Reservation, now pbs.Time) error {
	if c.Length <= 0 || len(c.Starts) == 0 && c.QMove == "" || len(c.Starts) > 1 && len(c.Hosts) > 0 {
		return pbs.Refuse(pbs.BadTimes)
	}
	over := now // the end of the one before
	for i, at := range c.Starts {
		end, ok := at.After(c.Length)
		if !ok || end <= now || i > 0 && at < over {
			return pbs.Refuse(pbs.BadTimes)
		}
		over = end
		r.Occurrences = append(r.Occurrences, state.Occurrence{Start: at})
	}
	if len(c.Starts) == 0 {
		r.Occurrences = []state.Occurrence{{}}
	} else {
		r.Start, r.End = c.Starts[0], c.Starts[0]+c.Length
	}
	r.Count = len(r.Occurrences)
	r.Resources = r.Resources.Set("walltime", lasting(c.Length))
	return nil
}

// lasting writes a length as a walltime.
func lasting(length pbs.Time) string {
	return resource.Seconds(int64(length / pbs.Time(time.Second))).String()
}

// wants makes the request whole, as that of a job, but that its chunks lie anywhere if nothing is said.
func wants(tx *state.Tx, r *state.Reservation) error {
	if _, ok := r.Resources.Get("place"); !ok {
		r.Resources = r.Resources.Set("place", spec.Place{Arrangement: spec.Free}.String())
	}
	like := &state.Job{Resources: r.Resources}
	if err := completeResources(tx, &state.Queue{}, like); err != nil {
		return err
	}
	r.Resources, r.Select = like.Resources, like.SchedSelect
	r.First, _ = r.Resources.Get("select")
	return nil
}

// likeJob takes over what a queued job asks for, which is to be moved into the reservation once that is confirmed.
func (c *Reserve) likeJob(tx *state.Tx, r *state.Reservation) error {
	j, err := liveJob(tx, c.QMove)
	if err != nil {
		return err
	}
	if j.State != pbs.Queued && j.State != pbs.Held {
		return pbs.Refuse(pbs.BadState)
	}
	for _, name := range []string{"select", "place"} {
		if text, ok := j.Resources.Get(name); ok {
			r.Resources = r.Resources.Set(name, text)
		}
	}
	c.Length = min(j.Lasts(0, 0), mostOfJob)
	r.Length = c.Length
	r.Attrs = r.Attrs.Set("qmove", "", string(j.ID))
	if _, ok := r.Attrs.Get("delete_idle_time", ""); !ok {
		r.Attrs = r.Attrs.Set("delete_idle_time", "", lasting(movedPatience))
	}
	return nil
}

const (
	// mostOfJob is how long a reservation lasts that is made of a job without a walltime.
	mostOfJob = pbs.Time(5 * 365 * 24 * time.Hour)
	// movedPatience is the delete_idle_time of one that a job was moved into.
	movedPatience = pbs.Time(10 * time.Minute)
)

// book gives the reservation its identifier and its queue, which is closed.
func book(tx *state.Tx, r *state.Reservation, kind byte, res *state.Result) {
	for taken := true; taken; _, taken = tx.Queue(r.ID.Queue()) { // a site may have a queue of such a name
		r.Seq = tx.NextJob()
		r.ID = pbs.NewReservationID(kind, r.Seq, tx.Cluster().Name)
	}
	tx.PutQueue(followed(tx, r, &state.Queue{Name: r.ID.Queue(), Seq: tx.NextSeq(), Reservation: r.ID}))
	res.Reservation = r.ID
}

// followed returns the queue of a reservation with the access lists and the amounts of that one.
func followed(tx *state.Tx, r *state.Reservation, q *state.Queue) *state.Queue {
	next := *q
	for _, list := range []struct{ of, acl string }{
		{"Authorized_Users", "user"}, {"Authorized_Groups", "group"}, {"Authorized_Hosts", "host"},
	} {
		on, names := "acl_"+list.acl+"_enable", "acl_"+list.acl+"s"
		next.Attrs = next.Attrs.Unset(on, "").Unset(names, "")
		if text, ok := r.Attrs.Get(list.of, ""); ok {
			next.Attrs = next.Attrs.Set(on, "", "True").Set(names, "", text)
		}
	}
	for _, name := range []string{"resources_max", "resources_available"} {
		for _, e := range next.Attrs.Of(name) {
			next.Attrs = next.Attrs.Unset(name, e.Resource)
		}
		for _, it := range amounts(tx, r.Resources) {
			next.Attrs = next.Attrs.Set(name, it.Name, it.Value)
		}
	}
	return &next
}

// amounts returns the consumables of Resource_List, without the number of chunks.
func amounts(tx *state.Tx, list resource.List) resource.List {
	return resource.Only(list, tx, resource.PerQueue).Unset("nodect")
}
