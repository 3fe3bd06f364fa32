package recovery

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/store"
	"rampart/fsm/pbs"
)

// The furthest survivor is chosen; what can help itself, or is not clearly lost, is refused.
func TestPlan(t *testing.T) {
	gone := errors.New("no answer")
	for _, c := range []struct {
		name    string
		change  func(ends []LogEnd, failures []error, d *Disaster)
		chosen  string
		refusal string
	}{
		{"the longest log", func(ends []LogEnd, _ []error, _ *Disaster) { ends[2].Index = 90 }, "s3.d", ""},
		{"a later term is further than a longer log", func(ends []LogEnd, _ []error, _ *Disaster) { ends[2].Index, ends[1].Term = 90, 8 }, "s2.d", ""},
		{"of equal ones a voter", func(ends []LogEnd, _ []error, _ *Disaster) { ends[1].Voter = false }, "s3.d", ""},
		{"a quorum answers", func(_ []LogEnd, failures []error, d *Disaster) { failures[0], d.Lost = nil, d.Lost[1:] }, "", "which is a quorum"},
		{"a leader is heard", func(ends []LogEnd, _ []error, _ *Disaster) { ends[1].Leader = "s1:1" }, "", "hears a leader"},
		{"one that was named answers", func(_ []LogEnd, failures []error, _ *Disaster) { failures[0] = nil }, "", "it is not lost"},
		{"one that was not named is silent", func(_ []LogEnd, _ []error, d *Disaster) { d.Lost = d.Lost[1:] }, "", "was not named as lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var members []raft.Server
			var ends []LogEnd
			for _, name := range []string{"s1", "s2", "s3", "s4", "s5"} {
				members = append(members, raft.Server{ID: raft.ServerID(name + ".d"), Suffrage: raft.Voter})
				ends = append(ends, LogEnd{ServerID: name + ".d", Index: 80, Term: 7, Voter: true})
			}
			failures := []error{gone, nil, nil, gone, gone}
			d := Disaster{Lost: []pbs.ReplicaName{"s1", "s4", "s5"}}
			c.change(ends, failures, &d)
			plan, err := Plan(members, d, ends, failures)
			if c.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), c.refusal) {
					t.Errorf("%v, want %q", err, c.refusal)
				}
				return
			}
			if err != nil || plan.Chosen().ServerID != c.chosen || len(plan.Lost) != 3 || len(plan.Anew()) != 1 {
				t.Errorf("%+v, %v", plan, err)
			}
		})
	}
}

// Nothing is done when the log has changed since it was decided, and an entry that an earlier start
// appended is not appended again.
func TestResume(t *testing.T) {
	for _, grown := range []bool{false, true} {
		disk := store.NewMemory()
		s, err := store.Open(disk, store.Options{Deadline: 1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Log().StoreLog(&raft.Log{Index: 1, Term: 3}); err != nil {
			t.Fatal(err)
		}
		self := raft.Server{ID: "s1.d", Address: "s1:1"}
		plan := Rescue{Survivors: []LogEnd{{ServerID: "s1.d", Index: 1, Term: 3}}, Lost: []string{"s2.d"}}
		if _, err := Decide(s, "s1", &plan, pbs.User{Name: "root"}); err != nil || plan.Epoch == 0 {
			t.Fatalf("%+v, %v", plan, err)
		}
		if grown {
			if err := s.Log().StoreLog(&raft.Log{Index: 2, Term: 4}); err != nil {
				t.Fatal(err)
			}
			if d, err := Resume(s, self, time.Unix(1000, 0)); d != nil || !errors.Is(err, ErrVoid) {
				t.Errorf("of a log that has grown: %+v, %v", d, err)
			}
			if d, err := Resume(s, self, time.Unix(1000, 0)); d != nil || err != nil {
				t.Errorf("it is not forgotten: %+v, %v", d, err)
			}
			continue
		}
		for range 2 {
			d, err := Resume(s, self, time.Unix(1000, 0))
			if err != nil || d == nil || d.Epoch != plan.Epoch {
				t.Fatalf("%+v, %v", d, err)
			}
		}
		if index, term, err := s.Last(); index != 2 || term != 4 || err != nil {
			t.Errorf("the log ends at %d of term %d, %v", index, term, err)
		}
	}
}
