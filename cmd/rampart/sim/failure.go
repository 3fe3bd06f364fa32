package sim

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	conf "rampart/cmd/rampart/home"
)

// A Failure is a line that did not do what it says.
type Failure struct {
	File string
	Line int
	Text string // the line

	Wanted, Got string // empty if Err says it
	Err         error

	At    time.Time     // virtual time
	After time.Duration // since the clock of the file
	Log   []string      // lines of the daemons' logs of that moment, each with its host
}

// Unwrap returns why, if it was none of the scenario's own expectations.
func (f *Failure) Unwrap() error { return f.Err }

// Error tells all there is to know, the place first.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: %s\n", f.File, f.Line, f.Text)
	if f.Err != nil {
		fmt.Fprintf(&b, "  %v\n", f.Err)
	} else {
		fmt.Fprintf(&b, "  wanted: %s\n  got: %s", f.Wanted, strings.TrimLeft(indent(f.Got), "\t"))
		if !strings.HasSuffix(b.String(), "\n") {
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, "  time: %s, %s after the beginning\n", f.At.Format(moment+" MST"), f.After.Truncate(time.Second))
	if len(f.Log) > 0 {
		fmt.Fprintf(&b, "  log:\n%s", indent(strings.Join(f.Log, "\n")))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// indent moves the lines of a text to the right.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("\t" + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// explain makes the error of a line a Failure.
func (r *run) explain(st step, err error) error {
	f := &Failure{File: r.s.file, Line: st.line, Text: st.text, At: r.now(), After: time.Since(r.s.begin)}
	if wrong, ok := errors.AsType[*failure](err); ok {
		f.Wanted, f.Got = wrong.wanted, wrong.got
	} else {
		f.Err = err
	}
	if errors.Is(err, ErrInterrupted) {
		return f
	}
	f.Log = r.moment()
	return f
}

// unstarted says why there is no cluster to play with: what ended, and the last that the daemons have logged.
func (r *run) unstarted(err error) error {
	if r.world == nil {
		return fmt.Errorf("%s: start the cluster: %w", r.s.file, err)
	}
	text := strings.Join(append([]string{err.Error()}, r.world.Fatal()...), "\n  ")
	if log := r.moment(); len(log) > 0 {
		text += "\n  log:\n" + strings.TrimSuffix(indent(strings.Join(log, "\n")), "\n")
	}
	return fmt.Errorf("%s: start the cluster: %s", r.s.file, text)
}

// mostLines is how many lines of logs a Failure shows.
const mostLines = 20

// moment returns the last lines of the logs since time was moved on.
func (r *run) moment() []string {
	since := r.since.Truncate(time.Second)
	var lines []line
	for _, kind := range []string{"server", "sched", "mom"} {
		all, _ := r.logLines(kind, "") // what cannot be read is not shown
		lines = append(lines, all...)
	}
	lines = slices.DeleteFunc(lines, func(l line) bool { return l.at.Before(since) })
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	var texts []string
	for _, l := range lines[max(0, len(lines)-mostLines):] {
		texts = append(texts, l.host+" "+r.files.shown(l.text))
	}
	return texts
}

// A line is one of a daemon's log.
type line struct {
	host, text string
	at         time.Time
}

// logs makes the lines of one kind of logs the standard output.
func (r *run) logs(_ step, words []string) error {
	host := ""
	if len(words) > 1 {
		host = words[1]
	}
	lines, err := r.logLines(words[0], host)
	if err != nil {
		return err
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	r.stdout, r.stderr, r.last = "", "", strings.Join(append([]string{"logs"}, words...), " ")
	for _, l := range lines {
		r.stdout += l.host + " " + r.files.shown(l.text) + "\n"
	}
	r.show()
	return nil
}

// logLines reads one kind of logs, of one host or of all. The server's log is the same on each replica: that of
// the leader is taken.
func (r *run) logLines(kind, host string) ([]line, error) {
	hosts, folder := r.world.Replicas(), conf.Home.ServerLogs
	switch kind {
	case "server":
		if host == "" {
			hosts = []string{cmp.Or(r.world.Leader(), hosts[0])}
		}
	case "sched":
		folder = conf.Home.SchedLogs
	case "mom":
		folder, hosts = conf.Home.MomLogs, nil
		for _, m := range r.s.hosts {
			hosts = append(hosts, m.Name)
		}
	default:
		return nil, fmt.Errorf("usage: %s", verbs["logs"].usage)
	}
	if host != "" && !slices.Contains(hosts, host) {
		return nil, fmt.Errorf("%s has no logs of that kind", host)
	}
	var lines []line
	for _, h := range hosts {
		if host != "" && h != host {
			continue
		}
		files, err := filepath.Glob(filepath.Join(folder(conf.Home(r.world.Home(h))), "[0-9]*"))
		if err != nil {
			return nil, err
		}
		slices.Sort(files)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for text := range bytes.Lines(data) {
				l := line{host: h, text: strings.TrimSuffix(string(text), "\n")}
				l.at, _ = time.ParseInLocation("01/02/2006 15:04:05", field(l.text, 0), r.s.begin.Location())
				lines = append(lines, l)
			}
		}
	}
	return lines, nil
}

// accounting returns where a home has its accounting files.
func accounting(home string) string { return conf.Home(home).Accounting() }

// difference shows what two texts do not have in common: lines that are wanted, and lines that came instead.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	begin := 0
	for begin < len(a) && begin < len(b) && a[begin] == b[begin] {
		begin++
	}
	end := 0
	for end < len(a)-begin && end < len(b)-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	text := fmt.Sprintf("from line %d on (- wanted, + got)\n", begin+1)
	for _, l := range a[begin : len(a)-end] {
		text += "- " + l + "\n"
	}
	for _, l := range b[begin : len(b)-end] {
		text += "+ " + l + "\n"
	}
	return text
}
