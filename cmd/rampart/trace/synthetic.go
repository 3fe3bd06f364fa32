package trace

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Synthetic says what workload is drawn.
type Synthetic struct {
	Jobs   int
	Nodes  int
	CPUs   int     // of each node
	Load   float64 // that the machine would have if it never had to leave a cpu idle; 0: what the model gives
	Users  int
	Widest int // cpus of the largest job; 0: all of the machine
	Seed   uint64
}

// Check refuses what cannot be drawn.
func (o Synthetic) Check() error {
	switch {
	case o.Jobs < 1 || o.Jobs > 100_000_000:
		return fmt.Errorf("%d jobs: want 1 to 100000000", o.Jobs)
	case o.Nodes < 1 || o.CPUs < 1 || int64(o.Nodes)*int64(o.CPUs) > 1<<40:
		return fmt.Errorf("%d hosts with %d cpus each", o.Nodes, o.CPUs)
	case math.IsNaN(o.Load) || o.Load < 0 || o.Load > 100:
		return fmt.Errorf("a load of %g: want 0 to 100", o.Load)
	case o.Users < 1:
		return fmt.Errorf("%d users: want 1 at least", o.Users)
	case o.Widest < 0 || o.Widest > o.Nodes*o.CPUs:
		return fmt.Errorf("the largest job with %d cpus: want 1 to %d, which the hosts have, or 0 for all of them", o.Widest, o.Nodes*o.CPUs)
	}
	return nil
}

// The constants of the model of Lublin and Feitelson for all jobs of a machine together, without a difference between batch and
// interactive ones: U. Lublin, D. G. Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid jobs",
// J. Parallel and Distributed Computing 63 (2003), as in the program lublin99 that goes with it. In brackets, their names there.
const (
	// Sizes: serial jobs, powers of two, and a logarithm (to base 2) that is uniform in two stages.
	serialPart = 0.2440 // SERIAL_PROB
	powerPart  = 0.5760 // POW2_PROB
	sizeLow    = 0.8    // ULOW
	sizeMedium = 2.5    // UMED is so much less than UHI, which is the logarithm of the size of the machine
	lowPart    = 0.86   // UPROB

	// Run times: their natural logarithm has one of two gamma distributions, the first with a probability that falls with the
	// size of the job.
	shortShape = 4.2     // A1
	shortScale = 0.94    // B1
	longShape  = 312     // A2
	longScale  = 0.03    // B2
	shortSlope = -0.0054 // PA
	shortPart  = 0.78    // PB
	mostRun    = 12      // TOO_MUCH_TIME: logarithm of the longest

	// Arrivals: the natural logarithm of the time between two in the rush hours has a gamma distribution; how many come in each half
	// hour of a day has another, of a day that begins at half past five.
	gapShape  = 10.2303 // AARR
	gapScale  = 0.4871  // BARR
	mostGap   = 13      // TOO_MUCH_ARRIVE_TIME
	dayShape  = 8.1737  // ANUM
	dayScale  = 3.9631  // BNUM
	halfHours = 48      // BUCKETS
	dayBegins = 11      // CYCLIC_DAY_START
	rushFrom  = 16      // half hours: the rush hours are from 8 to 18 o'clock
	rushUntil = 36
)

// The model has no users, no queues and no estimates of users. What follows is ours.
var (
	// estimates are what users ask for.
	estimates = []time.Duration{
		5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 12 * time.Hour,
		24 * time.Hour, 48 * time.Hour,
	}
	// mostTooMuch is how many times the run time of a job its user thinks of at most.
	mostTooMuch = 4.0
)

// syntheticQueues are the queues of what is drawn: that of short requests, and the others.
var syntheticQueues = []string{"short", "long"}

const shortRequest = time.Hour

// A drawn is a job of the model.
type drawn struct {
	at, run, asked int64 // seconds
	cpus           int64
	user           int
}

// WriteSynthetic draws a workload and writes it in the Standard Workload Format.
func WriteSynthetic(w io.Writer, o Synthetic) error {
	all := draw(o)
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "; Version: 2.2\n; Computer: synthetic\n; Note: model of Lublin and Feitelson (2003), seed %d; users, queues and requested times are not of the model\n", o.Seed)
	fmt.Fprintf(b, "; MaxJobs: %d\n; MaxRecords: %d\n; UnixStartTime: %d\n; TimeZoneString: UTC\n; MaxNodes: %d\n; MaxProcs: %d\n", len(all), len(all), standardBegin.Unix(), o.Nodes, o.Nodes*o.CPUs)
	for i, name := range syntheticQueues {
		fmt.Fprintf(b, "; Queue: %d %s\n", i+1, name)
	}
	for i, j := range all {
		queue := 2
		if j.asked <= int64(shortRequest/time.Second) {
			queue = 1
		}
		fmt.Fprintf(b, "%d %d -1 %d %d -1 -1 %d %d -1 1 %d %d -1 %d -1 -1 -1\n", i+1, j.at, j.run, j.cpus, j.cpus, j.asked, j.user, 1+j.user%8, queue)
	}
	return b.Flush()
}

