package check

import (
	"bytes"
	"slices"
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
	padded := func(kinds string) Evidence {
		r := book(kinds)
		r.Ledger["20261122"] = bytes.ReplaceAll(r.Ledger["20261122"], []byte("user=ann"), []byte("Resource_List.select_reliable_startup=3:ncpus=1"))
		return Evidence{Replicas: []Replica{r}}
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

		{"a release that nothing struck", ReleasesStruck, Evidence{History: History{{Kind: ReleaseNodes, Result: Done, Start: 1, End: 5}}, Blows: []Blow{{0, 2}, {3, 6}}}, true},
		{"one that was struck", ReleasesStruck, Evidence{History: History{{Kind: ReleaseNodes, Result: Done, Start: 1, End: 5}}, Blows: []Blow{{2, 3}}}, false},
		{"to keep all", TruePhases, Evidence{Replicas: []Replica{book("QSE")}, History: History{{Kind: ReleaseNodes, Job: "1.srv", Result: Done, Value: "-k 1"}}}, false},

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
		{"a pruning that nobody has asked for from outside", TruePhases, Evidence{Replicas: []Replica{book("QSsucseE")}}, false},
		{"a pruning, and a release that nobody has asked for", TruePhases, Evidence{Replicas: []Replica{book("QSsucsuceE")}}, true},
		{"a run that was pruned", Pruned, Evidence{Replicas: []Replica{book("QSsucseE")}}, false},
		{"a run that was not", Pruned, Evidence{Replicas: []Replica{book("QSsE")}}, true},
		{"a pruned run without its program", OneRunEach, Evidence{Replicas: []Replica{book("QSsucsRSsE")}, Runs: []Run{{Job: "1.srv", Count: 2, End: 1}}}, false},
		{"a run without its program", OneRunEach, Evidence{Replicas: []Replica{book("QSRSE")}, Runs: []Run{{Job: "1.srv", Count: 2, End: 1}}}, true},
		{"a padded start without its record", PaddedRecords, padded("QSE"), true},
		{"and with it", PaddedRecords, padded("QSsE"), false},
		{"a last phase too much", TruePhases, Evidence{Replicas: []Replica{book("QSeE")}}, true},
	} {
		if faults := c.law.Judge(&c.e); (len(faults) > 0) != c.bad {
			t.Errorf("%s: %q", c.name, faults)
		}
	}
}

// What must not be in the records of a run that has released vnodes.
func TestPhasesFit_Rejects(t *testing.T) {
	const all, one, two = "(a:ncpus=1)+(b:ncpus=1)+(c:ncpus=1)", "(a:ncpus=1)", "(a:ncpus=1)+(b:ncpus=1)"
	rec := func(kind, vnodes, used string) string {
		line := "11/22/2026 10:00:00;" + kind + ";1.srv;user=ann exec_host=h exec_vnode=" + vnodes
		if used != "" {
			line += " resources_used.cput=00:00:00 resources_used.walltime=" + used
		}
		return line + "\n"
	}
	good := []string{
		rec("S", all, ""), rec("u", all, "00:00:10"), rec("c", two, ""), rec("u", two, "00:00:05"), rec("c", one, ""),
		rec("e", one, "00:00:01"), rec("E", all, "00:00:16"),
	}
	for name, test := range map[string]struct {
		at   int
		line string
		bad  string
	}{
		"good":                  {0, good[0], ""},
		"u of another phase":    {3, rec("u", all, "00:00:05"), "than the phase began with"},
		"c with more":           {4, rec("c", "(a:ncpus=1)+(d:ncpus=1)", ""), "more than was left"},
		"e of another phase":    {5, rec("e", two, "00:00:01"), "than the phase began with"},
		"E of the last phase":   {6, rec("E", one, "00:00:16"), "than the run began with"},
		"time that nobody used": {6, rec("E", all, "00:00:17"), "have used 16 s of walltime"},
	} {
		lines := slices.Clone(good)
		lines[test.at] = test.line
		e := Evidence{Replicas: []Replica{{Name: "s1", Ledger: map[string][]byte{"20261122": []byte(strings.Join(lines, ""))}}}}
		if faults := PhasesFit.Judge(&e); (len(faults) > 0) != (test.bad != "") || !strings.Contains(strings.Join(faults, ""), test.bad) {
			t.Errorf("%s: %q", name, faults)
		}
	}
}
