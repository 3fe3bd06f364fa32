package command

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// The signals that suspend and resume a job (specification: cli-contract section 4).
const (
	Suspend      = "suspend"
	Resume       = "resume"
	AdminSuspend = "admin-suspend"
	AdminResume  = "admin-resume"
)

// Suspends tells whether the signal suspends or resumes a job.
func Suspends(signal string) bool {
	return signal == Suspend || signal == Resume || signal == AdminSuspend || signal == AdminResume
}

// suspends tells whether the order stops the processes of a job, so that others may have
// what it gives back once it is confirmed.
func suspends(o *state.Order) bool {
	return o.Kind == state.OrderSignal && (o.Signal == Suspend || o.Signal == AdminSuspend)
}

// maySuspend refuses what cannot be suspended or resumed with the signal.
func maySuspend(tx *state.Tx, j *state.Job, signal string) error {
	admin := isAdminSuspended(tx, j)
	switch {
	case tx.Cluster().FeatureLevel < LevelObjects:
		return pbs.Refuse(pbs.NotSupported)
	case signal == Suspend || signal == AdminSuspend:
		if j.State != pbs.Running || j.Substate != pbs.SubRunning {
			return pbs.Refuse(pbs.BadState)
		}
		if j.Release != nil {
			return pbs.Errorf(pbs.ResourceBusy, "a release of vnodes of the job is under way")
		}
		if j.Preempting() {
			return pbs.Errorf(pbs.BadState, "%s is being preempted", j.ID)
		}
	case !j.Suspended():
		return pbs.Refuse(pbs.BadState)
	case admin != (signal == AdminResume):
		return pbs.Refuse(pbs.BadResume)
	}
	return nil
}

// isAdminSuspended tells whether the job keeps its vnodes in maintenance.
func isAdminSuspended(tx *state.Tx, j *state.Job) bool {
	return slices.ContainsFunc(sharesOf(tx, j), func(s ownShare) bool { return s.held.Admin })
}

// An ownShare is what the present run of a job holds of a vnode.
type ownShare struct {
	vnode *state.Vnode
	at    int // in vnode.Jobs
	held  state.VnodeJob
}

func sharesOf(tx *state.Tx, j *state.Job) []ownShare {
	parts, err := j.AllVnodes()
	if err != nil {
		return nil
	}
	var all []ownShare
	for _, name := range parts.Vnodes() {
		v, ok := tx.Vnode(name)
		if !ok {
			continue
		}
		for i, held := range v.Jobs {
			if held.Job == j.ID && held.RunCount == j.RunCount {
				all = append(all, ownShare{v, i, held})
			}
		}
	}
	return all
}

// put stores the share with what its vnode has assigned now.
func (s ownShare) put(tx *state.Tx, assigned resource.List) {
	next := *s.vnode
	next.Assigned, next.Jobs = assigned, slices.Clone(next.Jobs)
	next.Jobs[s.at] = s.held
	next.LastUsed = tx.Now()
	next.OverCommitted = overCommitted(tx, &next)
	tx.PutVnode(&next)
}

// suspended makes the job of a confirmed order a suspended one, and gives its resources
// back: all, or those that restrict_res_to_release_on_suspend names.
func suspended(tx *state.Tx, o *state.Order) error {
	j, ok := tx.Job(o.Job)
	if !ok || j.RunCount != o.RunCount || j.State != pbs.Running || j.Substate != pbs.SubRunning {
		return nil // it has ended, or is suspended already
	}
	next := *j
	next.Substate = pbs.SubSuspended
	if j.Preempting() {
		next.Substate = pbs.SubSchedSuspended
	}
	record(tx, &next)
	gone := ReleasedOn(&next)
	for _, s := range sharesOf(tx, j) {
		items, err := addAll(tx, gone[s.vnode.Name])
		if err != nil {
			return err
		}
		left, err := resource.Sub(s.vnode.Assigned, items, tx)
		if err != nil {
			return err
		}
		if s.held.Items, err = resource.Sub(s.held.Items, items, tx); err != nil {
			return err
		}
		s.held.Suspended, s.held.Admin, s.held.CPUs = true, o.Signal == AdminSuspend, nil
		s.held.Whole = nothing(items)
		s.put(tx, left)
	}
	tx.PutJob(&next)
	tx.Emit(state.Event{Kind: state.JobSuspended, Job: &next, Text: next.Released()})
	return nil
}

// record notes in a job what it gives back, if that is not all.
func record(tx *state.Tx, j *state.Job) {
	names := tx.Server().List("restrict_res_to_release_on_suspend")
	if len(names) == 0 {
		return
	}
	listed := func(name string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.TrimSpace(n) == name })
	}
	parts, err := spec.ParseExecVnode(j.ExecVnode)
	if err != nil {
		return
	}
	var released spec.ExecVnode
	var sum resource.List
	for _, chunk := range parts {
		for _, p := range chunk.Parts {
			var items resource.List
			for _, it := range p.Items {
				if listed(it.Name) {
					items = append(items, it)
				}
			}
			if more, err := resource.Add(sum, items, tx); err == nil {
				sum = more
			}
			if len(items) == 0 {
				items = resource.List{{Name: "ncpus", Value: "0"}}
			}
			released = append(released, spec.ExecChunk{Parts: []spec.ExecPart{{Vnode: p.Vnode, Items: items}}})
		}
	}
	for _, it := range resource.Only(j.Resources, tx, resource.PerQueue) {
		if _, counted := sum.Get(it.Name); listed(it.Name) && !counted {
			sum = sum.Set(it.Name, it.Value)
		}
	}
	j.Attrs = j.Attrs.Set("resources_released", "", released.String())
	for _, it := range sum {
		def, _ := tx.Resource(it.Name)
		j.Attrs = j.Attrs.Set("resource_released_list", it.Name, def.Measured(def.Measure(it.Value)))
	}
}

