package acct

import "rampart/fsm/state"

// reservation writes the fields of a record about a reservation (specification: advance-reservations section 14).
func (f *fields) reservation(e state.Event) {
	r := e.Reservation
	switch e.Kind {
	case state.ReservationAsked:
		f.add("requestor", e.By.String())
		if wait, ok := r.Attrs.Get("interactive", ""); ok {
			f.add("Interactive", wait)
		}
		if r.Rule != "" {
			f.add("recurrence_rrule", r.Rule)
			f.add("timezone", r.Zone)
		}
	case state.ReservationConfirmed:
		f.add("requestor", e.By.String())
		f.int("start", r.Start.Unix())
		f.int("end", r.End.Unix())
		f.add("nodes", r.Nodes().String())
		if r.Rule != "" {
			f.int("count", int64(r.Count))
		}
	case state.ReservationRemoved:
		f.add("requestor", e.By.String())
	case state.ReservationBegan:
		f.add("owner", r.Owner.String())
		f.add("name", r.Name())
		f.add("queue", string(r.ID.Queue()))
		f.int("ctime", r.Created.Unix())
		f.int("start", r.Start.Unix())
		f.int("end", r.End.Unix())
		f.int("duration", (r.End - r.Start).Unix())
		if len(r.Nodes()) > 0 {
			f.add("nodes", r.Nodes().String())
		}
		for _, name := range []string{"Authorized_Users", "Authorized_Groups", "Authorized_Hosts"} {
			if list, ok := r.Attrs.Get(name, ""); ok {
				f.add(name, list)
			}
		}
		for _, it := range r.ShownResources() {
			f.add("Resource_List."+it.Name, it.Value)
		}
	}
}
