package check

import (
	"strings"
	"testing"
	"time"
)

// What must not be of released hosts.
func TestReleased_Rejects(t *testing.T) {
	book := func(kinds string) Replica {
		var b strings.Builder
		for _, k := range strings.Split(kinds, "") {
			b.WriteString("11/22/2026 10:00:00;" + k + ";1.srv;user=ann\n")
		}
		return Replica{Name: "s1", Ledger: map[string][]byte{"20261122": []byte(b.String())}}
	}
	release := func(result Outcome) Op { return Op{Kind: ReleaseNodes, Job: "1.srv", Result: result} }
	part := Run{Job: "1.srv", Count: 1, Host: "hostb", Start: time.Second, End: 3 * time.Second, Part: true}
	vacated := func(at time.Duration) []Vacated { return []Vacated{{Job: "1.srv", Count: 1, Host: "hostb", At: at}} }
	for _, c := range []struct {
		name string
		law  Law
		e    Evidence
		bad  bool
	}{
		{"the program has ended", HeldUntilLeft, Evidence{Runs: []Run{part}, Vacated: vacated(3 * time.Second)}, false},
		{"the program lives", HeldUntilLeft, Evidence{Runs: []Run{part}, Vacated: vacated(2 * time.Second)}, true},
		{"one was started later", HeldUntilLeft, Evidence{Runs: []Run{part}, Vacated: vacated(0)}, true},
		{"one of another run", HeldUntilLeft, Evidence{Runs: []Run{{Job: "1.srv", Count: 2, Host: "hostb", End: Never}}, Vacated: vacated(0)}, false},

		{"two phases", TruePhases, Evidence{Replicas: []Replica{book("QSuceE")}, History: History{release(Done)}}, false},
		{"a release that nobody knows of", TruePhases, Evidence{Replicas: []Replica{book("QSE")}, History: History{release(Unknown)}}, false},
		{"such a one that was made", TruePhases, Evidence{Replicas: []Replica{book("QSuceE")}, History: History{release(Unknown)}}, false},
		{"a run that was sent back", TruePhases, Evidence{Replicas: []Replica{book("QSucRSE")}, History: History{release(Done)}}, false},
		{"no release", TruePhases, Evidence{Replicas: []Replica{book("QSE")}}, false},
		{"one was acknowledged", TruePhases, Evidence{Replicas: []Replica{book("QSE")}, History: History{release(Done)}}, true},
		{"nobody has asked", TruePhases, Evidence{Replicas: []Replica{book("QSuceE")}}, true},
		{"a refused one", TruePhases, Evidence{Replicas: []Replica{book("QSuceE")}, History: History{release(Refused)}}, true},
		{"no new phase", TruePhases, Evidence{Replicas: []Replica{book("QSueE")}, History: History{release(Done)}}, true},
		{"no last phase", TruePhases, Evidence{Replicas: []Replica{book("QSucE")}, History: History{release(Done)}}, true},
		{"a last phase too much", TruePhases, Evidence{Replicas: []Replica{book("QSeE")}}, true},
	} {
		if faults := c.law.Judge(&c.e); (len(faults) > 0) != c.bad {
			t.Errorf("%s: %q", c.name, faults)
		}
	}
}