// draw draws the jobs. Where a load is wished, the times between them are stretched or shortened all alike.
func draw(o Synthetic) []drawn {
	r := rand.New(rand.NewPCG(o.Seed, 99))
	procs := int64(o.Nodes) * int64(o.CPUs)
	widest := procs
	if o.Widest > 0 {
		widest = min(widest, int64(o.Widest))
	}
	all := make([]drawn, o.Jobs)
	work := 0.0
	for i := range all {
		cpus := drawSize(r, widest)
		run := drawRun(r, cpus)
		all[i] = drawn{cpus: cpus, run: run, asked: drawEstimate(r, run), user: drawUser(r, o.Users)}
		work += float64(cpus) * float64(run)
	}
	a := newArrivals(r)
	times := make([]float64, o.Jobs)
	for i := range times {
		times[i] = a.next(1)
	}
	if o.Load > 0 && o.Jobs > 1 {
		// The day has its length: the gaps are drawn again with the pace that gives the load.
		pace := work / (o.Load * float64(procs)) / (times[o.Jobs-1] - times[0])
		a = newArrivals(rand.New(rand.NewPCG(o.Seed, 100)))
		for i := range times {
			times[i] = a.next(pace)
		}
	}
	for i := range all {
		all[i].at = int64(times[i] - times[0])
	}
	return all
}

func drawSize(r *rand.Rand, procs int64) int64 {
	high := math.Log2(float64(procs))
	if high <= sizeLow || r.Float64() < serialPart {
		return 1
	}
	medium := max(high-sizeMedium, sizeLow)
	low, up := sizeLow, medium
	if r.Float64() >= lowPart {
		low, up = medium, high
	}
	size := low + r.Float64()*(up-low)
	if r.Float64() < powerPart {
		size = math.Round(size)
	}
	return min(procs, max(1, int64(math.Round(math.Exp2(size)))))
}

func drawRun(r *rand.Rand, cpus int64) int64 {
	part := min(1, max(0, shortSlope*float64(cpus)+shortPart))
	for {
		x := 0.0
		if r.Float64() < part {
			x = gamma(r, shortShape, shortScale)
		} else {
			x = gamma(r, longShape, longScale)
		}
		if x < mostRun {
			return max(1, int64(math.Exp(x)))
		}
	}
}

func drawEstimate(r *rand.Rand, run int64) int64 {
	think := time.Duration(float64(run)*(1+r.Float64()*(mostTooMuch-1))) * time.Second
	if i := slices.IndexFunc(estimates, func(d time.Duration) bool { return d >= think }); i >= 0 {
		return int64(estimates[i] / time.Second)
	}
	return max(run, int64(estimates[len(estimates)-1]/time.Second))
}

// drawUser draws one of some users: the nth is n times less busy than the first.
func drawUser(r *rand.Rand, users int) int {
	n := int(math.Exp(r.Float64() * math.Log(float64(users)+1)))
	return min(max(1, n), users)
}

// gamma draws from a gamma distribution (G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", 2000).
func gamma(r *rand.Rand, shape, scale float64) float64 {
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-r.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v * scale
		}
	}
}

// arrivals are the times at which jobs come.
type arrivals struct {
	r       *rand.Rand
	weights [halfHours]float64 // of the half hours of a day: 1 in the rush hours, in the mean
	at      float64            // seconds since midnight of the first day
}

func newArrivals(r *rand.Rand) *arrivals {
	a := &arrivals{r: r}
	rush := 0.0
	for i := range a.weights {
		x := float64(i) + 0.5
		if i < dayBegins {
			x += halfHours
		}
		a.weights[i] = math.Pow(x, dayShape-1) * math.Exp(-x/dayScale)
		if i >= rushFrom && i < rushUntil {
			rush += a.weights[i] / (rushUntil - rushFrom)
		}
	}
	for i := range a.weights {
		a.weights[i] /= rush
	}
	return a
}

const halfHour = 24 * 3600 / halfHours

// next returns when the next job comes, if all take so many times as long to come: a gap of the rush hours takes longer at night.
func (a *arrivals) next(pace float64) float64 {
	gap := float64(mostGap)
	for gap >= mostGap {
		gap = gamma(a.r, gapShape, gapScale)
	}
	left := math.Exp(gap) * pace
	for {
		n := int(a.at/halfHour) % halfHours
		room := halfHour*(math.Floor(a.at/halfHour)+1) - a.at
		if have := room * a.weights[n]; have < left {
			left -= have
			a.at += room
			continue
		}
		a.at += left / a.weights[n]
		return a.at
	}
}
