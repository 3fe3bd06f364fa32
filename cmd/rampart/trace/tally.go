package trace

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A tally counts what becomes of a workload.
type tally struct {
	submitted, refused, finished, limited, fills int
	cycles, idle                                 int
	preempts                                     map[string]int // by method
	noQueue                                      map[string]int // queues that the workload names and the site has not
	requeued                                     int
	lost                                         float64 // cpu seconds of runs that began anew

	begin, end  pbs.Time // of the first submission, and of the last thing that happened
	lastEnd     pbs.Time
	busy, waits int64 // cpus; jobs
	asked       int64 // cpus of jobs that wait
	capacity    int64
	load        float64 // cpu seconds in use
	moved       pbs.Time
	line        line
	all         *class
	queues      map[string]*class
	sizes       map[string]*class
	users       map[string]*user
	each        func(Result) // of each job that is over; nil: nobody asks
	stretch     *stretch
}

// A class are the jobs of a queue, or of a size.
type class struct {
	jobs     int
	cpus     float64 // seconds
	wait     histogram
	slowdown histogram
}

// A user is whoever jobs are of.
type user struct {
	jobs int
	cpus float64 // seconds
	wait histogram
}

// A Result is what became of a job.
type Result struct {
	Job   *Job
	Queue string
	CPUs  int64
	Start pbs.Time // the first
	End   pbs.Time
	Wait  time.Duration
	Exit  int32
	Fills bool
	Times int // it was preempted
}

func newTally(capacity int64, at pbs.Time) *tally {
	return &tally{
		preempts: map[string]int{}, noQueue: map[string]int{}, begin: at, end: at, moved: at, capacity: capacity, all: &class{},
		queues: map[string]*class{}, sizes: map[string]*class{}, users: map[string]*user{}, line: newLine(at),
	}
}

// sizeOf names the class of jobs of so many cpus: of one, 2 to 4, 5 to 16, and so on.
func sizeOf(cpus int64) string {
	if cpus <= 1 {
		return "1"
	}
	most := int64(4)
	for most < cpus && most < 1<<40 {
		most *= 4
	}
	return strconv.FormatInt(most/4+1, 10) + "-" + strconv.FormatInt(most, 10)
}

// pass lets time go on to then.
func (t *tally) pass(at pbs.Time) {
	if at <= t.moved {
		return
	}
	t.load += float64(t.busy) * float64(at-t.moved) / 1e9
	t.line.add(t.moved, at, float64(t.busy), float64(t.waits), float64(t.asked))
	t.moved, t.end = at, at
}

func (t *tally) queued(l *life, j *state.Job, at pbs.Time) {
	t.pass(at)
	t.waits++
	t.asked += l.cpus
}

// event notes an event of a job; true: it is over.
func (t *tally) event(l *life, e state.Event) bool {
	t.pass(e.At)
	switch e.Kind {
	case state.JobRun:
		t.waits--
		t.asked -= l.cpus
		l.started = e.At
		if l.begun == 0 {
			l.begun = e.At
			if l.fills {
				t.fills++
			}
		}
		l.held = assigned(e.Job)
		t.busy += l.held
		t.stretch.begin(l, e.Job)
	case state.JobSuspended:
		t.busy -= l.held
		l.held = 0
		t.stretch.end(l, e.At)
	case state.JobResumed:
		l.held = assigned(e.Job)
		t.busy += l.held
		t.stretch.begin(l, e.Job)
	case state.JobRequeued, state.JobRequeuedUnrun:
		t.stretch.end(l, e.At)
		t.busy -= l.held
		l.held = 0
		t.waits++
		t.asked += l.cpus
		t.requeued++
		t.lost += l.ran.Seconds() * float64(l.cpus)
	case state.JobEnded:
		t.stretch.end(l, e.At)
		t.busy -= l.held
		l.held, t.lastEnd = 0, e.At
		t.over(l, e)
		return true
	case state.JobAborted, state.JobDequeued:
		if l.held == 0 {
			t.waits--
			t.asked -= l.cpus
		}
		t.busy -= l.held
		return true
	case state.JobDeleteAsked:
		if !e.Job.Live() {
			t.waits--
			t.asked -= l.cpus
			return true
		}
	}
	return false
}

