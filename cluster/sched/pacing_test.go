package sched_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A sickbay is a leader all of whose moms refuse every start, for no host's fault. Nothing else is ever committed.
type sickbay struct {
	*leader
	begun time.Time
	tries []time.Duration
}

func (s *sickbay) Propose(_ context.Context, p command.Proposal) (command.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := time.Since(s.begun)
	for _, c := range p.Commands {
		run, ok := c.(*command.StartJob)
		if !ok {
			continue
		}
		s.tries = append(s.tries, took)
		s.at(took, run)
		h, _ := s.store.View().Host("hosta")
		j, _ := s.store.View().Job(run.Job)
		s.at(took, &command.JobEnded{
			Source: command.Source{Host: "hosta", Spool: "s", Seq: h.Acked + 1}, Job: run.Job, RunCount: j.RunCount, ExitStatus: -3, NeverStarted: true,
		})
	}
	s.tell()
	return command.Outcome{}, nil
}

// On a cluster in which nothing else happens, a job whose start is refused is tried again each second, and held after 20 tries.
func TestLoop_PaceOfRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sickbay{leader: &leader{bench: newBench(t), changed: make(chan struct{})}, begun: time.Now()}
		s.host("hosta", "hosta:ncpus=1")
		id := s.submit("select=1:ncpus=1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := sched.New(sched.Options{Source: s, Proposer: s, Log: s, Logger: slog.New(slog.DiscardHandler)}).Run(ctx); err != nil {
			t.Error(err)
		}
		if j, _ := s.View().Job(id); j.State != pbs.Held || len(s.tries) != 21 {
			t.Fatalf("after %d tries it is %v", len(s.tries), j.State)
		}
		if took := s.tries[20]; took < 17*time.Second || took > 20*time.Second {
			t.Errorf("tried at %v", s.tries)
		}
	})
}

// A job whose start hooks refuse whenever it is asked about preempts somebody once, and nobody again while it waits; it
// starts when there is room and hooks let it.
func TestLoop_RefusedJobsAreTame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		asked, lets := 0, false
		loop := sched.New(sched.Options{
			Source: l, Proposer: l, Log: l, Asker: pbs.User{Name: "Scheduler", Host: "s1"}, Logger: slog.New(slog.DiscardHandler),
			Approve: func(_ context.Context, v *state.View, starts []sched.Start, say func(pbs.JobID, sched.Verdict)) {
				for _, one := range starts {
					j, _ := v.Job(one.Job)
					if j.Queue != "express" || lets {
						say(one.Job, sched.Verdict{})
						continue
					}
					asked++
					say(one.Job, sched.Verdict{Why: "no licence"})
				}
			},
		})
		var low, high pbs.JobID
		l.now(func() {
			l.do(&command.ManageHook{Verb: command.VerbCreate, Name: "h", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "event", Value: "runjob"}}}})
			l.do(&command.ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("pass")})
			l.host("hosta", "hosta:ncpus=1")
			l.queue("express", "200")
			l.scheduler("preempt_order=R")
			low = l.queued("workq", "select=1:ncpus=1")
		})
		done := make(chan error, 1)
		go func() { done <- loop.Run(ctx) }()
		preempted := 0
		for range 4 * 60 { // seconds
			time.Sleep(time.Second)
			synctest.Wait()
			l.now(func() {
				switch j, _ := l.store.View().Job(low); {
				case j.State == pbs.Running && j.LastRun().Session == 0:
					l.begin(low)
					if high == "" {
						high = l.queued("express", "select=1:ncpus=1")
					}
				case j.State == pbs.Exiting:
					preempted++
					h, _ := l.store.View().Host("hosta")
					l.do(&command.JobEnded{Source: command.Source{Host: "hosta", Spool: "s", Seq: h.Acked + 1}, Job: low, RunCount: j.RunCount, ExitStatus: 271})
				}
			})
		}
		if preempted != 1 || asked == 0 || l.state(high) != "Q" || l.state(low) != "R" {
			t.Errorf("preempted %d times, asked %d times; %s and %s", preempted, asked, l.state(high), l.state(low))
		}
		l.now(func() {
			lets = true
			l.do(&command.DeleteJob{Job: low, Force: true})
		})
		time.Sleep(20 * time.Second)
		l.now(func() {})
		time.Sleep(time.Second)
		synctest.Wait()
		if l.state(high) != "R" {
			t.Errorf("with room it is %s", l.state(high))
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
