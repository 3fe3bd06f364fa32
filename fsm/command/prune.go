package command

import (
	"slices"
	"strconv"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// PruneJob asks for vnodes of a run to be given back before its program begins: its mother
// superior has hosts that failed, or the site wants what was asked for and no more
// (specification: reliable-startup sections 7 to 9). It goes the way of ReleaseNodes.
type PruneJob struct {
	Job      pbs.JobID      `cbor:"1,keyasint"`
	RunCount pbs.RunCount   `cbor:"2,keyasint"`
	Host     pbs.HostName   `cbor:"3,keyasint"`           // that asks: the mother superior
	Keep     string         `cbor:"4,keyasint,omitempty"` // select; empty: all but Vnodes
	Vnodes   []string       `cbor:"5,keyasint,omitempty"`
	Bad      []pbs.HostName `cbor:"6,keyasint,omitempty"` // that nothing is kept of but the first chunk
	Earlier  []PruneStep    `cbor:"7,keyasint,omitempty"` // what is given back before that, one after the other
}

// A PruneStep is one of several wishes of hooks.
type PruneStep struct {
	Keep   string   `cbor:"1,keyasint,omitempty"`
	Vnodes []string `cbor:"2,keyasint,omitempty"`
}

// Apply orders the mother superior to save the new assignment. Result.Release is 0 when that
// changes nothing.
func (c *PruneJob) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	j, ok := tx.Job(c.Job)
	if !ok {
		return pbs.Refuse(pbs.UnknownJob)
	}
	if r := j.Run.Release; r != nil && r.Prune && j.Is(c.RunCount) && j.Run.MS == c.Host { // asked again
		res.Job, res.Release = j.ID, r.Number
		return nil
	}
	r, err := PlanPrune(tx, j, c)
	if err != nil || r == nil {
		return err
	}
	res.Job, res.Release = j.ID, askRelease(tx, m, j, r)
	return nil
}

// PlanPrune returns what the command would ask for, nil if it changes nothing, or why it is
// refused; alloc.Unpruned is in the chain when the hosts that are left do not do.
func PlanPrune(t ReleaseTables, j *state.Job, c *PruneJob) (*state.Release, error) {
	switch {
	case !starting(j), !j.Is(c.RunCount), j.Run.MS != c.Host:
		return nil, pbs.Refuse(pbs.BadState)
	case j.Checkpointed(): // it goes on with all parts that are kept
		return nil, pbs.Errorf(pbs.BadState, "the job goes on from a checkpoint")
	case j.Run.Release != nil:
		return nil, pbs.Errorf(pbs.ResourceBusy, "another release of the job is under way")
	}
	has := j.Grant()
	s, err := c.split(t, has)
	if err != nil || s.Whole() && s.Kept.SchedSelect == has.SchedSelect || len(s.Kept.ExecVnode) == 0 {
		return nil, err
	}
	if s, err = carried(t, j, s); err != nil {
		return nil, err
	}
	s.Kept.ExecHost = renumbered(has.Assignment, s.Kept.Assignment)
	r := newRelease(s)
	r.Prune = true
	return r, nil
}

// split takes the wishes one after the other: each one sees what is left by those before.
func (c *PruneJob) split(t ReleaseTables, a alloc.Grant) (alloc.Split, error) {
	bad := setOf(c.Bad)
	good := func(h string) bool { return !bad[pbs.HostName(h)] }
	var last alloc.Split
	var released []alloc.Placed
	for _, step := range append(slices.Clip(c.Earlier), PruneStep{c.Keep, c.Vnodes}) {
		s, err := step.split(t, a, good)
		if err != nil {
			return s, err
		}
		if len(s.Kept.ExecVnode) == 0 { // nothing was wished for
			continue
		}
		last, released = s, append(released, s.Released...)
		a = s.Kept
	}
	last.Released = released
	return last, nil
}

func (s PruneStep) split(t ReleaseTables, a alloc.Grant, good func(host string) bool) (alloc.Split, error) {
	switch {
	case s.Keep != "":
		keep, err := spec.ParseSelect(s.Keep)
		if err != nil {
			return alloc.Split{}, err
		}
		return alloc.Prune(a, keep, good, t)
	case len(s.Vnodes) > 0:
		return releaseNamed(t, a, s.Vnodes)
	}
	return alloc.Split{}, nil
}

