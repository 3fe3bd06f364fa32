package check

import (
	"strings"
	"testing"
	"time"
)

// What a disaster took is not held against the system, all else is, and two live runs of a
// job are never excused.
func TestLoss_ExcusesWhatItTouchesOnly(t *testing.T) {
	laws := []Law{NoJobLost, OneRunEach, SameLedger, OneJobPerRequest}
	e := good()
	lost := Op{Kind: Submit, Name: "lost", Job: "1000.srv", Result: Done}
	e.History = append(e.History, lost)
	if Judge(e, laws).Good() {
		t.Fatal("an acknowledged job that is nowhere is no fault")
	}
	e.Loss = &Loss{Entries: 1, Jobs: map[string]string{"1000.srv": "lost"}}
	if v := Judge(e, laws); !v.Good() {
		t.Errorf("excused, and judged all the same: %+v", v)
	}
	if !Judge(e, []Law{Lost}).Good() || Judge(e, []Law{NothingLost}).Good() {
		t.Error("it is not seen that something was lost")
	}
	other := lost
	other.Name, other.Job = "other", "1001.srv"
	e.History = append(e.History, other)
	if Judge(e, laws).Good() {
		t.Error("a job that the loss does not touch is excused")
	}
	e.History = e.History[:len(e.History)-1]
	e.Runs = append(e.Runs, Run{Job: "1000.srv", Count: 1, Start: time.Second, End: 3 * time.Second},
		Run{Job: "1000.srv", Count: 1, Start: 2 * time.Second, End: 4 * time.Second})
	if v := Judge(e, laws); !strings.Contains(strings.Join(v.Broken, " "), "two live runs") {
		t.Errorf("two live runs of a lost job: %+v", v)
	}
}

func TestLoss_ASubjobTouchesItsArray(t *testing.T) {
	l := &Loss{Jobs: map[string]string{}}
	l.Touch("2[7].srv", "sweep")
	for id, want := range map[string]bool{"2[].srv": true, "2[1].srv": true, "2.srv": false, "3[7].srv": false, "": false} {
		if l.has(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
	}
}
