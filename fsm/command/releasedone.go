package command

import (
	"slices"
	"strconv"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// releaseAnswered is the mother superior's answer to an order about released vnodes. Only the
// asking waits for it.
func (c *OrderConfirmed) releaseAnswered(tx *state.Tx, o *state.Order) error {
	j, ok := tx.Job(o.Job)
	if o.Step != state.ReleaseAsked || !ok || !j.Is(o.RunCount) || j.Run.Release == nil || j.Run.Release.Number != o.Number {
		return nil
	}
	if c.Refusal != nil {
		next := *j
		noRelease(&next, state.Refused{Code: c.Refusal.Code, ByMom: true})
		tx.PutJob(&next)
		tx.Emit(state.Event{Kind: state.JobRefused, Job: &next, Text: "MOM rejected modify request, error: " + strconv.Itoa(int(c.Refusal.Code))})
		return missed(tx, &next, j.Run.Release)
	}
	if j.Run.Release.Prune {
		return pruned(tx, j)
	}
	return releaseDone(tx, j, c.Used, c.Present)
}

// releaseDone gives the job its smaller assignment. What it has released stays assigned until
// each mom says that the job has left its host.
func releaseDone(tx *state.Tx, j *state.Job, used, present resource.List) error {
	r := j.Run.Release
	if err := carry(tx, j, r); err != nil {
		return err
	}
	before := *j
	before.EditRun().Used = usedNow(tx, j, used)
	presentUsed(tx, &before, nil)
	tx.Emit(state.Event{Kind: state.JobPhaseEnded, Job: &before, Used: phaseUsed(&before, present)})
	next := before
	p := state.Phases{Orig: j.Grant()}
	if j.Run.Phases != nil {
		p = *j.Run.Phases
	}
	p.Acct, p.UsedAcct, p.Present = j.Grant(), before.Run.Used, nil
	p.Held = append(slices.Clip(slices.Clone(r.Released)), p.Held...)
	run := next.EditRun()
	run.Assignment, next.SchedSelect = r.To.Assignment, r.To.SchedSelect
	next.Resources = jobWide(r.To.Resources, j.Resources, tx)
	p.Charged = chargedFor(&before, next.Resources, tx)
	run.Phases, run.Release = &p, nil
	next.Releases++
	run.Assigned = assignedNow(tx, &next)
	tx.PutJob(&next)
	orderRelease(tx, &next, state.ReleaseDone)
	tx.Emit(state.Event{Kind: state.JobPhaseBegan, Job: &next})
	live := setOf(run.LiveSisters())
	for _, h := range r.Released {
		if h.Left && !live[h.Host] { // its part is over already
			now, _ := tx.Job(j.ID)
			if err := vacate(tx, now, h.Host); err != nil {
				return err
			}
		}
	}
	return nil
}

// chargedFor returns what a job takes of the server's and the queue's resources with a smaller
// request: of what vnodes have, all that it has and all that is held; sizes in kb, as vnodes
// tell them.
func chargedFor(j *state.Job, request resource.List, tx *state.Tx) (all resource.List) {
	before := resource.Only(j.Resources, tx, resource.PerQueue)
	if j.Run.Phases != nil {
		before = j.Run.Phases.Charged
	}
	for _, it := range before {
		def, _ := tx.Resource(it.Name)
		value, stays := it.Value, true
		if !def.AtVnodes() {
			value, stays = request.Get(it.Name)
		} else if q, err := def.Parse(it.Value); err == nil {
			value = q.InKB().String()
		}
		if stays {
			all = all.Set(it.Name, value)
		}
	}
	return all
}

// phaseUsed returns the usage of the phase that ends: cput and walltime since the one before, the
// others as the hosts of the phase tell them now (specification: ramp-down section 13).
func phaseUsed(j *state.Job, present resource.List) resource.List {
	used := j.Run.Used
	var last resource.List
	if j.Run.Phases != nil {
		used, last = overlaid(used, j.Run.Phases.Present), j.Run.Phases.UsedAcct
	}
	used = overlaid(overlaid(used, present), cpusOf(j))
	for _, name := range []string{"cput", "walltime"} {
		total, ok := j.Run.Used.Get(name)
		if !ok {
			continue
		}
		def, _ := resource.Lookup(name)
		before, _ := last.Get(name)
		used = used.Set(name, resource.Seconds(def.Measure(total)-def.Measure(before)).String())
	}
	return used
}

// jobWide returns what an assignment requests, with what belongs to the whole job as it is by
// now: it may have been altered.
func jobWide(chunks, now resource.List, t resource.Table) resource.List {
	for _, it := range now {
		if def, ok := t.Resource(it.Name); ok && !def.AtHost() && it.Name != "nodect" && it.Name != "select" {
			chunks = chunks.Set(it.Name, it.Value)
		}
	}
	return chunks
}

// assignedNow returns what the present assignment is charged with: of a vnode that the job has to
// itself all, once.
func assignedNow(tx *state.Tx, j *state.Job) resource.List {
	parts := j.Run.ExecVnode
	sum := resource.NewSum(tx)
	asked := map[pbs.VnodeName][]resource.List{}
	for _, c := range parts {
		for _, p := range c.Parts {
			asked[p.Vnode] = append(asked[p.Vnode], p.Items)
		}
	}
	for _, name := range parts.Vnodes() {
		v, ok := tx.Vnode(name)
		if ok && slices.ContainsFunc(v.Jobs, func(h state.VnodeJob) bool {
			return h.Of(j) && h.Exclusive
		}) {
			all, _ := resource.AddAll(asked[name], tx)
			sum.Add(wholeOf(v, all))
			continue
		}
		for _, items := range asked[name] {
			sum.Add(items)
		}
	}
	return sum.List()
}

// vacate gives back what is held on a host that the job has left: its mom has said so, or no
// run of it can live there.
func vacate(tx *state.Tx, j *state.Job, host pbs.HostName) error {
	next, p := *j, *j.Run.Phases
	of := func(h state.Holding) bool { return h.Host == host }
	p.Held = allBut(j.Run.Phases.Held, of)
	gone := map[pbs.VnodeName]bool{}
	var order []pbs.VnodeName
	for _, h := range j.Run.Phases.Held {
		if !of(h) {
			continue
		}
		for _, c := range h.Chunks {
			for _, part := range c.Parts {
				var err error
				if p.Charged, err = resource.Sub(p.Charged, resource.Only(part.Items, tx, resource.PerQueue), tx); err != nil {
					return err
				}
				if !gone[part.Vnode] {
					gone[part.Vnode] = true
					order = append(order, part.Vnode)
				}
			}
		}
	}
	is := func(h pbs.HostName) bool { return h == host }
	run := next.EditRun()
	run.Sisters, run.Over, run.Phases = allBut(run.Sisters, is), allBut(run.Over, is), &p
	tx.PutJob(&next)
	cpus, slots := 0, []uint32(nil)
	for _, name := range order {
		n, had := leave(tx, j, name)
		cpus, slots = cpus+n, append(slots, had...)
		tx.Emit(state.Event{Kind: state.VnodeLeft, Object: string(host), Text: "clearing job " + string(j.ID) + " from node " + string(name)})
	}
	tx.Emit(state.Event{Kind: state.VnodeLeft, Object: string(host), Text: "deallocating " + strconv.Itoa(cpus) + " cpu(s) from job " + string(j.ID)})
	keepSlots(tx, j, host, slots)
	return nil
}

// allBut returns a list without some of its elements. The lists of a wide job are long, and most
// of them stays: it is copied in pieces.
func allBut[T any](list []T, some func(T) bool) []T {
	at := slices.IndexFunc(list, some)
	if at < 0 {
		return list
	}
	rest := make([]T, 0, len(list)-1)
	for ; at >= 0; at = slices.IndexFunc(list, some) {
		rest, list = append(rest, list[:at]...), list[at+1:]
	}
	if rest = append(rest, list...); len(rest) == 0 {
		return nil
	}
	return rest
}

// keepSlots notes the indices of exec_host that a run keeps until it is over, and drops those
// of runs that are.
func keepSlots(tx *state.Tx, j *state.Job, host pbs.HostName, slots []uint32) {
	h, ok := tx.Host(host)
	if !ok {
		return
	}
	next := *h
	next.Kept = nil
	for _, k := range h.Kept {
		if keeps(tx, k) {
			next.Kept = append(next.Kept, k)
		}
	}
	next.Kept = append(next.Kept, state.KeptSlots{Job: j.ID, RunCount: j.RunCount, Slots: slots})
	tx.PutHost(&next)
}

// keeps reports whether the run that keeps slots is on.
func keeps(tx *state.Tx, k state.KeptSlots) bool {
	j, ok := tx.Job(k.Job)
	return ok && j.Is(k.RunCount)
}

// leave takes a run off a vnode, and returns how many of its cpus are free by that, and which
// slots it had there.
func leave(tx *state.Tx, j *state.Job, name pbs.VnodeName) (cpus int, slots []uint32) {
	v, ok := tx.Vnode(name)
	if !ok {
		return 0, nil
	}
	at := heldAt(v, j)
	if at >= 0 {
		held := v.Jobs[at]
		slots, cpus = held.Slots, cpusIn(held.Items)
	}
	vacated(tx, v, at)
	return cpus, slots
}

// endPhases is called when a run is over: nothing is held any more, and a release that was
// asked for comes to nothing. It changes j, which the caller stores.
func endPhases(j *state.Job) {
	refuseRelease(j, pbs.BadState)
	if p := j.Run.Phases; p != nil && len(p.Held) > 0 {
		now := *p
		now.Held = nil
		j.EditRun().Phases = &now
	}
}

// wholeAgain gives a job that is queued again what it had requested before it released vnodes.
func wholeAgain(j *state.Job, t resource.Table) {
	if p := j.Run.Phases; p != nil {
		j.SchedSelect, j.Resources = p.Orig.SchedSelect, jobWide(p.Orig.Resources, j.Resources, t)
	}
}
