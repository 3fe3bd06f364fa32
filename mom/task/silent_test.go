package task

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// A start over 1,000 sisters of which one in twenty neither answers nor refuses takes the waits of
// the site and at most a second more: those that are silent hold up nobody who answers.
func TestRunner_TolerantStartOverSilentSisters(t *testing.T) {
	const sisters, alarm, delay = 1000, 45 * time.Second, 40 * time.Second
	for _, c := range []struct {
		name      string
		prologues time.Duration
		least     time.Duration
	}{
		{"they do not join", 0, alarm},
		{"they do not join, and there are prologues", time.Minute, alarm + delay},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				task, silent := in(Accepted, tolerant), map[pbs.HostName]string{}
				task.Hosts = task.Hosts[:1]
				for i := range sisters {
					h := Host{Name: pbs.HostName(fmt.Sprintf("h%d", i)), Address: "a:1"}
					task.Hosts = append(task.Hosts, h)
					if i%20 == 0 {
						silent[h.Name] = "away"
					}
				}
				s, _, _ := stageSite(t)
				w, log := &witness{begun: time.Now(), prologues: c.prologues}, new(notes)
				s.Lines, s.Hooks, s.Peers = log, w, &troop{join: silent}
				s.Settings = func() Settings { return Settings{JoinAlarm: alarm, LaunchDelay: delay} }
				r := NewRunner(s, task)
				ctx, cancel := context.WithCancel(t.Context())
				begun := time.Now()
				go r.Run(ctx, Fetched{})
				now, err := r.Await(ctx, func(t Task) bool { return t.Life.StartedAt != 0 || t.Over() })
				took := time.Since(begun)
				t.Logf("the program runs after %s", took)
				if err != nil || now.Life.StartedAt == 0 || took < c.least || took > c.least+time.Second {
					t.Errorf("after %s: %s, %+v, %v; want it to run after %s to %s", took, now.State(), now.Result, err, c.least, c.least+time.Second)
				}
				cancel()
				<-r.Done()
				launch := w.seen[len(w.seen)-1]
				if got := strings.Count(launch, " h"); !strings.HasPrefix(launch, "launch") || got != len(silent) {
					t.Errorf("%d of %d silent sisters are bad at launch", got, len(silent))
				}
				if !slices.Contains(log.all(), fmt.Sprintf("sister_join_job_alarm wait time %d secs exceeded", alarm/time.Second)) {
					t.Error("the log does not tell of the alarm")
				}
				if s.System.(*proc.Fake).Starts(string(testKey.Job)) != 1 {
					t.Error("the program was not started once")
				}
			})
		})
	}
}
