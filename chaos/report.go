package chaos

import (
	"fmt"
	"strings"
	"time"

	"rampart/chaos/check"
)

// A Report is what came of a run.
type Report struct {
	Scenario Scenario
	Seed     uint64
	Begun    time.Time     // the load; times of the history count from here
	Took     time.Duration // in the time of the world
	Strikes  int           // faults that hit somebody
	Evidence *check.Evidence
	Verdict  check.Verdict
	Trouble  []string // what kept the run from its end, or a process from running
	blows    []check.Blow
}

// Good reports whether the run came to its end and every law holds.
func (r *Report) Good() bool { return len(r.Trouble) == 0 && r.Verdict.Good() }

// SaysNothing reports whether the run is inconclusive: nothing is wrong, but too little happened.
func (r *Report) SaysNothing() bool {
	return len(r.Trouble) == 0 && len(r.Verdict.Broken) == 0 && len(r.Verdict.Inconclusive) > 0
}

// Summary returns the run in one line.
func (r *Report) Summary() string {
	counts := make(map[string]int)
	for _, o := range r.Evidence.History {
		counts[o.Kind.String()+" "+o.Result.String()]++
	}
	return fmt.Sprintf("seed %d: %s, %d faults, %v, %d programs, %d views, %d snapshots taken up, %d fences fell",
		r.Seed, r.Took.Round(time.Millisecond), r.Strikes, counts, len(r.Evidence.Runs), len(r.Evidence.Views), r.Evidence.Restored, len(r.Evidence.Fences))
}

// String returns the report: the seed, what was planned, what struck, what is wrong,
// and the history.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n%s\n", r.Seed, r.Scenario)
	section(&b, "struck", r.Evidence.Struck)
	section(&b, "trouble", r.Trouble)
	section(&b, "broken", r.Verdict.Broken)
	section(&b, "inconclusive", r.Verdict.Inconclusive)
	var lines []string
	for _, o := range r.Evidence.History {
		lines = append(lines, o.String())
	}
	section(&b, "history", lines)
	lines = nil
	for _, run := range r.Evidence.Runs {
		lines = append(lines, run.String())
	}
	section(&b, "programs", lines)
	lines = nil
	for _, booking := range r.Evidence.Bookings {
		lines = append(lines, booking.String())
	}
	section(&b, "reservations", lines)
	return b.String()
}

func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n\t%s\n", title, strings.Join(lines, "\n\t"))
}
