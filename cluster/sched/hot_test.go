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
)

// over has the mom confirm that the first run of a job is over.
func (l *leader) over(host pbs.HostName, id pbs.JobID) {
	h, _ := l.store.View().Host(host)
	l.do(&command.JobEnded{Source: command.Source{Host: host, Spool: "s", Seq: h.Acked + 1}, Job: id, RunCount: 1, ExitStatus: 271})
}

// runs has the mom report that the second run of a job has begun.
func (l *leader) runs(host pbs.HostName, id pbs.JobID) {
	h, _ := l.store.View().Host(host)
	l.do(&command.JobStarted{Source: command.Source{Host: host, Spool: "s", Seq: h.Acked + 1}, Job: id, RunCount: 2, Session: 7})
}

// TestHot_StartsAgainWhatHasEnded: pbs_server -t hot starts jobs that qterm has ended where they ran, with
// scheduling off, before others that are first in the queue; one that has no room yet is waited for.
func TestHot_StartsAgainWhatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=2")
		l.host("hostb", "hostb:ncpus=2")
		other := l.submit("ncpus=2")
		here, there := l.submit("ncpus=2"), l.submit("ncpus=2")
		for _, name := range []string{"lsf_resreq", "lsf_select"} { // what bsub -R has asked for is looked at again
			l.do(&command.AlterJob{Job: here, Changes: []command.AttrChange{{Entry: attr.Entry{Name: name, Value: "mem>0"}}}, Hooked: true})
		}
		l.do(&command.StartJob{Job: here, ExecVnode: "(hosta:ncpus=2)"}, &command.StartJob{Job: there, ExecVnode: "(hostb:ncpus=2)"})
		l.do(scheduling("False"))
		l.do(&command.HaltServers{})
		l.do(&command.RerunJob{Job: here, Force: true}, &command.RerunJob{Job: there, Force: true})
		l.do(&command.TermStarted{Leader: "s1", Hot: true})

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Asker: pbs.User{Name: "Scheduler", Host: "s1"}, Logger: slog.New(slog.DiscardHandler)})
		go func() { done <- loop.Run(ctx) }()
		settle := func() { time.Sleep(3 * time.Second); synctest.Wait() }
		settle()
		if s := l.state(here) + l.state(there) + l.state(other); s != "QQQ" {
			t.Fatalf("before the ends are confirmed: %s", s)
		}
		l.now(func() { l.over("hosta", here) })
		settle()
		if s := l.state(here) + l.state(there) + l.state(other); s != "RQQ" || l.View().Server().HotSince == 0 {
			t.Fatalf("one host is back: %s, hot since %d", s, l.View().Server().HotSince)
		}
		l.now(func() { l.over("hostb", there) })
		settle()
		l.now(func() {
			l.runs("hosta", here)
			l.runs("hostb", there)
			l.do(&command.TimeTick{})
		})
		settle()
		if s := l.state(here) + l.state(there) + l.state(other); s != "RRQ" || l.View().Server().HotSince != 0 {
			t.Errorf("both are back: %s, hot since %d", s, l.View().Server().HotSince)
		}
		if j, _ := l.View().Job(there); j.Run == nil || j.Run.ExecVnode.String() != "(hostb:ncpus=2)" {
			t.Errorf("it runs as %+v", j.Run)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
