package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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

// Figures are the figures of all jobs together.
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