// ReleasedOn returns what a suspended job gave back of each vnode. Of those that are held it
// gives back the same resources, which are recorded of the others only (specification:
// ramp-down section 10).
func ReleasedOn(j *state.Job) map[pbs.VnodeName][]resource.List {
	all := map[pbs.VnodeName][]resource.List{}
	text := j.Released()
	if text == "" {
		text = strings.TrimSuffix(j.ExecVnode+"+"+j.Held(), "+")
	} else if held := j.Held(); held != "" {
		parts, err := spec.ParseExecVnode(held)
		if err != nil {
			return nil
		}
		for _, chunk := range parts {
			for _, p := range chunk.Parts {
				var items resource.List
				for _, it := range p.Items {
					if _, listed := j.Attrs.Get("resource_released_list", it.Name); listed {
						items = append(items, it)
					}
				}
				all[p.Vnode] = append(all[p.Vnode], items)
			}
		}
	}
	parts, err := spec.ParseExecVnode(text)
	if err != nil {
		return nil
	}
	for _, chunk := range parts {
		for _, p := range chunk.Parts {
			all[p.Vnode] = append(all[p.Vnode], p.Items)
		}
	}
	return all
}

func addAll(tx *state.Tx, lists []resource.List) (sum resource.List, err error) {
	for _, l := range lists {
		if sum, err = resource.Add(sum, l, tx); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// nothing tells whether a list of consumables comes to nothing.
func nothing(l resource.List) bool {
	return !slices.ContainsFunc(l, func(it resource.Item) bool { return strings.Trim(it.Value, "0kbmgtpw.:") != "" })
}

// resume takes back what a suspended job gave, and orders its processes to go on. Where it
// is not free the job waits for the scheduler, unless that asked.
func (c *SignalJob) resume(tx *state.Tx, m Meta, j *state.Job, res *state.Result) error {
	next := *j
	if err := retake(tx, &next); err != nil {
		if c.Scheduled || c.Signal == AdminResume || pbs.CodeOf(err) != pbs.ResourceBusy {
			return err
		}
		next.Substate = pbs.SubSchedSuspended
		tx.PutJob(&next)
		tx.Emit(state.Event{Kind: state.JobSignaled, Job: &next, By: m.Asker, Text: c.Signal})
		return nil
	}
	next.Substate, next.Preempted = pbs.SubRunning, nil
	unrecord(&next)
	tx.PutJob(&next)
	o := tx.Order(state.Order{Host: j.MS, Kind: state.OrderSignal, Job: j.ID, RunCount: j.RunCount, Signal: c.Signal})
	tx.Emit(state.Event{Kind: state.JobSignaled, Job: &next, By: m.Asker, Text: c.Signal})
	tx.Emit(state.Event{Kind: state.JobResumed, Job: &next})
	res.Order, res.Host = o.ID, o.Host
	return nil
}

// unrecord drops what was noted at a suspension.
func unrecord(j *state.Job) {
	j.Attrs = j.Attrs.Unset("resources_released", "")
	for _, e := range slices.Clone(j.Attrs.Of("resource_released_list")) {
		j.Attrs = j.Attrs.Unset(e.Name, e.Resource)
	}
}

// retake charges the vnodes again, or refuses with ResourceBusy (L3).
func retake(tx *state.Tx, j *state.Job) error {
	gone := ReleasedOn(j)
	shares := sharesOf(tx, j)
	promised := state.Promised{}
	for _, s := range shares { // before any change: the caller may go on without
		items, err := addAll(tx, gone[s.vnode.Name])
		if err != nil {
			return err
		}
		if err := s.free(tx, items, promised); err != nil {
			return err
		}
	}
	for _, s := range shares {
		items, err := addAll(tx, gone[s.vnode.Name])
		if err != nil {
			return err
		}
		assigned, err := resource.Add(s.vnode.Assigned, items, tx)
		if err != nil {
			return err
		}
		if s.held.Items, err = resource.Add(s.held.Items, items, tx); err != nil {
			return err
		}
		text, _ := s.held.Items.Get("ncpus")
		cpus, _ := strconv.Atoi(text)
		s.held.CPUs = s.vnode.FreeCPUs(min(cpus, maxCPUs))
		s.held.Suspended, s.held.Admin, s.held.Whole = false, false, false
		s.put(tx, assigned)
	}
	return nil
}

// free refuses what the vnode cannot give to the suspended run now.
func (s ownShare) free(tx *state.Tx, items resource.List, promised state.Promised) error {
	others := 0
	for i, held := range s.vnode.Jobs {
		switch {
		case i == s.at:
		case held.Admin:
			return pbs.Errorf(pbs.ResourceBusy, "vnode %s is in maintenance", s.vnode.Name)
		case !held.Suspended:
			others++
		}
	}
	if others > 0 && (s.held.Exclusive || s.vnode.Exclusive()) {
		return pbs.Errorf(pbs.ResourceBusy, "vnode %s is not free for exclusive use", s.vnode.Name)
	}
	if nothing(items) {
		return nil
	}
	if short := tx.Short(s.vnode, items, promised); short != nil {
		return pbs.Errorf(pbs.ResourceBusy, "vnode %s: %s", s.vnode.Name, short.Error())
	}
	return nil
}
