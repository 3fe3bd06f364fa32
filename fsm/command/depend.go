package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// takeDepend takes the dependencies that a user asks for out of a job's attributes.
func takeDepend(tx *state.Tx, j *state.Job) (state.Dependencies, error) {
	text, ok := j.Attrs.Get("depend", "")
	if !ok {
		return nil, nil
	}
	j.Attrs = j.Attrs.Unset("depend", "")
	list, err := state.ParseDepend(text, tx.Cluster().Name)
	for _, d := range list {
		for i, id := range d.Jobs {
			d.Jobs[i] = tx.Called(id)
		}
	}
	return list, err
}

// lost says why a job can never run: what it waits for is gone, or ended otherwise.
type lost struct{ text string }

// link makes a job depend on others, and notes it with these. What has come true already
// is left out; nil is returned unless something can no longer come true.
func link(tx *state.Tx, j *state.Job, wanted state.Dependencies) (*lost, error) {
	for _, d := range wanted {
		switch d.Kind {
		case state.DependOn:
			j.Depends = append(j.Depends[:len(j.Depends):len(j.Depends)], d)
			continue
		case state.DependSingleton:
			single(tx, j)
			continue
		}
		for _, id := range d.Jobs {
			why, err := linkOne(tx, j, d.Kind, id)
			if why != nil || err != nil {
				return why, err
			}
		}
	}
	return nil, nil
}

// single makes a job wait for those of its owner and name that were submitted before it, if
// there are any that are not over.
func single(tx *state.Tx, j *state.Job) {
	j.Depends.DropSingle()
	if first, ok := tx.FirstNamed(j.Owner.Name, j.Name); ok && first.Seq < j.Seq {
		j.Depends = append(j.Depends, state.Dependency{Kind: state.DependSingleton})
	}
}

// nameLeft lets go whom a job that is over, or has another name now, kept from being the first
// of its owner and name: that one alone can have waited for it and for no other.
func nameLeft(tx *state.Tx, owner, name string) {
	if first, ok := tx.FirstNamed(owner, name); ok && first.Depends.Single() {
		next := *first
		next.Depends.DropSingle()
		unhold(&next, tx.Now())
		tx.PutJob(&next)
	}
}

func linkOne(tx *state.Tx, j *state.Job, kind state.DependKind, id pbs.JobID) (*lost, error) {
	if id == j.ID {
		return nil, pbs.Attribute(pbs.BadAttributeValue, "depend")
	}
	other, ok := tx.Job(id)
	if !ok {
		return &lost{"Reject reply code=15001, aux=0, type=52, from @" + tx.Cluster().Name + " " + pbs.UnknownJob.Text()}, nil
	}
	switch {
	case kind == state.DependRunOne:
		return linkRunOne(tx, j, other)
	case !kind.Waits() && other.State == pbs.Finished:
		return unsatisfied(tx, j, id), nil
	case !kind.Waits():
		return nil, linkBefore(tx, j, kind, other)
	}
	switch verdict(kind, other) {
	case comeTrue:
		if other.State == pbs.Finished {
			note(tx, j, string(id)+" Job has finished, dependency satisfied")
		}
		return nil, nil
	case neverTrue:
		return unsatisfied(tx, j, id), nil
	}
	next := *other
	next.Depends.Add(kind.Mirror(), j.ID)
	tx.PutJob(&next)
	j.Depends.Add(kind, id)
	return nil, nil
}

// unsatisfied notes that a job waits for something that can no longer come true.
func unsatisfied(tx *state.Tx, j *state.Job, id pbs.JobID) *lost {
	note(tx, j, string(id)+" Finished job did not satisfy dependency")
	return &lost{dependencyLost(id)}
}

// note has the server's log tell something of a job.
func note(tx *state.Tx, j *state.Job, text string) {
	of := *j
	tx.Emit(state.Event{Kind: state.JobNoted, Job: &of, Text: text})
}

// linkBefore makes another job wait for this one. The other must have been waiting for
// such with on:N, and be of the same owner.
func linkBefore(tx *state.Tx, j *state.Job, kind state.DependKind, other *state.Job) error {
	next := *other
	if other.Owner.Name != j.Owner.Name || !next.Depends.CountDown() {
		return pbs.Attribute(pbs.BadAttributeValue, "depend")
	}
	next.Depends.Add(kind.Mirror(), j.ID)
	j.Depends.Add(kind, other.ID)
	tx.PutJob(&next)
	return nil
}

// whether is what is known of a dependency.
type whether uint8

const (
	notYet whether = iota
	comeTrue
	neverTrue
)

// verdict judges a dependency by the job that is waited for.
func verdict(kind state.DependKind, other *state.Job) whether {
	over := other.State == pbs.Finished
	status, exited := other.Exit()
	well := exited && status == 0
	switch {
	case kind == state.DependAfter && begun(other), over && kind == state.DependAfterAny,
		over && kind == state.DependAfterOK && well, over && kind == state.DependAfterNotOK && !well && begun(other):
		return comeTrue
	case over:
		return neverTrue
	}
	return notYet
}

