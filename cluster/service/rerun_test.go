package service

import (
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// TestRerun_AnswersWhenTheJobIsQueued: a script that starts a cycle after qrerun finds the job there.
func TestRerun_AnswersWhenTheJobIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, job := haltBench(t)
		h, _ := b.store.View().Host("hosta")
		time.AfterFunc(3*time.Second, func() {
			b.do(&command.JobEnded{Source: command.Source{Host: "hosta", Spool: h.SpoolID, Seq: h.Acked + 1}, Job: pbs.JobID(job), RunCount: 1, ExitStatus: pbs.ExitRerun})
		})
		began := time.Now()
		if _, err := b.Batch.Rerun(b.as("root@replica:s1"), request(&api.RerunRequest{Job: job}, "")); err != nil {
			t.Fatal(err)
		}
		if took, state := time.Since(began), b.job(job).State; took != 3*time.Second || state != pbs.Queued {
			t.Errorf("answered after %s, the job is %s", took, state)
		}
	})
}

// TestRerun_TimesOut: the wait is that of job_requeue_timeout, however long an asker waits for who is silent; the order stays.
func TestRerun_TimesOut(t *testing.T) {
	for value, want := range map[string]time.Duration{"": requeueWithin, "00:00:05": 5 * time.Second, "10:00:00": 10 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			b, job := haltBench(t)
			if value != "" {
				var ch command.AttrChange
				ch.Entry.Name, ch.Entry.Value = "job_requeue_timeout", value
				b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{ch}})
			}
			began := time.Now()
			ctx, cancel := transport.WithBudget(b.as("root@replica:s1"), 30*time.Second)
			defer cancel()
			_, err := b.Batch.Rerun(ctx, request(&api.RerunRequest{Job: job}, ""))
			if pbs.CodeOf(err) != pbs.InternalError || err.Error() != "Response timed out. Job rerun request still in progress for" {
				t.Errorf("%q: %v", value, err)
			}
			if took := time.Since(began); took != want {
				t.Errorf("%q: answered after %s", value, took)
			}
			if b.job(job).State != pbs.Exiting {
				t.Errorf("%q: the job is %s", value, b.job(job).State)
			}
		})
	}
}