// renumbered gives the chunks that are kept slots anew: the lowest that the job has on their
// hosts.
func renumbered(a, kept alloc.Assignment) spec.ExecHost {
	slots := make(map[string][]int, len(a.ExecHost))
	first := make([]int, len(a.ExecHost)) // of most hosts there is one
	for i, h := range a.ExecHost {
		own := slots[h.Host]
		if own == nil {
			own = first[i : i : i+1]
		}
		slots[h.Host] = append(own, h.Slot)
	}
	for _, own := range slots {
		slices.Sort(own)
	}
	hosts := make(spec.ExecHost, len(kept.ExecHost))
	for i, h := range kept.ExecHost {
		own := slots[h.Host]
		hosts[i] = spec.HostSlot{Host: h.Host, Slot: own[0]}
		slots[h.Host] = own[1:]
		if parts := kept.ExecVnode[i].Parts; len(parts) == 1 {
			hosts[i].CPUs = cpusIn(parts[0].Items)
		}
	}
	return hosts
}

func cpusIn(items resource.List) int {
	text, _ := items.Get("ncpus")
	n, _ := strconv.Atoi(text)
	return n
}

// pruned gives a run that is being started its smaller assignment. What is out is free at
// once: of a host that fails nobody may ever hear again. Its mom is told to end what there may
// be of the run, and the job does not run again before it has (L2).
func pruned(tx *state.Tx, j *state.Job) error {
	r := j.Run.Release
	before := *j
	if !before.Run.Counted { // the records are about a job that has begun
		before.EditRun().Counted = true
		tx.Emit(state.Event{Kind: state.JobCounted, Job: &before})
		adjusted(tx, &before)
	}
	tx.Emit(state.Event{Kind: state.JobPhaseEnded, Job: &before, Used: overlaid(nothingUsed(), phaseUsed(&before, nil))})
	next := before
	p := state.Phases{Orig: j.Grant()}
	if j.Run.Phases != nil {
		p = *j.Run.Phases
	}
	p.Acct = j.Grant()
	run := next.EditRun()
	run.Assignment, next.SchedSelect = r.To.Assignment, r.To.SchedSelect
	next.Resources = jobWide(r.To.Resources, j.Resources, tx)
	p.Charged = inKB(resource.Only(next.Resources, tx, resource.PerQueue), tx)
	run.Phases, run.Release = &p, nil
	next.Releases++
	var err error
	if run.Assigned, err = reassign(tx, j, &next); err != nil {
		return err
	}
	dismiss(tx, &next, r.Hosts)
	tx.PutJob(&next)
	orderRelease(tx, &next, state.ReleaseDone)
	tx.Emit(state.Event{Kind: state.JobPhaseBegan, Job: &next})
	tx.Emit(state.Event{Kind: state.JobAdjusted, Job: &next})
	return nil
}

// inKB writes sizes as exec_vnode does.
func inKB(list resource.List, t resource.Table) resource.List {
	out := slices.Clone(list)
	for i, it := range out {
		def, ok := t.Resource(it.Name)
		if !ok || def.Type != resource.Size {
			continue
		}
		if q, err := def.Parse(it.Value); err == nil {
			out[i].Value = q.InKB().String()
		}
	}
	return out
}

// adjusted writes the record of a padded job, as it begins with all that it has.
func adjusted(tx *state.Tx, j *state.Job) {
	if padded(j) {
		tx.Emit(state.Event{Kind: state.JobAdjusted, Job: j})
	}
}

// dismiss makes the sisters that keep nothing hosts of an earlier run: they are to end what
// there may be of this one. It changes j, which the caller stores.
func dismiss(tx *state.Tx, j *state.Job, stay []pbs.HostName) {
	var sisters, over []pbs.HostName
	run := j.EditRun()
	stays, ended := setOf(stay), setOf(run.Over)
	j.Unconfirmed = slices.Clip(j.Unconfirmed) // what is added is no earlier record's
	for _, host := range run.Sisters {
		switch {
		case stays[host]:
			sisters = append(sisters, host)
			if ended[host] {
				over = append(over, host)
			}
		case !ended[host]:
			tx.Order(state.Order{Host: host, Kind: state.OrderKill, Job: j.ID, RunCount: j.RunCount, Left: true})
			if h, ok := tx.Host(host); ok && !h.GivenUp {
				j.Unconfirmed = append(j.Unconfirmed, state.HostRun{Host: host, RunCount: j.RunCount})
			}
		}
	}
	run.Sisters, run.Over = sisters, over
}
