package trace

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/cli/terminal"
	"rampart/fsm/pbs"
)

// Text writes the report for people.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	f := r.Figures
	fmt.Fprintf(&b, "%s to %s, %d vnodes with %d cpus\n", r.Begin.Format(time.DateTime), r.End.Format(time.DateTime), r.Vnodes, r.CPUs)
	fmt.Fprintf(&b, "%d jobs, %d finished, %d left, %d refused, %d ended by their walltime\n", f.Jobs, f.Finished, f.Left, f.Refused, f.Limited)
	fmt.Fprintf(&b, "utilisation %.1f %%, %.1f jobs per hour, %d backfilled, %d preempted%s, %d requeued (%.1f cpu hours lost)\n",
		100*f.Utilisation, f.Throughput, f.Backfilled, f.Preempted, methods(f.Methods), f.Requeued, f.Lost)
	fmt.Fprintf(&b, "unfairness %.1f %% (of the use would have to be others' to be as the shares are)\n\n", 100*f.Unfairness)
	fmt.Fprintf(&b, "%-16s %8s %11s  %-29s  %s\n", "", "", "", "wait", "bounded slowdown")
	fmt.Fprintf(&b, "%-16s %8s %11s  %9s %9s %9s  %8s %8s %8s\n", "class", "jobs", "cpu hours", "median", "95 %", "max", "median", "95 %", "max")
	one := func(kind string, c Class) {
		fmt.Fprintf(&b, "%-16s %8d %11.1f  %9s %9s %9s  %8s %8s %8s\n", terminal.Short(kind+terminal.Printable(c.Name), 16), c.Jobs, c.CPUHours,
			span(c.Wait.Median), span(c.Wait.P95), span(c.Wait.Max), times(c.Slowdown.Median), times(c.Slowdown.P95), times(c.Slowdown.Max))
	}
	one("", r.All)
	for _, c := range r.Queues {
		one("queue ", c)
	}
	for _, c := range r.Sizes {
		one("cpus ", c)
	}
	if len(r.Users) > 0 {
		fmt.Fprintf(&b, "\n%-16s %8s %8s %8s  %9s %9s\n", "user", "jobs", "use", "share", "median", "95 %")
		for _, u := range r.Users[:min(len(r.Users), shownUsers)] {
			fmt.Fprintf(&b, "%-16s %8d %7.1f%% %7.1f%%  %9s %9s\n", terminal.Short(terminal.Printable(u.Name), 16), u.Jobs, 100*u.Use, 100*u.Share, span(u.Wait.Median), span(u.Wait.P95))
		}
		if n := len(r.Users) - shownUsers; n > 0 {
			fmt.Fprintf(&b, "and %d others\n", n)
		}
	}
	b.WriteString(r.Warnings())
	_, err := io.WriteString(w, b.String())
	return err
}

// shownUsers and shownLines bound what the text lists; JSON has all.
const (
	shownUsers = 10
	shownLines = 10
)

// Warnings lists what was not taken as it stands, as Text does; empty: everything was.
func (r *Report) Warnings() string {
	var b strings.Builder
	list := func(title string, lines []string, all int) {
		if all == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s\n", title)
		for _, text := range lines[:min(len(lines), shownLines)] {
			fmt.Fprintf(&b, "  %s\n", terminal.Printable(text))
		}
		if n := all - min(len(lines), shownLines); n > 0 {
			fmt.Fprintf(&b, "  and %d others\n", n)
		}
	}
	var lines []string
	for _, t := range r.SiteLines {
		lines = append(lines, t.String())
	}
	list(fmt.Sprintf("%d lines of the site were not taken:", len(lines)), lines, len(lines))
	lines = nil
	for _, name := range slices.Sorted(maps.Keys(r.NoQueue)) {
		lines = append(lines, fmt.Sprintf("%s: %d jobs", name, r.NoQueue[name]))
	}
	list("queues that the site does not have, whose jobs went to the default queue:", lines, len(lines))
	lines = nil
	for _, t := range r.Troubles.List {
		lines = append(lines, t.String())
	}
	if n := r.Troubles.Skipped + r.Troubles.Amended; n > 0 {
		var kinds []string
		for _, k := range r.Troubles.kinds() {
			kinds = append(kinds, fmt.Sprintf("%s: %d", k, r.Troubles.Kinds[k]))
		}
		list(fmt.Sprintf("%d lines of the trace were skipped, %d taken with an assumption (%s):", r.Troubles.Skipped, r.Troubles.Amended, strings.Join(kinds, "; ")), lines, n)
	}
	list(fmt.Sprintf("%d jobs were left in the queue:", r.Figures.Left), r.Left, r.Figures.Left)
	return b.String()
}

