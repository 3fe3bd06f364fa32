package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/daylog"
)

// TestTellFound: what waited at the start of a replica is logged once, as it was then, whatever has become of it since.
func TestTellFound(t *testing.T) {
	store, index := state.NewStore(), uint64(0)
	do := func(c command.Command) *state.View {
		t.Helper()
		index++
		out, _ := command.Run(store, index, 1, command.Entry{Time: pbs.Time(index), Proposals: []command.Proposal{{
			Asker: pbs.User{Name: "ann", Host: "hosta"}, Commands: []command.Command{c},
		}}})
		if out[0].Refusal != nil {
			t.Fatal(out[0].Refusal)
		}
		return store.Publish()
	}
	do(&command.InitCluster{ID: "c", Name: "srv", Epoch: 1})
	before := do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}})
	after := do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}})

	dir := t.TempDir()
	s := &Server{serverLog: daylog.New(dir, "Server@hosta", daylog.Options{Mask: daylog.ServerMask, Location: time.UTC})}
	s.config.Host = "hosta"
	s.tellFound(before)
	s.tellFound(after)
	if err := s.serverLog.Close(); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range files {
		text, fault := os.ReadFile(file)
		if fault != nil {
			t.Fatal(fault)
		}
		log.Write(text)
	}
	if got := strings.Count(log.String(), "0.srv;Requeueing job, substate: 10 Requeued in queue: workq\n"); err != nil || got != 1 ||
		strings.Count(log.String(), "\n") != 1 {
		t.Errorf("%q, %v", log.String(), err)
	}
}

// TestReady: a replica tells its pid and its port in PBS's words when it serves.
func TestReady(t *testing.T) {
	for address, want := range map[string]string{
		"hosta:15001": "Server pid = 7 ready;  using ports Server:15001",
		"[::1]:99":    "Server pid = 7 ready;  using ports Server:99",
		"hosta":       "Server pid = 7 ready;  using ports Server:-",
	} {
		s := &Server{config: Config{Listen: "0.0.0.0:1", Advertise: address}, outside: Outside{Process: Process{PID: 7}}}
		if got := s.ready(); got != want {
			t.Errorf("of %s: %q, want %q", address, got, want)
		}
	}
}

// TestRequeued: of what waits the log tells at the start of a replica, in PBS's words; of what runs or is over it does not.
func TestRequeued(t *testing.T) {
	for _, c := range []struct {
		state pbs.JobState
		sub   pbs.Substate
		want  string
	}{
		{pbs.Queued, pbs.SubQueued, "Requeueing job, substate: 10 Requeued in queue: workq"},
		{pbs.Held, pbs.SubHeld, "Requeueing job, substate: 20 Requeued in queue: workq"},
		{pbs.Waiting, pbs.SubWaiting, "Requeueing job, substate: 30 Requeued in queue: workq"},
		{pbs.Begun, pbs.SubBegun, "Requeueing job, substate: 70 Requeued in queue: workq"},
		{pbs.Running, pbs.SubRunning, ""},
		{pbs.Exiting, pbs.SubExiting, ""},
		{pbs.Finished, pbs.SubFinished, ""},
	} {
		if got := requeued(&state.Job{State: c.state, Substate: c.sub, Queue: "workq"}); got != c.want {
			t.Errorf("%s: %q, want %q", c.state, got, c.want)
		}
	}
}
