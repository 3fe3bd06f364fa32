package fault

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// A Siege says how the fence of a mom is tried in a drawn run: one mom is away for about
// as long as its fence or longer, while replicas die and the fence is changed.
type Siege struct {
	Fence time.Duration // node_fail_requeue
	From  time.Duration // the mom's absence begins in the Span after it
	Span  time.Duration
	Moms  int
}

// falls returns how long an absence lasts at least in which a fence must fall: a tenth of the
// fence and 5 s more, an election, the leader's grace, and a round of its watch.
func (p Siege) falls() time.Duration { return p.Fence + p.Fence/10 + 25*time.Second }

// Draw chooses faults from r, in the order of their times. If falls is true the fence of
// a host must fall in the run, and under jobs: it is the first to get some, and has had
// the time.
func (p Siege) Draw(r *rand.Rand) (steps []Step, falls bool) {
	mom := Target{Role: Mom, N: r.IntN(p.Moms)}
	begin := p.From + between(r, 0, p.Span)
	kind := absences[r.IntN(len(absences))]
	for range r.IntN(3) {
		// What happens to replicas later would begin the wait anew.
		steps = append(steps, p.death(r, between(r, 0, begin+8*time.Second))...)
	}
	changed := r.IntN(3) == 0
	if changed {
		steps = append(steps, Step{
			At: begin + between(r, -2*time.Second, 20*time.Second), Kind: SetFence, Value: fences[r.IntN(len(fences))],
		})
	}
	length := 10*time.Second + p.falls() + between(r, 0, 20*time.Second)
	if r.IntN(4) == 0 {
		length = between(r, 10*time.Second, 10*time.Second+p.falls())
		changed = true
	}
	steps = append(steps, Step{At: begin, Kind: kind, Target: mom}, p.end(begin+length, kind, mom))
	if p.Moms > 1 && r.IntN(2) == 0 {
		steps = append(steps, p.episode(r, Target{Role: Mom, N: (mom.N + 1) % p.Moms}, begin+length)...)
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return steps, !changed && kind != Estrange && mom.N == 0 && begin >= p.From+p.Span/3
}

// absences are how a mom is away.
var absences = []Kind{Exile, Exile, Crash, Crash, Freeze, Freeze, Reboot, Estrange}

// fences are what node_fail_requeue is set to in seconds; empty: it is unset.
var fences = []string{"30", "45", "90", "310", "0", ""}

// death kills a replica and starts it again; moms stay as they are.
func (p Siege) death(r *rand.Rand, at time.Duration) []Step {
	kind := []Kind{Crash, Crash, Tear}[r.IntN(3)]
	return []Step{
		{At: at, Kind: kind, Target: anyReplica(r, 2)},
		{At: at + between(r, 300*time.Millisecond, 5*time.Second), Kind: Restart, Target: Target{Role: Replicas}},
	}
}

// episode returns a short absence of the other mom, shorter than any fence.
func (p Siege) episode(r *rand.Rand, mom Target, before time.Duration) []Step {
	kind := []Kind{Exile, Crash, Freeze}[r.IntN(3)]
	at := between(r, 0, before)
	return []Step{{At: at, Kind: kind, Target: mom}, p.end(at+between(r, time.Second, 15*time.Second), kind, mom)}
}

// end returns what ends the absence of one mom and of nobody else.
func (Siege) end(at time.Duration, k Kind, mom Target) Step {
	switch k {
	case Crash, Reboot:
		return Step{At: at, Kind: Restart, Target: mom}
	case Freeze:
		return Step{At: at, Kind: Thaw, Target: mom}
	default:
		return Step{At: at, Kind: Heal, Target: mom}
	}
}

// Seconds returns a fence as node_fail_requeue is written.
func Seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
