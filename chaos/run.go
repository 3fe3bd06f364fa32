package chaos

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/chaos/load"
	"rampart/chaos/world"
)

// Options are what a run needs besides the scenario and its seed.
type Options struct {
	Dir    string // for the homes; empty at the start
	Files  bool   // logs and snapshots of the replicas lie there, not in memory
	Logger *slog.Logger
}

// linkDelay makes time pass with every message, so that what came first is known.
const linkDelay = 500 * time.Microsecond

// budget is how long the nth client waits for an answer: the first ones are less
// patient than a failover takes, so that some answers are lost.
func budget(n int) time.Duration { return 300 * time.Millisecond << (3 * n) }

// Run plays a scenario. It must be called in a synctest bubble.
func Run(ctx context.Context, s Scenario, seed uint64, o Options) *Report {
	r := &Report{Scenario: s, Seed: seed, Evidence: &check.Evidence{}}
	w, err := world.New(world.Config{Size: s.World, Seed: seed, Dir: o.Dir, Delay: linkDelay, Files: o.Files, Logger: o.Logger})
	if err != nil {
		r.Trouble = append(r.Trouble, err.Error())
		return r
	}
	defer w.Stop()
	if err := w.Start(ctx); err != nil {
		r.Trouble = append(r.Trouble, err.Error())
		return r
	}
	r.play(ctx, w)
	return r
}

// play loads and breaks the world, lets it come to rest, and judges.
func (r *Report) play(ctx context.Context, w *world.World) {
	record := load.NewRecord()
	struck, err := r.exert(ctx, w, record)
	if err == nil {
		err = w.Rest(ctx, r.Scenario.Rest)
	}
	r.Took = record.Since()
	evidence, failed := w.Evidence()
	if err == nil {
		err = failed
	}
	r.Trouble = append(r.Trouble, w.Fatal()...)
	if err != nil {
		r.Trouble = append(r.Trouble, err.Error())
	}
	if evidence == nil {
		return
	}
	evidence.History, evidence.Struck = record.History(), struck
	r.Evidence = evidence
	r.Verdict = check.Judge(evidence, r.Scenario.Checks)
}

// exert lets the clients ask while the faults strike, and returns when both are done.
func (r *Report) exert(ctx context.Context, w *world.World, record *load.Record) (struck []string, err error) {
	var asking sync.WaitGroup
	defer asking.Wait()
	for n, steps := range r.Scenario.Load.Draw(choices(r.Seed, "load")) {
		c, err := w.Client(n, budget(n))
		if err != nil {
			return nil, err
		}
		m, err := w.Manager(n, budget(n))
		if err != nil {
			return nil, err
		}
		client := &load.Client{N: n, Batch: c.Batch(), Manager: m.Batch(), Record: record}
		asking.Go(func() { client.Follow(ctx, steps) })
	}
	for _, f := range r.Scenario.Faults {
		if !until(ctx, record, f.At) {
			return struck, ctx.Err()
		}
		if text, ok := w.Strike(f); ok {
			struck = append(struck, fmt.Sprintf("at %.3fs %s", record.Since().Seconds(), text))
			if f.Kind != fault.Heal && f.Kind != fault.Restart && f.Kind != fault.Sever {
				r.Strikes++
			}
		}
	}
	until(ctx, record, r.Scenario.For)
	return struck, ctx.Err()
}

func until(ctx context.Context, record *load.Record, at time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(max(0, at-record.Since())):
		return true
	}
}
