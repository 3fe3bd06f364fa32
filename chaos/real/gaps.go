package real

import (
	"fmt"
	"slices"
	"time"

	"rampart/chaos"
	"rampart/chaos/check"
)

// tooEarly: what happens this soon after a kill is still the dead leader's doing, an answer
// in a socket or an order at a mom; followers wait 300 ms for a heartbeat.
const tooEarly = 200 * time.Millisecond

// Gaps are the times from each death of a leader to what came next. What did not come
// before the next death is left out, and the lengths differ.
type Gaps struct {
	Kills   int
	Acked   Times // the first acknowledged submission
	Served  Times // the last of the clients to be answered again, if all were
	Started Times // the first job that began to run
}

// Gaps measures what a run's clients and jobs saw of each kill.
func (w *World) Gaps(r *chaos.Report) Gaps {
	g := Gaps{Kills: len(w.kills)}
	for i, k := range w.kills {
		until := r.Begun.Add(r.Took)
		if i+1 < len(w.kills) {
			until = w.kills[i+1].At
		}
		from := k.At.Add(tooEarly)
		acked, served := answers(r, from, until)
		g.Acked.add(acked, k.At)
		g.Served.add(served, k.At)
		g.Started.add(w.firstStart(r.Evidence.Runs, from, until), k.At)
	}
	return g
}

// answers returns when the first submission was acknowledged between two times, and when
// all clients had been answered.
func answers(r *chaos.Report, from, until time.Time) (acked, served time.Time) {
	seen := make(map[int]bool)
	for _, o := range r.Evidence.History { // in the order of the answers
		at := r.Begun.Add(o.End)
		if at.Before(from) || at.After(until) || o.Result != check.Done {
			continue
		}
		if o.Kind == check.Submit && acked.IsZero() {
			acked = at
		}
		if seen[o.Client] = true; len(seen) == r.Scenario.Load.Clients && served.IsZero() {
			served = at
		}
	}
	return acked, served
}

func (w *World) firstStart(runs []check.Run, from, until time.Time) (first time.Time) {
	for _, run := range runs {
		at := w.begun.Add(run.Start)
		if at.After(from) && at.Before(until) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// Times is a sample of durations.
type Times []time.Duration

func (t *Times) add(at, since time.Time) {
	if !at.IsZero() {
		*t = append(*t, at.Sub(since))
	}
}

// At returns the quantile q (0 to 1): the least value that this part of the sample does
// not exceed.
func (t Times) At(q float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	i := int(q*float64(len(sorted))+0.9999999) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// String returns the median, the 99th of a hundred, and the greatest, in seconds.
func (t Times) String() string {
	return fmt.Sprintf("p50 %.2f s, p99 %.2f s, max %.2f s, of %d", t.At(0.5).Seconds(), t.At(0.99).Seconds(), t.At(1).Seconds(), len(t))
}

// Join adds the sample of another run.
func (g Gaps) Join(o Gaps) Gaps {
	return Gaps{
		Kills: g.Kills + o.Kills, Acked: slices.Concat(g.Acked, o.Acked), Served: slices.Concat(g.Served, o.Served),
		Started: slices.Concat(g.Started, o.Started),
	}
}

// String returns the distribution as the table of docs/failover.md has it.
func (g Gaps) String() string {
	row := func(what string, t Times) string {
		return fmt.Sprintf("| %s | %.2f s | %.2f s | %.2f s |\n", what, t.At(0.5).Seconds(), t.At(0.99).Seconds(), t.At(1).Seconds())
	}
	return fmt.Sprintf("| %d kills of the leader | p50 | p99 | max |\n| --- | --- | --- | --- |\n", g.Kills) +
		row("to the next acknowledged submission", g.Acked) +
		row("to all clients served again", g.Served) +
		row("to the next job started", g.Started)
}
