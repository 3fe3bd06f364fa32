package command

import (
	"slices"

	"rampart/fsm/alloc"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// deletable refuses to delete a resource that a job names, a finished one too, whose records
// could not be read without it, that a reservation names, or that suspended jobs are to release.
func deletable(tx *state.Tx, name string) error {
	if jobNames(tx, name, func(*state.Job) bool { return true }) {
		return pbs.Errorf(pbs.ResourceBusy, "Resource busy on job")
	}
	if reservationNames(tx, name) {
		return pbs.Errorf(pbs.ResourceBusy, "Resource busy on reservation")
	}
	if slices.Contains(tx.Server().List("restrict_res_to_release_on_suspend"), name) {
		return pbs.Errorf(pbs.ResourceBusy, "Resource busy on server")
	}
	return nil
}

// unsetResource unsets the resource at server, schedulers, queues and vnodes. What moms offer of one that is
// built in, too, stays.
func unsetResource(tx *state.Tx, name string) {
	_, stays := resource.Lookup(name)
	server := *tx.Server()
	if names(server.Attrs, name) || names(server.Sched, name) || slices.Contains(server.Used, name) {
		server.Attrs, server.Sched, server.Used = silent(server.Attrs, name), silent(server.Sched, name), withoutName(server.Used, name)
		tx.PutServer(&server)
	}
	if server = *tx.Server(); slices.ContainsFunc(server.Scheds, func(s state.Scheduler) bool { return names(s.Attrs, name) }) {
		server.Scheds = slices.Clone(server.Scheds)
		for i := range server.Scheds {
			server.Scheds[i].Attrs = silent(server.Scheds[i].Attrs, name)
		}
		tx.PutServer(&server)
	}
	for _, q := range slices.Collect(tx.Queues()) {
		if names(q.Attrs, name) || slices.Contains(q.Used, name) {
			next := *q
			next.Attrs, next.Used = silent(q.Attrs, name), withoutName(q.Used, name)
			tx.PutQueue(&next)
		}
	}
	for _, v := range slices.Collect(tx.Vnodes()) {
		_, set := v.Configured.Get(name)
		_, told := v.Reported.Get(name)
		_, had := v.Assigned.Get(name)
		told = told && !stays
		had = had || slices.ContainsFunc(v.Reserved, func(r alloc.Reserved) bool { return usedOf(r, name) })
		if set || told || had || names(v.Attrs, name) {
			next := *v
			next.Configured, next.Assigned, next.Attrs = v.Configured.Unset(name), v.Assigned.Unset(name), silent(v.Attrs, name)
			next.Reserved = slices.Clone(v.Reserved)
			for i := range next.Reserved {
				next.Reserved[i].Used = next.Reserved[i].Used.Unset(name)
			}
			if !stays {
				next.Reported = v.Reported.Unset(name)
			}
			tx.PutVnode(&next)
		}
	}
}

// usedOf reports whether jobs of a reservation have used the resource.
func usedOf(r alloc.Reserved, name string) bool {
	_, used := r.Used.Get(name)
	return used
}

// silent returns a list without what it says of a resource.
func silent(list attr.List, res string) attr.List {
	return slices.DeleteFunc(slices.Clone(list), func(e attr.Entry) bool { return e.Resource == res })
}
