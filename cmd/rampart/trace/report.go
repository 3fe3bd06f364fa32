package trace

import (
	"cmp"
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
	"rampart/cluster/sched"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A Report says what came of a workload. Times are in seconds.
type Report struct {
	Site    string    `json:"site,omitempty"`
	Begin   time.Time `json:"begin"`
	End     time.Time `json:"end"`
	Vnodes  int       `json:"vnodes"`
	CPUs    int64     `json:"cpus"`
	Figures Figures   `json:"figures"`

	All    Class   `json:"all"`
	Queues []Class `json:"queues"`
	Sizes  []Class `json:"sizes"`
	Users  []User  `json:"users"`

	Left      []string       `json:"left,omitempty"` // jobs that never started, the first of them, and why
	NoQueue   map[string]int `json:"unknown_queues,omitempty"`
	SiteLines []Trouble      `json:"site_lines"` // of the site that were not taken
	Troubles  Troubles       `json:"trace_lines"`
	Line      []Point        `json:"line"`

	stretch *stretch
	index   uint64
}

// Figures are those of the whole.
type Figures struct {
	Jobs        int            `json:"jobs"`
	Finished    int            `json:"finished"`
	Left        int            `json:"left"` // in the queue, at the end
	Refused     int            `json:"refused"`
	Limited     int            `json:"over_walltime"` // ended by their walltime
	Utilisation float64        `json:"utilisation"`   // of the cpus, from the first submission to the last end: 0 to 1
	Throughput  float64        `json:"jobs_per_hour"`
	Backfilled  int            `json:"backfilled"`
	Preempted   int            `json:"preempted"`
	Methods     map[string]int `json:"preempted_by"`
	Requeued    int            `json:"requeued"`
	Lost        float64        `json:"lost_cpu_hours"`
	Unfairness  float64        `json:"unfairness"` // how much of the use would have to be others' to be as the shares are: 0 to 1
	Cycles      int            `json:"cycles"`
}

// A Class says how jobs of a kind fared.
type Class struct {
	Name     string  `json:"name"`
	Jobs     int     `json:"jobs"`
	CPUHours float64 `json:"cpu_hours"`
	Wait     Spread  `json:"wait"`
	Slowdown Spread  `json:"bounded_slowdown"`
}

// A Spread is where values lie.
type Spread struct {
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Max    float64 `json:"max"`
}

// A User says what somebody had, and what was due.
type User struct {
	Name  string  `json:"name"`
	Jobs  int     `json:"jobs"`
	Use   float64 `json:"use"`   // of all that was used: 0 to 1
	Share float64 `json:"share"` // of the tree of fair share, or the same for all: 0 to 1
	Wait  Spread  `json:"wait"`
}

// A Point is the mean of a step of time.
type Point struct {
	At          time.Time `json:"at"`
	Utilisation float64   `json:"utilisation"`
	Queued      float64   `json:"queued"`
	QueuedCPUs  float64   `json:"queued_cpus"`
}

func spread(h *histogram) Spread {
	return Spread{Mean: h.mean(), Median: h.at(0.5), P95: h.at(0.95), Max: h.max}
}

func (c *class) report(name string) Class {
	return Class{Name: name, Jobs: c.jobs, CPUHours: c.cpus / 3600, Wait: spread(&c.wait), Slowdown: spread(&c.slowdown)}
}

// report says what came of the workload.
func (e *engine) report(s *site) *Report {
	t := e.tally
	end := max(t.lastEnd, t.begin)
	r := &Report{
		Site: s.dir, Begin: moment(t.begin), End: moment(end), Vnodes: e.shape.vnodes, CPUs: t.capacity, All: t.all.report("all"),
		NoQueue: t.noQueue, SiteLines: s.faults, Troubles: *e.troubles, stretch: t.stretch, index: e.index,
	}
	f := &r.Figures
	*f = Figures{
		Jobs: t.submitted, Finished: t.finished, Left: len(e.lives), Refused: t.refused, Limited: t.limited, Backfilled: t.fills,
		Methods: t.preempts, Requeued: t.requeued, Lost: t.lost / 3600, Cycles: t.cycles,
	}
	for _, n := range t.preempts {
		f.Preempted += n
	}
	if hours := hours(t.begin, end); hours > 0 && t.capacity > 0 {
		f.Throughput = float64(t.finished) / hours
		f.Utilisation = t.load / 3600 / (hours * float64(t.capacity))
	}
	for _, name := range sorted(t.queues) {
		r.Queues = append(r.Queues, t.queues[name].report(name))
	}
	for _, name := range sorted(t.sizes) {
		r.Sizes = append(r.Sizes, t.sizes[name].report(name))
	}
	e.fairness(r)
	r.Left = e.leftOver()
	r.Line = t.line.points(end, t.capacity)
	return r
}

func moment(at pbs.Time) time.Time { return time.Unix(0, int64(at)).UTC() }

func hours(from, to pbs.Time) float64 { return float64(to-from) / float64(time.Hour) }

// fairness compares what users had with what was due to them: by the tree of fair share, where the site has one, and else the
// same for all.
func (e *engine) fairness(r *Report) {
	shares := map[string]float64{}
	if e.view().Server().FairShare() {
		for _, n := range sched.ShareTree(e.view()) {
			shares[n.Name] = n.Part
		}
	}
	used, due := 0.0, 0.0
	share := func(name string) float64 {
		if len(shares) == 0 {
			return 1
		}
		return shares[name]
	}
	for name, u := range e.tally.users {
		used, due = used+u.cpus, due+share(name)
	}
	for name, u := range e.tally.users {
		one := User{Name: name, Jobs: u.jobs, Wait: spread(&u.wait)}
		if used > 0 {
			one.Use = u.cpus / used
		}
		if due > 0 {
			one.Share = share(name) / due
		}
		r.Users = append(r.Users, one)
	}
	slices.SortFunc(r.Users, func(a, b User) int { return cmp.Or(cmp.Compare(b.Use, a.Use), strings.Compare(a.Name, b.Name)) })
	for _, u := range r.Users {
		r.Figures.Unfairness += math.Abs(u.Use-u.Share) / 2
	}
}

// mostLeft is how many jobs are named that never started.
const mostLeft = 20

// leftOver says why jobs are still there.
func (e *engine) leftOver() []string {
	var all []*life
	for _, l := range e.lives {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *life) int {
		return cmp.Or(cmp.Compare(a.since, b.since), strings.Compare(string(a.id), string(b.id)))
	})
	var texts []string
	for _, l := range all[:min(len(all), mostLeft)] {
		text := fmt.Sprintf("%s:%d: job %s", l.job.File, l.job.Line, l.job.Name)
		if j, ok := e.view().Job(l.id); ok {
			text += ": " + reasonOf(j)
		}
		texts = append(texts, text)
	}
	return texts
}

