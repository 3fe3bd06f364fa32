package pbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/cli"
	"rampart/cli/render"
	"rampart/fsm/pbs"
)

const tracejobUsage = `usage: tracejob [-a|s|l|m|v] [-w size] [-p path] [-n days] [-f filter_type] [-c count] [-z] job_identifier...
   -p : path to PBS_HOME
   -w : number of columns of your terminal
   -n : number of days in the past to look for job(s) [default 1]
   -f : filter out types of log entries, multiple -f's can be specified
        error, system, admin, job, job_usage, security, sched, debug,
        debug2, resv, debug3, debug4, force, or
        absolute numeric hex equivalent
   -z : toggle filtering excessive messages
   -c : what message count is considered excessive
   -a : don't use accounting log files
   -s : don't use server log files
   -l : don't use scheduler log files
   -m : don't use mom log files
   -v : verbose mode - show more error messages
       tracejob --version
`

// excessive is how often a message may come before only its latest is shown.
const excessive = 15

func tracejob() *cli.Command {
	c := &cli.Command{
		Name: "tracejob", Summary: "show what this host's logs tell of jobs", Usage: tracejobUsage, UsageStatus: 2,
		Grammar: own("ac:f:lmn:p:svw:z"),
	}
	c.Run = func(_ context.Context, env *cli.Env, opts *cli.Options) error {
		t, fault := newTrace(env, opts)
		if len(fault) > 0 || len(opts.Operands) == 0 {
			return c.Misuse(fault...)
		}
		status := 0
		for _, job := range opts.Operands {
			if _, err := pbs.ParseJobID(job, "server"); err != nil {
				fmt.Fprintf(env.Stderr, "tracejob: %v\n", err)
				status = 1
				continue
			}
			if !t.job(job) {
				status = 1
			}
		}
		if status != 0 {
			return cli.Status(status)
		}
		return nil
	}
	return c
}

// A trace reads the logs of one PBS_HOME.
type trace struct {
	env     *cli.Env
	home    string
	days    int
	columns int // 0: lines are as long as they are
	count   int // 0: every message is shown
	skip    uint64
	verbose bool
	sources []traceSource
}

// A traceSource is one kind of log.
type traceSource struct{ letter, dir string }

func newTrace(env *cli.Env, opts *cli.Options) (t *trace, fault []string) {
	t = &trace{env: env, home: cmp.Or(opts.Last("p"), env.Target("").Home), days: 1, count: excessive, verbose: opts.Has("v")}
	for _, s := range []struct{ option, letter, dir string }{
		{"s", "S", "server_logs"},
		{"l", "L", "sched_logs"},
		{"m", "M", "mom_logs"},
		{"a", "A", filepath.Join("server_priv", "accounting")},
	} {
		if !opts.Has(s.option) {
			t.sources = append(t.sources, traceSource{s.letter, s.dir})
		}
	}
	for _, n := range []struct {
		option string
		value  *int
	}{{"n", &t.days}, {"c", &t.count}, {"w", &t.columns}} {
		if !opts.Has(n.option) {
			continue
		}
		v, ok := within(opts.Last(n.option), 1, 1<<20)
		if *n.value = v; !ok {
			return t, []string{"illegal -" + n.option + " value"}
		}
	}
	if opts.Has("z") {
		t.count = 0
	}
	for _, f := range opts.All("f") {
		bits, ok := pbs.LogEvents[strings.ToLower(f)]
		t.skip |= uint64(bits)
		if !ok {
			number, err := strconv.ParseUint(strings.TrimPrefix(f, "0x"), 16, 32)
			if err != nil {
				return t, []string{"illegal -f value"}
			}
			t.skip |= number
		}
	}
	return t, nil
}

// A message is one line of a log about the job.
type message struct {
	at     string // sortable: YYYYMMDD hh:mm:ss[.uuuuuu]
	shown  string // as it is in the log
	letter string
	job    string // whole identifier
	text   string
}