func methods(m map[string]int) string {
	words := map[string]string{"S": "suspended", "C": "checkpointed", "R": "requeued", "D": "deleted"}
	var all []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, fmt.Sprintf("%d %s", m[k], words[k]))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// span writes seconds as [D+]H:MM:SS.
func span(seconds float64) string {
	n := int64(math.Round(seconds))
	text := fmt.Sprintf("%d:%02d:%02d", n/3600%24, n/60%60, n%60)
	if days := n / 86400; days > 0 {
		text = fmt.Sprintf("%d+%02d:%02d:%02d", days, n/3600%24, n/60%60, n%60)
	}
	return text
}

func times(x float64) string {
	if x >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// A figure is a figure of a class.
type figure struct {
	class, name string
	value       float64
}

// figures returns all figures, in their order.
func (r *Report) figures() []figure {
	f := r.Figures
	all := []figure{
		{"", "jobs", float64(f.Jobs)},
		{"", "finished", float64(f.Finished)},
		{"", "left", float64(f.Left)},
		{"", "refused", float64(f.Refused)},
		{"", "over_walltime", float64(f.Limited)},
		{"", "utilisation", f.Utilisation},
		{"", "jobs_per_hour", f.Throughput},
		{"", "backfilled", float64(f.Backfilled)},
		{"", "preempted", float64(f.Preempted)},
		{"", "requeued", float64(f.Requeued)},
		{"", "lost_cpu_hours", f.Lost},
		{"", "unfairness", f.Unfairness},
	}
	add := func(kind string, c Class) {
		name := kind + c.Name
		all = append(all, figure{name, "jobs", float64(c.Jobs)}, figure{name, "cpu_hours", c.CPUHours})
		for _, s := range []struct {
			name string
			Spread
		}{{"wait", c.Wait}, {"bounded_slowdown", c.Slowdown}} {
			all = append(all, figure{name, s.name + "_mean", s.Mean}, figure{name, s.name + "_median", s.Median}, figure{name, s.name + "_p95", s.P95}, figure{name, s.name + "_max", s.Max})
		}
	}
	add("", r.All)
	for _, c := range r.Queues {
		add("queue ", c)
	}
	for _, c := range r.Sizes {
		add("cpus ", c)
	}
	for _, u := range r.Users {
		all = append(all, figure{"user " + u.Name, "jobs", float64(u.Jobs)}, figure{"user " + u.Name, "use", u.Use}, figure{"user " + u.Name, "share", u.Share})
	}
	return all
}

// CSV writes the figures as a table with the columns class, figure and value.
func (r *Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"class", "figure", "value"}}
	for _, f := range r.figures() {
		rows = append(rows, []string{f.class, f.name, number(f.value)})
	}
	return c.WriteAll(rows)
}

func number(x float64) string { return strconv.FormatFloat(math.Round(x*1e6)/1e6, 'f', -1, 64) }

// EachHeader names the columns of Result.Row.
var EachHeader = []string{
	"job", "file", "line", "user", "queue", "cpus", "submit", "start", "end", "wait", "runs", "exit_status", "backfilled", "preempted", "recorded_start",
}

// Row returns a line of CSV. Times are in seconds since the epoch, to the thousandth.
func (r Result) Row() []string {
	seconds := func(at pbs.Time) string {
		if at == 0 {
			return ""
		}
		return strconv.FormatFloat(float64(at)/1e9, 'f', 3, 64)
	}
	j := r.Job
	return []string{
		j.Name, j.File, strconv.Itoa(j.Line), j.User, r.Queue, strconv.FormatInt(r.CPUs, 10), seconds(j.Submit), seconds(r.Start), seconds(r.End),
		number(r.Wait.Seconds()), number(j.Runs.Seconds()), strconv.Itoa(int(r.Exit)), strconv.FormatBool(r.Fills), strconv.Itoa(r.Times), seconds(j.Began),
	}
}
