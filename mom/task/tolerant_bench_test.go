package task

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// A start over 1,000 sisters of which one in twenty refuses: from the first call until all have
// answered.
func BenchmarkTolerantStart_1000Sisters(b *testing.B) {
	for b.Loop() {
		t := in(Accepted, tolerant)
		t.Hosts = t.Hosts[:1]
		bad := map[pbs.HostName]string{}
		for i := range 1000 {
			h := Host{Name: pbs.HostName(fmt.Sprintf("h%d", i)), Address: "a:1"}
			t.Hosts = append(t.Hosts, h)
			if i%20 == 0 {
				bad[h.Name] = "refuse"
			}
		}
		s := testSite(b)
		s.Accounts, s.Logger, s.System = people{Account{Name: "ann", Home: b.TempDir()}}, slog.New(slog.DiscardHandler), proc.NewFake(nil)
		s.Lines, s.Hooks, s.Settings = silence{}, &witness{begun: time.Now()}, func() Settings { return Settings{LaunchEarly: true} }
		s.Peers = &troop{join: bad}
		if err := s.Spool.SaveTask(t.Key, t, true); err != nil {
			b.Fatal(err)
		}
		r := NewRunner(s, t)
		ctx, cancel := context.WithCancel(b.Context())
		go r.Run(ctx, Fetched{})
		if _, err := r.Await(ctx, func(t Task) bool { return t.State() != Joining && t.State() != Accepted }); err != nil {
			b.Fatal(err)
		}
		cancel()
		<-r.Done()
	}
}