// job shows what the logs tell of a job, and reports whether there was anything.
func (t *trace) job(id string) bool {
	id, _, _ = strings.Cut(id, "@")
	all := t.collect(id)
	if len(all) == 0 {
		days := "days"
		if t.days == 1 {
			days = "day"
		}
		fmt.Fprintf(t.env.Stderr, "tracejob: Couldn't find Job Id %s in logs of past %d %s\n", id, t.days, days)
		return false
	}
	slices.SortStableFunc(all, func(a, b message) int { return strings.Compare(a.at, b.at) })
	t.write(all[0].job, t.once(all))
	return true
}

func (t *trace) collect(id string) []message {
	var all []message
	records, logs := t.today(true), t.today(false)
	for _, s := range t.sources {
		today := logs
		if s.letter == "A" {
			today = records
		}
		for back := t.days - 1; back >= 0; back-- {
			all = append(all, t.read(s, t.fileOf(s, today.AddDate(0, 0, -back)), id)...)
		}
	}
	return all
}

// fileOf returns what a daemon of this host has written in a day.
func (t *trace) fileOf(s traceSource, day time.Time) string {
	return filepath.Join(t.home, s.dir, day.Format("20060102"))
}

// today returns the day that the daemons write in, of accounting or of logs: theirs are the days of the
// server's zone, which the user's can be before or behind. It is that of the newest file.
func (t *trace) today(records bool) time.Time {
	here := t.env.Now().In(t.env.Zone)
	for _, day := range []time.Time{here.AddDate(0, 0, 1), here, here.AddDate(0, 0, -1)} {
		for _, s := range t.sources {
			if (s.letter == "A") == records && t.exists(t.fileOf(s, day)) {
				return day
			}
		}
	}
	return here
}

func (t *trace) exists(file string) bool {
	f, err := t.env.Open(file)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	return f.Close() == nil
}

// once leaves the latest of each message that came too often.
func (t *trace) once(all []message) []message {
	if t.count == 0 {
		return all
	}
	left, often := map[string]int{}, map[string]bool{}
	for _, m := range all {
		left[m.letter+m.text]++
		often[m.letter+m.text] = left[m.letter+m.text] >= t.count
	}
	return slices.DeleteFunc(all, func(m message) bool {
		key := m.letter + m.text
		left[key]--
		return often[key] && left[key] > 0
	})
}

// The widths of a moment without and with its fraction.
const (
	traceMoment     = 19
	traceMomentLong = 26
)

func (t *trace) write(id string, all []message) {
	width := traceMoment
	if slices.ContainsFunc(all, func(m message) bool { return len(m.shown) > traceMoment }) {
		width = traceMomentLong
	}
	fmt.Fprintf(t.env.Stdout, "\nJob: %s\n\n", id)
	for _, m := range all {
		head := fmt.Sprintf("%-*s  %s    ", width, m.shown, m.letter)
		io.WriteString(t.env.Stdout, head+t.folded(render.Printable(m.text), len(head))+"\n")
	}
}

// folded breaks a text so that lines keep to the columns of -w.
func (t *trace) folded(text string, indent int) string {
	room := t.columns - indent
	if t.columns == 0 || room < 10 {
		return text
	}
	var out strings.Builder
	for len(text) > room {
		n := strings.LastIndexByte(text[:room], ' ') + 1
		if n == 0 {
			n = room
		}
		out.WriteString(text[:n] + "\n" + strings.Repeat(" ", indent))
		text = text[n:]
	}
	return out.String() + text
}

// sortable turns MM/DD/YYYY hh:mm:ss[.uuuuuu] round.
func sortable(moment string) (string, bool) {
	if len(moment) < traceMoment {
		return "", false
	}
	if _, err := time.Parse("01/02/2006 15:04:05", moment[:traceMoment]); err != nil {
		return "", false
	}
	return moment[6:10] + moment[:5] + moment[10:], true
}
