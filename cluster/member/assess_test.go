package member

import (
	"slices"
	"testing"
	"time"

	"rampart/fsm/state"
)

// status makes one of a replica that is well.
func status(role Role) Status {
	return Status{Self: state.Replica{Name: "s1", Host: "h1"}, Role: role, Term: 3, Commit: 5000, Applied: 5000, Voter: true}
}

func TestAssess(t *testing.T) {
	leader, follower := status(Leader), status(Follower)
	gone := Status{Role: Unreachable, Voter: true, Self: state.Replica{Name: "s3", Host: "h3"}}
	revoked := gone
	revoked.Revoked = true
	replaced := gone
	replaced.ReplacedBy = "s4"
	cutOff := leader
	cutOff.Term = 2
	sick := follower
	sick.Alarms = []Alarm{{Kind: AlarmSick, Advice: "look at the disk", Serves: true}}
	waits := Status{Role: Nonvoter, Voter: true, Alarms: []Alarm{{Kind: AlarmFull, Advice: "make room"}}}
	stalled := follower
	stalled.LastContact, stalled.Applied = time.Minute, 10
	stalled.Alarms = []Alarm{{Kind: AlarmStalled, Advice: "look at the path to it"}}
	behind := follower
	behind.Applied = 10
	deaf := follower
	deaf.LastContact = time.Minute
	joins := Status{Role: Nonvoter, Term: 3, Applied: 1}
	cases := []struct {
		name    string
		all     []Status
		want    Condition
		mayFail int
		healths []Health
		advice  string // among those of the last one
	}{
		{"all well", []Status{leader, follower, follower}, AllWell, 1, []Health{Healthy, Healthy, Healthy}, ""},
		{"one alone", []Status{leader}, Impaired, 0, []Health{Healthy}, ""},
		{"two", []Status{leader, follower}, Impaired, 0, []Health{Healthy, Healthy}, ""},
		{"five", []Status{leader, follower, follower, follower, gone}, Impaired, 1, []Health{Healthy, Healthy, Healthy, Healthy, Silent}, "look at host h3: is it up, does `rampart server` run there, and can it be reached? If it will not come back, let another replica join: it takes its place"},
		{"one gone", []Status{leader, follower, gone}, Impaired, 0, []Health{Healthy, Healthy, Silent}, ""},
		{"one revoked", []Status{leader, follower, revoked}, Impaired, 0, []Health{Healthy, Healthy, Silent}, revokedAdvice("s3")},
		{"one being replaced", []Status{leader, follower, replaced}, Impaired, 0, []Health{Healthy, Healthy, Silent}, "wait: s4 takes its place. If it comes back, it joins again by itself"},
		{"two gone", []Status{cutOff, gone, gone}, NoQuorum, 0, []Health{Healthy, Silent, Silent}, ""},
		{"nobody could let a newcomer in", []Status{follower, gone, gone}, NoQuorum, 0, []Health{Healthy, Silent, Silent}, "look at host h3: is it up, does `rampart server` run there, and can it be reached?"},
		{"nobody leads", []Status{follower, follower, follower}, NoQuorum, 0, []Health{Healthy, Healthy, Healthy}, ""},
		{"one was cut off", []Status{cutOff, leader, follower}, AllWell, 1, []Health{Healthy, Healthy, Healthy}, ""},
		{"sick disk", []Status{leader, follower, sick}, Impaired, 1, []Health{Healthy, Healthy, Degraded}, "look at the disk"},
		{"waits for room", []Status{leader, follower, waits}, Impaired, 0, []Health{Healthy, Healthy, Degraded}, "make room"},
		{"stalled disk", []Status{leader, follower, stalled}, Impaired, 0, []Health{Healthy, Healthy, Degraded}, "look at the path to it"},
		{"two stalled disks", []Status{leader, stalled, stalled}, NoQuorum, 0, []Health{Healthy, Degraded, Degraded}, "look at the path to it"},
		{"behind", []Status{leader, follower, behind}, Impaired, 1, []Health{Healthy, Healthy, Degraded}, "wait: it catches up. If it does not, look at its disk and CPU"},
		{"deaf", []Status{leader, follower, deaf}, Impaired, 1, []Health{Healthy, Healthy, Degraded}, ""},
		{"joins", []Status{leader, joins}, Impaired, 0, []Health{Healthy, Joining}, "wait: it gets a vote when it has caught up; while another is silent, when that is back or has been silent for 30 s"},
	}
	for _, c := range cases {
		verdicts, got, mayFail := Assess(c.all)
		if got != c.want || mayFail != c.mayFail {
			t.Errorf("%s: %s, %d may fail", c.name, got, mayFail)
		}
		for i, h := range c.healths {
			if verdicts[i].Health != h {
				t.Errorf("%s: replica %d is %s, want %s", c.name, i, verdicts[i].Health, h)
			}
		}
		if last := verdicts[len(verdicts)-1]; c.advice != "" && !slices.Contains(last.Advice, c.advice) {
			t.Errorf("%s: %q", c.name, last.Advice)
		}
		if last := verdicts[len(verdicts)-1]; c.all[len(c.all)-1].Stalled() && len(last.Advice) != 1 {
			t.Errorf("%s: what follows from the stall is said, too: %q", c.name, last.Advice)
		}
	}
	if v, _, _ := Assess([]Status{leader, behind}); v[1].Lag != 4990 {
		t.Errorf("lag %d", v[1].Lag)
	}
}
