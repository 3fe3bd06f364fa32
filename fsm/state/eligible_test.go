package state

import (
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// Time in which a job waits for resources is its eligible time; holds and limits of its
// owner are not, and nothing is counted before the site wants it.
func TestAccrue(t *testing.T) {
	s := NewStore()
	at, index := pbs.Time(0), uint64(0)
	do := func(later int64, f func(tx *Tx)) {
		at, index = at+pbs.Time(later)*pbs.Time(time.Second), index+1
		s.Begin(index, 1, at)
		tx := s.Tx()
		f(tx)
		s.Commit(tx)
		s.Publish()
	}
	job := func(change func(*Job)) func(tx *Tx) {
		return func(tx *Tx) {
			next := Job{ID: "0.srv", State: pbs.Queued}
			if j, ok := tx.Job("0.srv"); ok {
				next = *j
			}
			change(&next)
			tx.PutJob(&next)
		}
	}
	want := func(when, eligible, kind string) {
		t.Helper()
		v := s.View()
		j, _ := v.Job("0.srv")
		if got, k := v.JobAttribute(j, "eligible_time", ""), v.JobAttribute(j, "accrue_type", ""); got != eligible || k != kind {
			t.Errorf("%s: %q of type %q, want %q, %q", when, got, k, eligible, kind)
		}
	}
	do(0, func(tx *Tx) { tx.EditCluster().NextJob = 1 })
	do(1, job(func(*Job) {}))
	want("not wanted", "", "")
	do(1, func(tx *Tx) {
		next := *tx.Server()
		next.Attrs = attr.List{}.Set("eligible_time_enable", "", "True")
		tx.PutServer(&next)
	})
	do(1, job(func(*Job) {}))
	want("queued", "00:00:00", "2")
	do(4, job(func(j *Job) { j.Comment = "would exceed the owner's hopes" }))
	want("of which somebody says that it would exceed something", "00:00:04", "2")
	do(6, func(tx *Tx) {
		j, _ := tx.Job("0.srv")
		next := *j
		tx.SetWait(&next, Wait{Code: WaitLimit, Subject: Subject{Kind: 'u'}})
		tx.PutJob(&next)
	})
	want("at a limit", "00:00:10", "1")
	do(2, job(func(j *Job) { j.Comment = "I wait" }))
	want("at a limit, with a comment of its owner's", "00:00:10", "1")
	do(3, job(func(j *Job) { j.Comment, j.Wait = "", nil }))
	do(7, job(func(j *Job) { j.State = pbs.Running }))
	want("running", "00:00:17", "3")
	do(60, job(func(j *Job) { j.State = pbs.Held }))
	do(60, job(func(j *Job) { j.State = pbs.Finished }))
	want("over", "00:00:17", "4")
}

// The log tells how long a job was of the accrue_type that it is no more.
func TestAccrue_Told(t *testing.T) {
	last := Accrual{Type: AccrueEligible, Since: 10 * pbs.Time(time.Second)}
	next := Accrual{Type: AccrueIneligible, Since: 3710 * pbs.Time(time.Second), Total: 3725 * pbs.Time(time.Second)}
	const want = "Accrue type has changed to ineligible_time, previous accrue type was eligible_time for 3700 secs, total eligible_time=01:02:05"
	if got := next.after(last); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// An array waits as long as a subjob of it was never started.
func TestAccrue_Array(t *testing.T) {
	j := &Job{State: pbs.Begun, Array: &Array{Queued: pbs.Indices{{First: 3, Last: 3, Step: 1}}}}
	if got := j.accrues(); got != AccrueEligible {
		t.Errorf("with a subjob left: %d", got)
	}
	j.EditArray().Queued = nil
	if got := j.accrues(); got != AccrueIneligible {
		t.Errorf("with all subjobs started: %d", got)
	}
}
