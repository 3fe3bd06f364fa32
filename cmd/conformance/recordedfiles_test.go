package conformance

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// filesOf are the recorded commands that show files as a whole, and how ours are shown: each
// line of the recording has its counterpart in the same order among the lines of its object,
// the job as a rule; we may say more. In tracejob the daemons stand for the objects: within a
// second they are not in order.
var filesOf = map[string]string{
	"tracejob 5.hosta": "tracejob 5.hosta; tracejob -p $PBS_HOME/../hosta 5.hosta",
	"cat /var/spool/pbs/server_priv/accounting/$(date +%Y%m%d) | tail -20": "cat $PBS_HOME/server_priv/accounting/*",
	"tail -25 /var/spool/pbs/server_logs/$(date +%Y%m%d)":                  "cat $PBS_HOME/server_logs/*",
	"tail -15 /var/spool/pbs/mom_logs/$(date +%Y%m%d)":                     "cat $PBS_HOME/../hosta/mom_logs/*",
	"tail -15 /var/spool/pbs/sched_logs/$(date +%Y%m%d)":                   "cat $PBS_HOME/../s?/sched_logs/*",
}

type internal struct {
	line   *regexp.Regexp
	reason string
}

// internals are lines that PBS alone writes, and why we do not.
var internals = []internal{
	{regexp.MustCompile(`;Type \d+ request received from `), "requests of PBS's own protocol"},
	{regexp.MustCompile(`;Scheduler sent command \d+$`), "the scheduler is no process of its own"},
	{regexp.MustCompile(`;kill_job$`), "the mom kills a job that has ended once more when it is deleted; the line of its end is before the tail"},
	{regexp.MustCompile(`^STAMP  M    host[abc] cput=`), "usage by host, which the ledger has"},
}

// fileMaskings are the maskings of lines in files.
var fileMaskings = []masking{
	{regexp.MustCompile(`(pid = |session=)\d+`), "${1}N"},
	{regexp.MustCompile(`(Obit received) momhop:\d+ serverhop:\d+ state:R substate:\d+`), "$1"}, // hops of PBS's protocol
	{regexp.MustCompile(`(Exit_status=)26[56]`), "${1}SIGNAL"},                                  // another one ends that job here
	{regexp.MustCompile(`(?m) +$`), ""},
	// Records have the fields that accounting.md names: a Q has no request, an array its indices.
	{regexp.MustCompile(`(?m)^(STAMP(?:;Q;[^;]*;|  A    )user=.*? etime=\S+(?: depend=\S+)?) Resource_List\..*$`), "$1"},
	{regexp.MustCompile(`(?m) array_indices=\S+`), ""},
	{regexp.MustCompile(`(?m)^(STAMP;E;.*) depend=before\S+`), "$1"}, // PBS ends who waits for it first
}

// staging are lines about files: they stay in order, but ours are moved before the end is told.
var staging = regexp.MustCompile(`copy file request received$|Staged \d+/\d+ items`)

// objectOf returns what a line is about, and false for what is no line of a log.
func objectOf(line string) (object string, ok bool) {
	defer func() {
		if staging.MatchString(line) {
			object += " files"
		}
	}()
	if m := traced.FindStringSubmatch(line); m != nil {
		return m[1], true
	}
	fields := strings.SplitN(line, ";", 6)
	switch {
	case len(fields) == 4: // accounting
		return fields[2], true
	case len(fields) == 6:
		return fields[4], true
	}
	return "", false
}

var traced = regexp.MustCompile(`^STAMP +([SLMA])    `)

// withoutCounterpart returns the lines of a recording that are not among ours. A line that
// comes again because a cycle or a check was repeated need not.
func withoutCounterpart(want, got string, skip func(line string) bool) []string {
	ours := map[string][]string{}
	for line := range strings.SplitSeq(got, "\n") {
		if object, ok := objectOf(line); ok {
			ours[object] = append(ours[object], line)
		}
	}
	var missing []string
	seen := map[string]bool{}
	for line := range strings.SplitSeq(want, "\n") {
		object, ok := objectOf(line)
		if !ok || seen[line] || skip(line) {
			continue
		}
		seen[line] = true
		if at := slices.Index(ours[object], line); at >= 0 {
			ours[object] = ours[object][at+1:]
			continue
		}
		missing = append(missing, line)
	}
	return missing
}

// compareFile waits until our file has all that the recorded one has.
func (r *recording) compareFile(b block) {
	want := inFiles(r.mask(b.output))
	skip := func(line string) bool {
		return slices.ContainsFunc(internals, func(in internal) bool { return in.line.MatchString(line) })
	}
	for began := time.Now(); ; poll(began) {
		got := inFiles(r.mask(r.named(r.theirs(r.run(r.ourNumbers(filesOf[b.command]))))))
		missing := withoutCounterpart(want, got, skip)
		if len(missing) == 0 {
			return
		}
		if time.Since(began) > patience {
			r.t.Errorf("$ %s\nnot among ours:\n%s\nours:\n%s", b.command, strings.Join(missing, "\n"), got)
			return
		}
	}
}

func inFiles(text string) string {
	for _, m := range fileMaskings {
		text = m.of.ReplaceAllString(text, m.by)
	}
	return text
}

// What is listed as PBS's own is in the recording, or the list is old.
func TestRecorded_InternalsAreOfTheRecording(t *testing.T) {
	var lines []string
	for _, b := range blocks(t, "testdata/recorded/everyday.txt") {
		if filesOf[b.command] != "" {
			lines = append(lines, strings.Split((&recording{t: t}).mask(b.output), "\n")...)
		}
	}
	for _, in := range internals {
		if !slices.ContainsFunc(lines, in.line.MatchString) {
			t.Errorf("%s is not recorded (%s)", in.line, in.reason)
		}
	}
}
