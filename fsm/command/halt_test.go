package command_test

import (
	"testing"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// TestHalt_Law_LiftedFenceNeverFalls is L2 through a planned end: whatever time passes, the
// jobs of a host that was told of no deadline are nobody else's.
func TestHalt_Law_LiftedFenceNeverFalls(t *testing.T) {
	s, index, now := state.NewStore(), uint64(0), pbs.Time(1795242337)*1e9
	do := func(commands ...command.Command) *pbs.Error {
		t.Helper()
		index++
		out, _ := command.Run(s, index, 1, command.Entry{Time: now, Proposals: []command.Proposal{{Commands: commands}}})
		if err := s.Publish().Check(); err != nil {
			t.Fatal(err)
		}
		return out[0].Refusal
	}
	host := func() *state.Host {
		h, _ := s.View().Host("hosta")
		return h
	}
	must := func(commands ...command.Command) {
		t.Helper()
		if err := do(commands...); err != nil {
			t.Fatalf("%T: %v", commands[0], err)
		}
	}
	must(&command.InitCluster{ID: "c", Name: "srv", Epoch: 1})
	must(&command.HostUp{Host: "hosta", Address: "hosta:15002", BootID: "b", SpoolID: "s"})
	if host().Fence != 310 {
		t.Fatalf("the fence is %d at first", host().Fence)
	}
	must(&command.HaltServers{Lift: true})
	must(&command.HaltServers{Lift: true, End: true})
	if s.View().Server().Fence() != 0 || host().Fence != 0 {
		t.Fatalf("lifted: %d, %d", s.View().Server().Fence(), host().Fence)
	}
	now += pbs.Time(30 * time.Minute) // the servers were away
	must(&command.TermStarted{Leader: "s1"})
	must(&command.HostDown{Host: "hosta"})
	must(&command.HostFenced{Host: "hosta", Registered: host().Registered, Fence: 310})
	if host().GivenUp {
		t.Error("given up by a fence that it does not hold")
	}
	must(&command.TimeTick{})
	if s.View().Server().Fence() != 310 || host().Fence != 0 {
		t.Errorf("after the tick the servers ask for %d, the host holds %d", s.View().Server().Fence(), host().Fence)
	}
	must(&command.HostFenced{Host: "hosta", Registered: host().Registered, Fence: 0})
	if host().GivenUp {
		t.Error("given up although it holds no deadline")
	}
	must(&command.ShortenFence{Host: "hosta", Held: 310, Changed: s.View().Server().FenceChanged})
	if host().Fence != 310 {
		t.Errorf("it has renewed and holds %d", host().Fence)
	}
}

func TestHalt_WearsOff(t *testing.T) {
	s, index, now := state.NewStore(), uint64(0), pbs.Time(1795242337)*1e9
	do := func(c command.Command) {
		t.Helper()
		index++
		out, _ := command.Run(s, index, 1, command.Entry{Time: now, Proposals: []command.Proposal{{Commands: []command.Command{c}}}})
		s.Publish()
		if out[0].Refusal != nil {
			t.Fatalf("%T: %v", c, out[0].Refusal)
		}
	}
	do(&command.InitCluster{ID: "c", Name: "srv", Epoch: 1})
	do(&command.HaltServers{Lift: true})
	for _, step := range []struct {
		after  time.Duration
		halted bool
	}{{30 * time.Second, true}, {31 * time.Second, false}} {
		now += pbs.Time(step.after)
		do(&command.TimeTick{})
		if v := s.View().Server(); (v.HaltedAt != 0) != step.halted || (v.LiftedAt != 0) != step.halted {
			t.Errorf("%s on: halted at %d, lifted at %d", step.after, v.HaltedAt, v.LiftedAt)
		}
	}
}
