package state

import (
	"iter"
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// Array is what the parent of a job array keeps of its subjobs. A subjob has a record of
// its own from its first start on; before, it is an index in Queued.
type Array struct {
	Indices pbs.Indices `cbor:"1,keyasint,omitempty"` // as submitted
	Queued  pbs.Indices `cbor:"2,keyasint,omitempty"` // that were never started, and are to be
	Live    uint32      `cbor:"3,keyasint,omitempty"` // subjobs in states R and E
	Begun   bool        `cbor:"4,keyasint,omitempty"` // one was started
	Failed  bool        `cbor:"5,keyasint,omitempty"` // one has ended with another exit status than 0
	Deleted bool        `cbor:"8,keyasint,omitempty"` // somebody has asked for its end
	// Fruitless is how many starts of its subjobs in a row came to nothing, the last of them
	// at FruitlessAt.
	Fruitless   uint32   `cbor:"6,keyasint,omitempty"`
	FruitlessAt pbs.Time `cbor:"7,keyasint,omitempty"`
	Suspended   uint32   `cbor:"9,keyasint,omitempty"` // of Live, those that are suspended
}

// Running returns how many subjobs count against max_run_subjobs: one that is suspended does not.
func (a *Array) Running() uint32 { return a.Live - a.Suspended }

// ArrayIndex is where the index of a subjob stands in paths.
const ArrayIndex = "^array_index^"

// JobNumber is where the number of a job stands in the paths of its output, which is not known before
// it is queued.
const JobNumber = "^job_number^"

// JobName is where the name of a job stands in the paths of its output: hooks may give it another before it is queued.
const JobName = "^job_name^"

// IsSubjob reports whether the job is a subjob of an array.
func (j *Job) IsSubjob() bool { return j.Sub > 0 }

// Index returns the index of a subjob.
func (j *Job) Index() uint32 { return j.Sub - 1 }

// EditArray returns the array's record for changes: a copy of which only this job knows.
func (j *Job) EditArray() *Array {
	a := *j.Array
	j.Array = &a
	return &a
}

// MaxRun returns how many subjobs of the array may run at a time, 0 for any number.
func (j *Job) MaxRun() uint32 {
	text, _ := j.Attrs.Get("max_run_subjobs", "")
	n, _ := strconv.ParseUint(text, 10, 32)
	return uint32(n)
}

// Room returns how many more subjobs of the array may run now, queued or not.
func (j *Job) Room() int {
	most := j.MaxRun()
	switch {
	case most == 0:
		return j.Array.Indices.Count()
	case j.Array.Running() >= most:
		return 0
	}
	return int(most - j.Array.Running())
}

// Startable reports whether the scheduler is to look at the job.
func (j *Job) Startable() bool { return j.MayStart() && (j.Array == nil || j.Room() > 0) }

// MayStart reports whether the job, or a subjob of it, waits to start; for its limits, maybe.
func (j *Job) MayStart() bool {
	if j.Array == nil {
		return j.State == pbs.Queued
	}
	return (j.State == pbs.Queued || j.State == pbs.Begun) && len(j.Array.Queued) > 0
}

// countSuspended keeps in the array how many of its subjobs are suspended.
func (tx *Tx) countSuspended(old, j *Job) {
	was, is := old != nil && old.Suspended(), j.Suspended()
	if was == is {
		return
	}
	parent, ok := tx.Parent(j)
	if !ok {
		return
	}
	next := *parent
	if a := next.EditArray(); is {
		a.Suspended++
	} else {
		a.Suspended--
	}
	tx.PutJob(&next)
}

// returned reports whether the job is a subjob that was started and is to start again.
func (j *Job) returned() bool {
	return j.IsSubjob() && (j.State == pbs.Queued || j.State == pbs.Held)
}

// Subjob makes the record of a subjob of an array as it is before its first start.
func (j *Job) Subjob(index uint32) *Job {
	sub := *j
	sub.ID, sub.Sub, sub.Array = j.ID.Subjob(index), index+1, nil
	sub.State, sub.Substate = pbs.Queued, pbs.SubQueued
	if j.State == pbs.Held || j.State == pbs.Waiting {
		sub.State, sub.Substate = j.State, j.Substate
	}
	sub.Started, sub.Ended, sub.Comment, sub.ExecAt, sub.Depends = 0, 0, "", 0, nil
	sub.Attrs, sub.Wait = nil, nil
	for _, e := range j.Attrs {
		switch e.Name {
		case "Output_Path", "Error_Path", "stagein", "stageout":
			e.Value = strings.ReplaceAll(e.Value, ArrayIndex, strconv.FormatUint(uint64(index), 10))
		case "max_run_subjobs":
			continue
		}
		sub.Attrs = append(sub.Attrs, e)
	}
	return &sub
}

// SubjobOf returns a subjob of an array, made up if it has no record; false if the array
// has none with the index.
func (t *tables) SubjobOf(parent *Job, index uint32) (*Job, bool) {
	if parent.Array == nil || !parent.Array.Indices.Has(index) {
		return nil, false
	}
	if j, ok := t.jobs.get(&Job{Seq: parent.Seq, Sub: index + 1}); ok {
		return j, true
	}
	j := parent.Subjob(index)
	if j.State == pbs.Held { // the hold is the array's
		j.State, j.Substate = pbs.Queued, pbs.SubQueued
	}
	if !parent.Array.Queued.Has(index) {
		j.State, j.Substate, j.Comment = pbs.Finished, pbs.SubFinished, "Subjob finished"
	}
	return j, true
}

// Parent returns the array that a subjob belongs to.
func (t *tables) Parent(j *Job) (*Job, bool) {
	if !j.IsSubjob() {
		return nil, false
	}
	return t.jobs.get(&Job{Seq: j.Seq})
}

// Expired reports whether the job is a finished subjob of an array that goes on: it is no
// part of the history yet.
func (t *tables) Expired(j *Job) bool {
	if j.State != pbs.Finished {
		return false
	}
	parent, ok := t.Parent(j)
	return ok && parent.State != pbs.Finished
}

// Named returns the job with the identifier, or the subjob, made up if it has no record.
func (t *tables) Named(id pbs.JobID) (*Job, bool) {
	if j, ok := t.Job(id); ok || id.Sub() == 0 {
		return j, ok
	}
	parent, ok := t.Job(id.Parent())
	if !ok {
		return nil, false
	}
	return t.SubjobOf(parent, id.Sub()-1)
}

// AllFrom yields what JobsFrom does, and behind each array all its subjobs, made up where
// they have no records.
func (t *tables) AllFrom(seq uint64, sub uint32) iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for j := range t.jobs.from(&Job{Seq: seq}) {
			told := j.Seq == seq && sub > 0
			first := uint32(0)
			if told {
				first = sub - 1
			}
			switch {
			case j.IsSubjob():
			case !told && !yield(j), j.Array != nil && !t.eachSubjob(j, first, yield):
				return
			}
		}
	}
}

