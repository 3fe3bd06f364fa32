package command_test

import (
	"testing"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A haltBench is a state with a job that the end of the servers has queued again.
type haltBench struct {
	t     *testing.T
	s     *state.Store
	index uint64
	now   pbs.Time
}

func (b *haltBench) do(commands ...command.Command) {
	b.t.Helper()
	b.index++
	out, _ := command.Run(b.s, b.index, 1, command.Entry{Time: b.now, Proposals: []command.Proposal{{Commands: commands}}})
	if err := b.s.Publish().Check(); err != nil {
		b.t.Fatal(err)
	}
	if out[0].Refusal != nil {
		b.t.Fatalf("%T: %v", commands[0], out[0].Refusal)
	}
}

func (b *haltBench) halted() string {
	j, _ := b.s.View().Job("0.srv")
	return j.Halted
}

func newHaltBench(t *testing.T) *haltBench {
	b := &haltBench{t: t, s: state.NewStore(), now: pbs.Time(1795242337) * 1e9}
	b.do(&command.InitCluster{ID: "c", Name: "srv", Epoch: 1})
	b.do(&command.HostUp{Host: "hosta", Address: "hosta:15002", BootID: "b", SpoolID: "s", Vnodes: []command.ReportedVnode{
		{Name: "hosta", Available: resource.List{{Name: "ncpus", Value: "4"}}},
	}})
	b.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}})
	b.do(&command.StartJob{Job: "0.srv", ExecVnode: "(hosta:ncpus=1)"})
	return b
}

// end queues the job again, as qrerun, or as the end of the servers does.
func (b *haltBench) end() {
	b.do(&command.RerunJob{Job: "0.srv"})
	b.do(&command.JobEnded{Source: b.source(), Job: "0.srv", RunCount: 1, ExitStatus: pbs.ExitRerun})
}

// source returns the source of the next fact of the host.
func (b *haltBench) source() command.Source {
	h, _ := b.s.View().Host("hosta")
	return command.Source{Host: "hosta", Spool: "s", Seq: h.Acked + 1}
}

func TestHot_OnlyOfJobsThatEndWithTheServers(t *testing.T) {
	b := newHaltBench(t)
	b.end()
	if got := b.halted(); got != "" {
		t.Errorf("qrerun notes %q", got)
	}
	b.do(&command.TermStarted{Leader: "s1", Hot: true})
	if b.s.View().Server().HotSince != 0 {
		t.Error("a hot start of servers that did not end on purpose")
	}
}

func TestHot_StartsWhereItRan(t *testing.T) {
	b := newHaltBench(t)
	b.do(&command.HaltServers{})
	b.end()
	b.do(&command.HaltServers{End: true})
	if got := b.halted(); got != "(hosta:ncpus=1)" {
		t.Fatalf("it ran on %q", got)
	}
	b.now += pbs.Time(time.Hour)
	b.do(&command.TermStarted{Leader: "s1", Hot: true})
	b.do(&command.TimeTick{})
	b.do(&command.TermStarted{Leader: "s2"}) // the start of another leader, meanwhile
	if v := b.s.View(); v.Server().HotSince == 0 || b.halted() == "" {
		t.Fatalf("hot since %d, halted %q", v.Server().HotSince, b.halted())
	}
	for _, a := range b.s.View().ServerAttributes() {
		if a.Name == "server_state" && a.Value != "Hot_Start" {
			t.Errorf("server_state = %s", a.Value)
		}
	}
	j, _ := b.s.View().Job("0.srv")
	start := &command.StartJob{Job: j.ID, Select: j.SchedSelect, ExecVnode: j.Halted}
	b.do(start)
	b.do(&command.TimeTick{})
	b.do(&command.JobEnded{Source: b.source(), Job: j.ID, RunCount: 2, NeverStarted: true, ExitStatus: pbs.ExitRetry})
	b.do(&command.TimeTick{})
	if v := b.s.View(); v.Server().HotSince == 0 || b.halted() == "" {
		t.Fatalf("the start has failed: hot since %d, halted %q", v.Server().HotSince, b.halted())
	}
	b.do(start)
	b.do(&command.JobStarted{Source: b.source(), Job: j.ID, RunCount: 3, Session: 7})
	if got := b.halted(); got != "" {
		t.Errorf("a job that runs was halted on %q", got)
	}
	b.do(&command.TimeTick{})
	if b.s.View().Server().HotSince != 0 {
		t.Error("it is hot when all have started")
	}
}

// A job whose end only comes when the servers are back starts again where it ran, too.
func TestHot_EndConfirmedAfterwards(t *testing.T) {
	b := newHaltBench(t)
	b.do(&command.HaltServers{})
	b.do(&command.RerunJob{Job: "0.srv"})
	b.do(&command.HaltServers{End: true})
	b.now += pbs.Time(time.Hour)
	b.do(&command.TermStarted{Leader: "s1", Hot: true})
	b.do(&command.TimeTick{})
	b.do(&command.JobEnded{Source: b.source(), Job: "0.srv", RunCount: 1, ExitStatus: pbs.ExitRerun})
	b.do(&command.TimeTick{})
	j, _ := b.s.View().Job("0.srv")
	if b.s.View().Server().HotSince == 0 || b.halted() != "(hosta:ncpus=1)" || !j.Startable() {
		t.Errorf("hot since %d, halted %q", b.s.View().Server().HotSince, b.halted())
	}
}

func TestHot_ForgottenByAnOtherStart(t *testing.T) {
	for name, next := range map[string]func(b *haltBench){
		"start":  func(b *haltBench) { b.do(&command.TermStarted{Leader: "s1"}) },
		"no end": func(b *haltBench) { b.now += pbs.Time(2 * time.Minute); b.do(&command.TimeTick{}) },
		"too late": func(b *haltBench) {
			b.do(&command.TermStarted{Leader: "s1", Hot: true})
			b.now += pbs.Time(6 * time.Minute)
			b.do(&command.TimeTick{})
		},
		"held": func(b *haltBench) {
			b.do(&command.TermStarted{Leader: "s1", Hot: true}, &command.HoldJob{Job: "0.srv", Holds: pbs.HoldUser}, &command.TimeTick{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newHaltBench(t)
			b.do(&command.HaltServers{})
			b.end()
			next(b)
			if s := b.s.View().Server(); s.HotSince != 0 || b.halted() != "" {
				t.Errorf("hot since %d, halted %q", s.HotSince, b.halted())
			}
		})
	}
}
