package check

import (
	"testing"
	"time"
)

// A job that waits for more than ten seconds beside a host that is fit breaks the law, also if it waits still; one that a run was too
// short for does not.
func TestNobodyWaits(t *testing.T) {
	wait := func(from, to time.Duration) Wait { return Wait{Job: "1.srv", Span: Span{From: from, To: to}} }
	for _, c := range []struct {
		name   string
		waits  []Wait
		faults int
	}{
		{"shortly", []Wait{wait(time.Second, 11*time.Second)}, 0},
		{"for long", []Wait{wait(time.Second, 12*time.Second)}, 1},
		{"still", []Wait{wait(time.Second, Never), wait(13*time.Second, 14*time.Second)}, 1},
		{"nobody knows how long", []Wait{wait(time.Second, Never), wait(8*time.Second, 9*time.Second)}, 0},
	} {
		if got := NobodyWaits.Judge(&Evidence{Waits: c.waits}); len(got) != c.faults {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// A job whose sister was lost at its start must run again in time.
func TestElsewhere(t *testing.T) {
	hit := Hit{At: "given", Job: "1.srv", Count: 1, Host: "b", Mother: "a", When: time.Second}
	law := Elsewhere("given", time.Minute)
	for _, c := range []struct {
		name   string
		runs   []Run
		faults int
	}{
		{"in time", []Run{{Job: "1.srv", Count: 2, Start: 40 * time.Second}}, 0},
		{"late", []Run{{Job: "1.srv", Count: 2, Start: 70 * time.Second}}, 1},
		{"the run that was lost", []Run{{Job: "1.srv", Count: 1, Start: 2 * time.Second}}, 1},
	} {
		if got := law.Judge(&Evidence{Hits: []Hit{hit}, Runs: c.runs}); len(got) != c.faults {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