// reasonOf says why a job has not started.
func reasonOf(j *state.Job) string { return cmp.Or(j.CommentText(), "its state is "+j.State.Letter()) }

// points returns the line, up to an end.
func (l *line) points(end pbs.Time, capacity int64) []Point {
	var all []Point
	for i, p := range l.point {
		at := l.from + pbs.Time(i)*l.step
		if at >= end {
			break
		}
		d := float64(min(l.step, end-at))
		all = append(all, Point{At: moment(at), Utilisation: p.busy / d / float64(max(1, capacity)), Queued: p.waits / d, QueuedCPUs: p.asked / d})
	}
	return all
}

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
	r.warnings(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// shownUsers and shownLines bound what the text lists; JSON has all.
const (
	shownUsers = 10
	shownLines = 10
)

// warnings lists what was not taken as it stands.
func (r *Report) warnings(b *strings.Builder) {
	list := func(title string, lines []string, all int) {
		if all == 0 {
			return
		}
		fmt.Fprintf(b, "\n%s\n", title)
		for _, text := range lines[:min(len(lines), shownLines)] {
			fmt.Fprintf(b, "  %s\n", terminal.Printable(text))
		}
		if n := all - min(len(lines), shownLines); n > 0 {
			fmt.Fprintf(b, "  and %d others\n", n)
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

// Row is a line of CSV. Times are in seconds since the epoch, to the thousandth.
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
