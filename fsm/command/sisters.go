package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// partOf reports whether the run may live on the host: it is its mother superior, or a sister
// that has not confirmed its end.
func partOf(j *state.Job, host pbs.HostName, run pbs.RunCount) bool {
	return j.Is(run) && (j.Run.MS == host || j.LastRun().Sister(host))
}

// sisterEnded notes that the part of the present run on a sister is over, so that nobody
// waits for that host later (L2). What becomes of the job its mother superior says.
func sisterEnded(tx *state.Tx, j *state.Job, host pbs.HostName) error {
	if j.LastRun().HasLeft(host) {
		return vacate(tx, j, host)
	}
	next := *j
	next.EditRun().Over = append(slices.Clip(j.Run.Over), host)
	tx.PutJob(&next)
	return nil
}

// endSisters is called when a run is over by the word of its mother superior, or without: the
// sisters that have not confirmed their part are ordered to end it, and the job does not start
// again before they have (L2). It changes j, which the caller stores.
func endSisters(tx *state.Tx, j *state.Job, again bool) {
	j.Unconfirmed = slices.Clip(j.Unconfirmed) // what is added is no earlier record's
	run := j.EditRun()
	for _, host := range run.LiveSisters() {
		dropOrders(tx, host, j.ID, j.RunCount)
		tx.Order(state.Order{Host: host, Kind: state.OrderKill, Job: j.ID, RunCount: j.RunCount, Requeue: again})
		if h, ok := tx.Host(host); again && ok && !h.GivenUp {
			j.Unconfirmed = append(j.Unconfirmed, state.HostRun{Host: host, RunCount: j.RunCount})
		}
	}
	run.Sisters, run.Over = nil, nil
}

// loseSister ends a run of which a sister's part is lost: its mother superior ends the rest. A host
// that an open release leaves is missed only if that comes to nothing.
func (l loss) loseSister(tx *state.Tx, m Meta, j *state.Job) error {
	left := j.LastRun().HasLeft(l.host)
	if err := sisterEnded(tx, j, l.host); err != nil {
		return err
	}
	j, _ = tx.Job(j.ID)
	if !l.orders {
		dropOrders(tx, l.host, j.ID, j.RunCount)
	}
	switch {
	case left:
		return nil
	case j.Run.Release.Leaves(l.host):
		next, r := *j, *j.Run.Release
		r.Lost = l.why
		next.EditRun().Release = &r
		tx.PutJob(&next)
		return nil
	}
	return endWithout(tx, j, l.why)
}

// endWithout ends the run of a job that has lost a host for good, unless it bears that or ends
// already.
func endWithout(tx *state.Tx, j *state.Job, why string) error {
	if j.State != pbs.Running || bears(j) {
		return nil
	}
	next := *j
	next.Comment = "Job ended, " + why
	refuseRelease(&next, pbs.BadState)
	if !j.NotRerunnable {
		if err := move(&next, pbs.EventRerun); err != nil {
			return err
		}
		next.Substate, next.EditRun().Ending = pbs.SubRerunning, state.EndingRerun
	}
	tx.PutJob(&next)
	kill(tx, &next, 0, !j.NotRerunnable)
	return nil
}

// spread names the sisters of a run: the hosts of its vnodes but the first one's, in their
// order. While a replica may be too old for them there are none.
func spread(tx *state.Tx, j *state.Job, shares map[pbs.VnodeName]*share, order []pbs.VnodeName) error {
	met := map[pbs.HostName]bool{j.Run.MS: true}
	for _, name := range order {
		if host := shares[name].vnode.Host; !met[host] {
			met[host] = true
			j.Run.Sisters = append(j.Run.Sisters, host)
		}
	}
	return nil
}

func setOf(hosts []pbs.HostName) map[pbs.HostName]bool {
	set := make(map[pbs.HostName]bool, len(hosts))
	for _, h := range hosts {
		set[h] = true
	}
	return set
}