func (t *tables) eachSubjob(parent *Job, first uint32, yield func(*Job) bool) bool {
	for index := range parent.Array.Indices.From(first) {
		if j, ok := t.SubjobOf(parent, index); ok && !yield(j) {
			return false
		}
	}
	return true
}

// LiveSubjobs yields the subjobs of an array in states R and E, by index.
func (t *tables) LiveSubjobs(parent *Job) iter.Seq[*Job] { return subjobsIn(&t.running, parent) }

// ReturnedSubjobs yields the subjobs of an array that are to start again, by index.
func (t *tables) ReturnedSubjobs(parent *Job) iter.Seq[*Job] { return subjobsIn(&t.returned, parent) }

func subjobsIn(x *index[Job], parent *Job) iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for j := range x.from(&Job{Seq: parent.Seq, Sub: 1}) {
			if j.Seq != parent.Seq || !yield(j) {
				return
			}
		}
	}
}

// RecordedSubjobs yields all subjobs of an array that have records, by index.
func (t *tables) RecordedSubjobs(parent *Job) iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		for j := range t.jobs.from(&Job{Seq: parent.Seq, Sub: 1}) {
			if j.Seq != parent.Seq || !yield(j) {
				return
			}
		}
	}
}

// Done reports whether nothing of the array is left to run.
func (t *tables) Done(parent *Job) bool {
	if len(parent.Array.Queued) > 0 || parent.Array.Live > 0 {
		return false
	}
	for range t.ReturnedSubjobs(parent) {
		return false
	}
	return true
}

// arrayAttributes are the attributes of arrays and their subjobs; other jobs do not have them set.
var arrayAttributes = map[string]func(t *tables, j *Job) string{
	"array": func(_ *tables, j *Job) string {
		if j.Array == nil {
			return ""
		}
		return "True"
	},
	"array_id": func(_ *tables, j *Job) string {
		if !j.IsSubjob() {
			return ""
		}
		return string(j.ID.Parent())
	},
	"array_index": func(_ *tables, j *Job) string {
		if !j.IsSubjob() {
			return ""
		}
		return strconv.FormatUint(uint64(j.Index()), 10)
	},
	"array_indices_submitted": func(_ *tables, j *Job) string {
		if j.Array == nil {
			return ""
		}
		return j.Array.Indices.String()
	},
	"array_indices_remaining": func(t *tables, j *Job) string {
		if j.Array == nil {
			return ""
		}
		left := j.Array.Queued
		for sub := range t.ReturnedSubjobs(j) {
			left = left.With(sub.Index())
		}
		return left.String()
	},
	"array_state_count": (*tables).subjobCounts,
}

// subjobCounts returns array_state_count, which has no blank at its end, as recorded.
func (t *tables) subjobCounts(parent *Job) string {
	if parent.Array == nil {
		return ""
	}
	queued, exiting := parent.Array.Queued.Count(), 0
	for range t.ReturnedSubjobs(parent) {
		queued++
	}
	for j := range t.LiveSubjobs(parent) {
		if j.State == pbs.Exiting {
			exiting++
		}
	}
	live := int(parent.Array.Live)
	expired := parent.Array.Indices.Count() - queued - live
	return "Queued:" + strconv.Itoa(queued) + " Running:" + strconv.Itoa(live-exiting) +
		" Exiting:" + strconv.Itoa(exiting) + " Expired:" + strconv.Itoa(expired)
}

// jobLetter returns job_state: of a subjob that has ended X as long as its array goes on, and of one that is to start
// again Q, as of those that never started: the hold is the array's, unless it has failed too often itself.
func (t *tables) jobLetter(j *Job) string {
	switch {
	case t.Expired(j):
		return pbs.LetterExpired
	case j.IsSubjob() && j.State == pbs.Held && (j.FailedRuns == 0 || j.Holds&pbs.HoldSystem == 0):
		return pbs.Queued.Letter()
	}
	return j.Letter()
}

// setIndices makes the job an array.
func (j *Job) setIndices(e attr.Entry) error {
	set, err := pbs.ParseIndices(e.Value)
	if err != nil {
		return err
	}
	j.Array = &Array{Indices: set, Queued: set}
	return nil
}