func assigned(j *state.Job) int64 {
	text, _ := j.LastRun().Assigned.Get("ncpus")
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// shortest is what the run of a job counts for at least in its slowdown: the bound of the bounded slowdown.
const shortest = 10 * time.Second

// over counts a job that is over.
func (t *tally) over(l *life, e state.Event) {
	t.finished++
	wait := max(0, time.Duration(l.begun-l.since))
	stay, ran := time.Duration(e.At-l.since), l.ran
	slow := max(1, float64(stay)/float64(max(ran, shortest)))
	use := float64(l.cpus) * ran.Seconds()
	status, _ := e.Job.Exit()
	for _, c := range []*class{t.all, of(t.queues, string(e.Job.Queue)), of(t.sizes, sizeOf(l.cpus))} {
		c.jobs++
		c.cpus += use
		c.wait.add(wait.Seconds())
		c.slowdown.add(slow)
	}
	u := of(t.users, l.job.User)
	u.jobs++
	u.cpus += use
	u.wait.add(wait.Seconds())
	if t.each != nil {
		t.each(Result{
			Job: l.job, Queue: string(e.Job.Queue), CPUs: l.cpus, Start: l.begun, End: e.At, Wait: wait, Exit: status, Fills: l.fills,
			Times: l.times,
		})
	}
}

// of returns what a name stands for, made when it is new.
func of[T any](m map[string]*T, name string) *T {
	v := m[name]
	if v == nil {
		v = new(T)
		m[name] = v
	}
	return v
}

func (t *tally) preempted(method string) { t.preempts[method]++ }

// round notes a cycle, and whether anything can come of the next.
func (t *tally) round(lively bool) {
	if t.idle++; lively {
		t.idle = 0
	}
}

// A histogram counts values from 0 on. They are told to within a hundredth, those below 1.28 to the hundredth.
type histogram struct {
	counts map[uint16]int
	n      int
	sum    float64
	max    float64
}

// perOctave is how many steps there are from a value to its double.
const perOctave = 128

func (h *histogram) add(v float64) {
	if h.counts == nil {
		h.counts = map[uint16]int{}
	}
	h.counts[bucket(v)]++
	h.n++
	h.sum += v
	h.max = max(h.max, v)
}

// bucket numbers values in their order. They are counted in hundredths, so that slowdowns near 1 are told apart.
func bucket(v float64) uint16 {
	n := uint64(math.Round(min(v, 1e15) * 100))
	if n < perOctave {
		return uint16(n)
	}
	shift := bits.Len64(n) - bits.Len64(perOctave)
	return uint16((shift+1)*perOctave + int(n>>shift) - perOctave)
}

// least is the value in the middle of a bucket.
func middle(b uint16) float64 {
	if b < perOctave {
		return float64(b) / 100
	}
	shift := int(b)/perOctave - 1
	low := uint64(int(b)%perOctave+perOctave) << shift
	return (float64(low) + float64(uint64(1)<<shift-1)/2) / 100
}

// at returns the value below which so large a part of all is.
func (h *histogram) at(part float64) float64 {
	if h.n == 0 {
		return 0
	}
	rank, seen := int(math.Ceil(part*float64(h.n))), 0
	for _, b := range slices.Sorted(maps.Keys(h.counts)) {
		if seen += h.counts[b]; seen >= rank {
			return min(middle(b), h.max)
		}
	}
	return h.max
}

func (h *histogram) mean() float64 {
	if h.n == 0 {
		return 0
	}
	return h.sum / float64(h.n)
}

// A line is a picture of time: the mean of some figures in each of at most mostPoints steps, which grow with it.
type line struct {
	from  pbs.Time
	step  pbs.Time
	point []point
}

type point struct{ busy, waits, asked float64 } // times nanoseconds

const mostPoints = 2048

func newLine(at pbs.Time) line { return line{from: at, step: pbs.Time(time.Minute)} }

// add lets figures hold from a time to another.
func (l *line) add(from, to pbs.Time, busy, waits, asked float64) {
	for from < to {
		n := int((from - l.from) / l.step)
		for n >= mostPoints {
			l.halve()
			n = int((from - l.from) / l.step)
		}
		for len(l.point) <= n {
			l.point = append(l.point, point{})
		}
		end := min(to, l.from+pbs.Time(n+1)*l.step)
		d := float64(end - from)
		p := &l.point[n]
		p.busy, p.waits, p.asked = p.busy+busy*d, p.waits+waits*d, p.asked+asked*d
		from = end
	}
}

// halve makes one step of two.
func (l *line) halve() {
	half := make([]point, 0, mostPoints)
	for i := 0; i < len(l.point); i += 2 {
		p := l.point[i]
		if i+1 < len(l.point) {
			q := l.point[i+1]
			p = point{p.busy + q.busy, p.waits + q.waits, p.asked + q.asked}
		}
		half = append(half, p)
	}
	l.point, l.step = half, 2*l.step
}

// A stretch keeps the runs of a time, for a picture of them.
type stretch struct {
	from, until pbs.Time
	open        map[pbs.JobID]*bar
	bars        []*bar
}

// A bar is a run of a job on its vnodes.
type bar struct {
	job         string
	vnodes      []pbs.VnodeName
	from, until pbs.Time
}

// mostBars is how many runs a picture shows.
const mostBars = 20000

func newStretch(from, until pbs.Time) *stretch {
	return &stretch{from: from, until: until, open: map[pbs.JobID]*bar{}}
}

func (s *stretch) begin(l *life, j *state.Job) {
	if s == nil || l.started >= s.until || len(s.bars) >= mostBars {
		return
	}
	b := &bar{job: l.job.Name, vnodes: j.LastRun().ExecVnode.Vnodes(), from: l.started}
	s.open[l.id] = b
}

func (s *stretch) end(l *life, at pbs.Time) {
	if s == nil || s.open[l.id] == nil {
		return
	}
	b := s.open[l.id]
	delete(s.open, l.id)
	if b.until = at; b.until > s.from {
		s.bars = append(s.bars, b)
	}
}

// sorted returns the keys of classes by size, or by name.
func sorted[T any](m map[string]*T) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		first := func(s string) int64 {
			n := int64(0)
			for _, c := range s {
				if c < '0' || c > '9' {
					break
				}
				n = 10*n + int64(c-'0')
			}
			return n
		}
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a, b))
	})
}