// begun reports whether a program of the job was started.
func begun(j *state.Job) bool {
	return j.LastRun().Session != 0 || j.Array != nil && j.Array.Begun
}

func dependencyLost(id pbs.JobID) string {
	return "Job deleted as result of dependency on job " + string(id)
}

// holdBack holds a job that waits for others, whoever takes its holds off.
func holdBack(j *state.Job) {
	if j.Depends.Wait() {
		j.Holds |= pbs.HoldSystem
	}
}

// concluded tells those who wait for a finished job, and those for whom it waited. A job
// whose condition can no longer come true is deleted, and with it those who wait for it.
func concluded(tx *state.Tx, j *state.Job) {
	work := []*state.Job{j}
	for len(work) > 0 {
		j, work = work[0], work[1:]
		work = append(work, endSet(tx, j)...)
		unlink(tx, j)
		work = append(work, judgeDependents(tx, j)...)
		if !j.IsSubjob() {
			nameLeft(tx, j.Owner.Name, j.Name)
		}
	}
}

// judgeDependents judges all that wait for a job, and returns those that it deleted. Many
// may wait for one: its own record is written once.
func judgeDependents(tx *state.Tx, j *state.Job) (deleted []*state.Job) {
	type end struct {
		kind state.DependKind
		job  pbs.JobID
	}
	judged := map[end]bool{}
	for _, d := range j.Depends {
		kind := d.Kind.Mirror()
		if d.Kind.Waits() || verdict(kind, j) == notYet {
			continue
		}
		for _, id := range d.Jobs {
			waiting, ok := tx.Job(id)
			if !ok || waiting.State == pbs.Finished {
				continue
			}
			switch verdict(kind, j) {
			case comeTrue:
				letGo(tx, waiting, kind, j.ID)
			case neverTrue:
				if waiting.Live() || waiting.Array != nil && waiting.Array.Live > 0 {
					continue
				}
				deleted = append(deleted, abort(tx, waiting, dependencyLost(j.ID)))
			}
			judged[end{d.Kind, id}] = true
		}
	}
	if now, ok := tx.Job(j.ID); ok && len(judged) > 0 {
		free := *now
		free.Depends.RemoveAll(func(kind state.DependKind, id pbs.JobID) bool { return judged[end{kind, id}] })
		tx.PutJob(&free)
	}
	return deleted
}

// letGo takes a dependency off a job; with the last one its hold. The job that it waited for
// still names it.
func letGo(tx *state.Tx, waiting *state.Job, kind state.DependKind, id pbs.JobID) {
	next := *waiting
	if next.Depends.Remove(kind, id) {
		unhold(&next, tx.Now())
		tx.PutJob(&next)
	}
}

// unhold takes off the hold that dependencies have set once there are none.
func unhold(j *state.Job, at pbs.Time) {
	if j.Substate == pbs.SubDependent && !j.Depends.Wait() {
		j.Holds &^= pbs.HoldSystem
		j.Substate = pbs.SubHeld
		settle(j, at)
	}
}

// unlink forgets what a job waits for, and who waits by its wish: at the others.
func unlink(tx *state.Tx, j *state.Job) {
	leaveSet(tx, j)
	for _, d := range j.Depends {
		if !d.Kind.Waits() || d.Kind == state.DependRunOne {
			continue
		}
		for _, id := range d.Jobs {
			if other, ok := tx.Job(id); ok {
				next := *other
				if next.Depends.Remove(d.Kind.Mirror(), j.ID) {
					tx.PutJob(&next)
				}
			}
		}
	}
}

// relink gives a job that does not run other dependencies: qalter -W depend=.
func relink(tx *state.Tx, j *state.Job, at pbs.Time) error {
	unlink(tx, j)
	var kept state.Dependencies
	for _, d := range j.Depends {
		if !d.Kind.Waits() {
			kept = append(kept, d)
		}
	}
	j.Depends = kept
	wanted, err := takeDepend(tx, j)
	if err != nil {
		return err
	}
	why, err := link(tx, j, wanted)
	switch {
	case err != nil:
		return err
	case why != nil:
		return pbs.Refuse(pbs.UnknownJob)
	}
	unhold(j, at)
	return nil
}

// abort deletes a job that never ran, by the server's own will.
func abort(tx *state.Tx, j *state.Job, why string) *state.Job {
	next := *j
	if next.Array != nil {
		next.EditArray().Queued = nil
	}
	next.State, next.Substate, next.Ended, next.Comment = pbs.Finished, pbs.SubTerminated, tx.Now(), why
	tx.Emit(state.Event{Kind: state.JobAborted, Job: &next, Text: why})
	discard(tx, &next)
	tx.PutJob(&next)
	tx.DeleteScript(next.ID)
	retire(tx, next.ID, false)
	return &next
}
