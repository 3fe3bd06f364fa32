package command

import (
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// completeArray gives an array its indices, or says why it may not have them.
func completeArray(tx *state.Tx, j *state.Job) error {
	_, limited := j.Attrs.Get("max_run_subjobs", "")
	switch {
	case j.Array == nil && limited:
		return pbs.Errorf(pbs.BadAttributeValue, "Attribute has to be set on an array job")
	case j.Array == nil:
		return nil
	case int64(j.Array.Indices.Count()) > tx.Server().Int("max_array_size"):
		return pbs.Refuse(pbs.ArrayTooLarge)
	case j.NotRerunnable:
		return pbs.Attribute(pbs.BadAttributeValue, "Rerunable") // a subjob may always start again
	}
	return nil
}

// toStart returns the job that is to be started: of an array the one subjob, whose record
// is made now if it has none; beyond max_run_subjobs at an operator's wish only. An array as a whole cannot be started.
func toStart(tx *state.Tx, id pbs.JobID, wished bool) (*state.Job, error) {
	j, ok := tx.Job(id)
	if !ok && id.Sub() > 0 {
		return freshSubjob(tx, id, wished)
	}
	switch {
	case !ok:
		return nil, pbs.Refuse(pbs.UnknownJob)
	case j.State == pbs.Finished && !tx.Expired(j):
		return nil, pbs.Refuse(pbs.HasFinished)
	case j.State == pbs.Finished || j.Array != nil:
		return nil, pbs.Refuse(pbs.BadState)
	}
	if parent, ok := tx.Parent(j); ok && parent.Room() == 0 && !wished {
		return nil, noRoom(parent)
	}
	return j, nil
}

func freshSubjob(tx *state.Tx, id pbs.JobID, wished bool) (*state.Job, error) {
	parent, err := liveJob(tx, id.Parent())
	if err != nil {
		return nil, err
	}
	index := id.Sub() - 1
	switch {
	case parent.Array == nil || !parent.Array.Indices.Has(index):
		return nil, pbs.Refuse(pbs.UnknownJob)
	case !parent.Array.Queued.Has(index):
		return nil, pbs.Refuse(pbs.BadState)
	case parent.Room() == 0 && !wished:
		return nil, noRoom(parent)
	}
	return parent.Subjob(index), nil
}

func noRoom(parent *state.Job) error {
	return pbs.Errorf(pbs.ResourceBusy, "start a subjob of %s: %d are running", parent.ID, parent.Array.Running())
}

// begunComment are the words of an array's comment before the time.
const begunComment = "Job Array Began at "

// subjobStarted notes in the array that one of its subjobs has begun to run; with the
// first one the array begins. comment is that of the start: "Job run at TIME on ...".
func subjobStarted(tx *state.Tx, m Meta, sub *state.Job, comment string) error {
	parent, ok := tx.Parent(sub)
	if !ok {
		return nil
	}
	next := *parent
	a := next.EditArray()
	a.Queued, a.Live = a.Queued.Without(sub.Index()), a.Live+1
	if len(a.Queued) == 0 {
		next.DropEstimate()
	}
	when, _, _ := strings.Cut(strings.TrimPrefix(comment, "Job run at "), " on ")
	if !a.Begun || next.State == pbs.Queued {
		if err := move(&next, pbs.EventBegin); err != nil {
			return err
		}
		next.Substate = pbs.SubBegun
	}
	if a.Begun {
		if next.Comment == "" {
			next.Comment = begunComment + when
		}
		tx.PutJob(&next)
		return nil
	}
	a.Begun = true
	next.Started, next.Comment = m.At, begunComment+when
	tx.PutJob(&next)
	followSet(tx, &next)
	tx.Emit(state.Event{Kind: state.JobStarted, Job: &next})
	judgeDependents(tx, &next)
	return nil
}

// subjobRuns notes in the array that one of its starts has come to something, on hosts that are
// good for the others as well.
func subjobRuns(tx *state.Tx, sub *state.Job) {
	parent, ok := tx.Parent(sub)
	if !ok || parent.Array.Fruitless == 0 && len(parent.Avoid) == 0 {
		return
	}
	next := *parent
	a := next.EditArray()
	a.Fruitless, a.FruitlessAt = 0, 0
	next.Avoid = slices.DeleteFunc(slices.Clone(next.Avoid), func(host pbs.HostName) bool { return partOf(sub, host, sub.RunCount) })
	tx.PutJob(&next)
}

// subjobEnded notes in the array that a live subjob is over for good; with the last one
// the array ends.
func subjobEnded(tx *state.Tx, sub *state.Job) error {
	parent, ok := tx.Parent(sub)
	if !ok {
		return nil
	}
	next := *parent
	a := next.EditArray()
	a.Live--
	a.Failed = a.Failed || sub.LastRun().ExitStatus != 0
	tx.PutJob(&next)
	return endArray(tx, next.ID, false)
}

// subjobReturned notes in the array that a subjob will start again. The holds of the
// array are its own, and one that cannot start at all holds the array.
func subjobReturned(tx *state.Tx, m Meta, sub *state.Job) {
	parent, ok := tx.Parent(sub)
	if !ok {
		return
	}
	next := *parent
	a := next.EditArray()
	a.Live--
	if sub.FailedRuns > 0 || len(sub.Avoid) > 0 {
		a.Fruitless, a.FruitlessAt = a.Fruitless+1, m.At
	}
	next.Holds |= sub.Holds
	sub.Holds = next.Holds
	settle(&next, m.At)
	if next.Holds == parent.Holds {
		tx.PutJob(&next)
		return
	}
	next.Comment = sub.Comment
	if next.Comment == tooOften {
		next.Comment = arrayTooOften
	}
	tx.PutJob(&next)
	followParent(tx, next.ID, false)
}

// endArray finishes an array of which nothing is left to run.
func endArray(tx *state.Tx, id pbs.JobID, forget bool) error {
	parent, ok := tx.Job(id)
	if !ok || parent.State == pbs.Finished || !tx.Done(parent) {
		return nil
	}
	next := *parent
	over := pbs.EventDelete
	if next.State == pbs.Begun {
		over = pbs.EventEnded
	}
	if err := move(&next, over); err != nil {
		return err
	}
	next.Ended = tx.Now()
	next.Substate = finishedSubstate(&next)
	if next.Array.Begun {
		if next.Comment != "" {
			next.Comment += finishedWords(&next)
		}
		tx.Emit(state.Event{Kind: state.JobEnded, Job: &next})
	} else {
		tx.Emit(state.Event{Kind: state.JobDequeued, Job: &next})
	}
	tx.PutJob(&next)
	tx.DeleteScript(next.ID)
	concluded(tx, &next)
	if forget = forget || next.Forget; forget {
		for _, j := range slices.Collect(tx.RecordedSubjobs(&next)) {
			tx.DeleteJob(j.ID)
		}
	}
	retire(tx, next.ID, forget)
	return nil
}

// A subset is some subjobs of an array that a command is about.
type subset struct {
	parent  *state.Job
	indices pbs.Indices
}

// subsetOf returns the subjobs that an identifier names: all of an array's, or a range of
// them. It reports false for one job and for one subjob with a record.
func subsetOf(tx *state.Tx, id pbs.JobID) (subset, bool, error) {
	named, several := id.Indices()
	if !several && !id.IsArray() {
		return subset{}, false, nil
	}
	if _, recorded := tx.Job(id); recorded && several {
		return subset{}, false, nil
	}
	parent, ok := tx.Job(id.Parent())
	if !ok || parent.Array == nil {
		return subset{}, false, pbs.Refuse(pbs.UnknownJob)
	}
	if !several {
		return subset{parent, parent.Array.Indices}, true, nil
	}
	both := parent.Array.Indices.Both(named)
	if len(both) == 0 {
		return subset{}, false, pbs.Refuse(pbs.UnknownJob)
	}
	return subset{parent, both}, true, nil
}

// of returns those of the subset that a table yields.
func (s subset) of(jobs func(yield func(*state.Job) bool)) []*state.Job {
	return slices.DeleteFunc(slices.Collect(jobs), func(j *state.Job) bool { return !s.indices.Has(j.Index()) })
}

// eachLive does the same to every subjob of the subset that runs, refusals or not, and
// refuses with the last refusal if it was done to none.
func (s subset) eachLive(tx *state.Tx, do func(pbs.JobID) error) error {
	done, refused := false, error(pbs.Refuse(pbs.BadState))
	if s.parent.State == pbs.Finished {
		return pbs.Refuse(pbs.HasFinished)
	}
	for _, j := range s.of(tx.LiveSubjobs(s.parent)) {
		if err := do(j.ID); err != nil {
			refused = err
			continue
		}
		done = true
	}
	if done {
		return nil
	}
	return refused
}

// wholeOnly refuses what is done to arrays as a whole, but never to subjobs.
func wholeOnly(id pbs.JobID) error {
	if _, some := id.Indices(); some {
		return pbs.Refuse(pbs.InvalidRequest)
	}
	return nil
}

// followParent brings the subjobs that are to start again into line with their array.
func followParent(tx *state.Tx, id pbs.JobID, fresh bool) {
	parent, ok := tx.Job(id)
	if !ok || parent.Array == nil {
		return
	}
	for _, old := range slices.Collect(tx.ReturnedSubjobs(parent)) {
		next := parent.Subjob(old.Index())
		next.State, next.Substate, next.Eligible, next.Comment, next.Wait = old.State, old.Substate, old.Eligible, old.Comment, old.Wait
		next.RunCount, next.Unconfirmed, next.FailedRuns, next.Avoid = old.RunCount, old.Unconfirmed, old.FailedRuns, old.Avoid
		if fresh {
			next.FailedRuns, next.Avoid, next.Comment, next.Wait = 0, nil, "", nil
		}
		settle(next, tx.Now())
		tx.PutJob(next)
	}
}

// checkArray refuses changes that an array, or a job that is none, cannot have.
func checkArray(old, j *state.Job) error {
	_, limited := j.Attrs.Get("max_run_subjobs", "")
	switch {
	case j.Array != old.Array: // the identifiers say which jobs are arrays, and outlast whatever is altered
		return pbs.Attribute(pbs.BadAttributeValue, "array_indices_submitted")
	case j.Array == nil && limited:
		return pbs.Errorf(pbs.BadAttributeValue, "Attribute has to be set on an array job")
	case j.Array != nil && j.NotRerunnable && !old.NotRerunnable:
		return pbs.Attribute(pbs.BadAttributeValue, "Rerunable")
	}
	return nil
}
