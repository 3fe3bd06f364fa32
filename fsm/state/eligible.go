package state

import (
	"fmt"
	"iter"
	"strconv"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// The values of accrue_type.
const (
	AccrueIneligible uint8 = 1 // the owner's limits or holds keep it from running
	AccrueEligible   uint8 = 2 // it waits for resources
	AccrueRun        uint8 = 3
	AccrueExit       uint8 = 4
)

// An Accrual is how long a job has waited for resources: eligible_time.
type Accrual struct {
	Type  uint8    `cbor:"1,keyasint,omitempty"` // accrue_type
	Since pbs.Time `cbor:"2,keyasint,omitempty"` // when it began to be that
	Total pbs.Time `cbor:"3,keyasint,omitempty"` // of spells that are over
}

// accrues returns the accrue_type of a job as it stands.
func (j *Job) accrues() uint8 {
	switch j.State {
	case pbs.Queued, pbs.Begun:
		switch {
		case j.Array != nil && len(j.Array.Queued) == 0: // all of its subjobs have been started
			return AccrueIneligible
		case j.Wait != nil:
			return j.Wait.Accrues()
		}
		return AccrueEligible
	case pbs.Running:
		return AccrueRun
	case pbs.Exiting, pbs.Finished:
		return AccrueExit
	}
	return AccrueIneligible
}

// accrue keeps the eligible time of a job that is stored; without eligible_time_enable
// nothing is counted.
func (tx *Tx) accrue(j *Job) {
	if !tx.server.Bool("eligible_time_enable") {
		return
	}
	kind, next := j.accrues(), Accrual{}
	if j.Accrued != nil {
		next = *j.Accrued
	}
	if next.Type == kind {
		return
	}
	last := next
	if next.Type == AccrueEligible {
		next.Total += max(0, tx.Now()-next.Since)
	}
	next.Type, next.Since = kind, tx.Now()
	j.Accrued = &next
	if last.Type != 0 {
		of := *j
		tx.Emit(Event{Kind: JobAccrued, Job: &of, Text: next.after(last)})
	}
}

// accrueWords are what the log calls the values of accrue_type.
var accrueWords = [...]string{
	AccrueIneligible: "ineligible_time", AccrueEligible: "eligible_time", AccrueRun: "run_time", AccrueExit: "exiting",
}

// after says that the accrue_type is another one than the last.
func (a Accrual) after(last Accrual) string {
	seconds := func(t pbs.Time) int64 { return int64(time.Duration(t) / time.Second) }
	total := seconds(a.Total)
	return fmt.Sprintf("Accrue type has changed to %s, previous accrue type was %s for %d secs, total eligible_time=%02d:%02d:%02d",
		accrueWords[a.Type], accrueWords[last.Type], seconds(max(0, a.Since-last.Since)), total/3600, total/60%60, total%60)
}

// SetEligible sets the eligible time of a job: qalter.
func (j *Job) SetEligible(seconds int64, now pbs.Time) {
	next := Accrual{Type: j.accrues(), Since: now, Total: pbs.Time(seconds) * pbs.Time(time.Second)}
	j.Accrued = &next
}

// Seconds returns how long the job has waited for resources, in seconds; a nil one counts none.
func (a *Accrual) Seconds(now pbs.Time) int64 {
	if a == nil {
		return 0
	}
	total := a.Total
	if a.Type == AccrueEligible {
		total += max(0, now-a.Since)
	}
	return int64(time.Duration(total) / time.Second)
}

// DropEstimate drops when and where the job was expected to start, for how long to run, and whether it was a top job.
func (j *Job) DropEstimate() {
	j.ForgetStart()
	j.Attrs = j.Attrs.Unset("estimated", "soft_walltime")
	if _, told := j.Attrs.Get("topjob", ""); told {
		j.Attrs = j.Attrs.Unset("topjob", "")
	}
}

// ForgetStart drops when and where the job was expected to start.
func (j *Job) ForgetStart() {
	j.Attrs = j.Attrs.Unset("estimated", "start_time").Unset("estimated", "exec_vnode")
}

// IsTop reports whether the scheduler has said that others must not delay the job.
func (j *Job) IsTop() bool { return isTrue(j.Attrs, "topjob") }

// MayBeTop reports whether the scheduler may keep others from delaying the job: topjob_ineligible.
func (j *Job) MayBeTop() bool { return !isTrue(j.Attrs, "topjob_ineligible") }

func isTrue(attrs attr.List, name string) bool {
	text, _ := attrs.Get(name, "")
	return text == "True"
}

// foreseen reports whether something was said of the start of a job that waits.
func (j *Job) foreseen() bool {
	switch j.State {
	case pbs.Queued, pbs.Held, pbs.Waiting, pbs.Begun:
		return j.IsTop() || j.EstimatedStart() != 0
	}
	return false
}

// topsFirst reports whether one job stands before another in the order of what is foreseen.
func topsFirst(a, b *Job) bool {
	if top := a.IsTop(); top != b.IsTop() {
		return top
	}
	return bySeqAndSub(a, b)
}

// Foreseen yields the jobs that wait and of whose start the scheduler has said something, top jobs first.
func (t *tables) Foreseen() iter.Seq[*Job] { return t.mine(t.foreseen.all()) }

// EstimatedStart returns when the scheduler expects the job to start, 0 if it has not said.
func (j *Job) EstimatedStart() pbs.Time {
	text, known := j.Attrs.Get("estimated", "start_time")
	if !known { // as of most jobs
		return 0
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return pbs.Time(n) * pbs.Time(time.Second)
}
