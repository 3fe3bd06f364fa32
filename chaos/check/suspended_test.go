package check

import (
	"strings"
	"testing"
	"time"
)

// What must not be of suspended jobs.
func TestSuspended_Rejects(t *testing.T) {
	book := func(kinds string, asked int) Evidence {
		var b strings.Builder
		for _, k := range strings.Split(kinds, "") {
			b.WriteString("11/22/2026 10:00:00;" + k + ";1.srv;user=ann\n")
		}
		e := Evidence{Replicas: []Replica{{Name: "s1", Ledger: map[string][]byte{"20261122": []byte(b.String())}}}}
		for range asked {
			e.History = append(e.History, Op{Kind: Suspend, Job: "1.srv", Result: Unknown})
		}
		return e
	}
	const second = time.Second
	stood := []Stood{{Job: "1.srv", Count: 1, Span: Span{3 * second, 5 * second}}}
	run := func(end time.Duration, halts ...Span) Evidence {
		return Evidence{Stood: stood, Runs: []Run{{Job: "1.srv", Count: 1, Host: "hosta", Start: second, End: end, Halts: halts}}}
	}
	way := func(who string, turn uint64) Stood { return Stood{Job: "1.srv", Count: 1, Way: Way{who, turn}} }
	for _, c := range []struct {
		name string
		law  Law
		e    Evidence
		bad  bool
	}{
		{"stopped before and let go after", StandStill, run(9*second, Span{2 * second, 6 * second}), false},
		{"never let go", StandStill, run(Never, Span{2 * second, Never}), false},
		{"ended before", StandStill, run(2 * second), false},
		{"killed while it was stopped", StandStill, run(4*second, Span{2 * second, 4 * second}), false},
		{"not stopped", StandStill, run(9 * second), true},
		{"stopped too late", StandStill, run(9*second, Span{3500 * time.Millisecond, 6 * second}), true},
		{"let go too early", StandStill, run(9*second, Span{2 * second, 4 * second}), true},
		{"another run", StandStill, Evidence{Stood: stood, Runs: []Run{{Job: "1.srv", Count: 2, End: 9 * second}}}, false},

		{"made way for two", OneWay, Evidence{Stood: []Stood{way("2.srv", 0), way("3.srv", 0)}}, false},
		{"made way again when it had started", OneWay, Evidence{Stood: []Stood{way("2.srv", 0), way("2.srv", 1)}}, false},
		{"asked to twice", OneWay, Evidence{Stood: []Stood{way("", 0), way("", 0)}}, false},
		{"made way twice", OneWay, Evidence{Stood: []Stood{way("2.srv", 1), way("3.srv", 0), way("2.srv", 1)}}, true},
		{"suspended for another", TrueSuspensions, Evidence{Replicas: book("QSzrE", 0).Replicas, Stood: []Stood{way("2.srv", 0)}}, false},
		{"nobody was preempted", Preempted, Evidence{Stood: []Stood{way("", 0)}}, true},

		{"suspended twice", TrueSuspensions, book("QSzrzrE", 2), false},
		{"ended while suspended", TrueSuspensions, book("QSzE", 1), false},
		{"sent back while suspended", TrueSuspensions, book("QSzRSzE", 2), false},
		{"an alteration that nobody knows of", TrueSuspensions, book("QSE", 1), false},
		{"suspended when it was", TrueSuspensions, book("QSzzE", 2), true},
		{"resumed when it was not suspended", TrueSuspensions, book("QSrE", 0), true},
		{"nobody has asked", TrueSuspensions, book("QSzrE", 0), true},
		{"nothing was suspended", Suspended, book("QSE", 0), true},
	} {
		if faults := c.law.Judge(&c.e); (len(faults) > 0) != c.bad {
			t.Errorf("%s: %q", c.name, faults)
		}
	}
}
