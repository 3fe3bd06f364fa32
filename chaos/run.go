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
	"rampart/transport/api"
	"rampart/transport/client"
	"rampart/transport/pause"
)

// A World is a system that can be loaded, broken and looked at; it runs.
type World interface {
	// Client and Manager return who asks the nth replica first, with that much patience.
	Client(n int, budget time.Duration) (*client.Client, error)
	Manager(n int, budget time.Duration) (*client.Client, error)
	// Job is a job that takes so long.
	Job(runs time.Duration) *api.SubmitRequest
	// Strike makes a fault happen, and tells to whom; not ok if there is nobody to hit.
	Strike(s fault.Step) (text string, ok bool)
	// Rest heals everything and waits until all has come to its end.
	Rest(ctx context.Context, limit time.Duration) error
	// Evidence is what was left behind, but for the history of the clients.
	Evidence() (*check.Evidence, error)
	// Fatal tells what ended by itself.
	Fatal() []string
}

var _ World = (*world.World)(nil)

// Options are what a run needs besides the scenario and its seed.
type Options struct {
	Dir    string // for the homes; empty at the start
	Files  bool   // logs and snapshots of the replicas lie there, not in memory
	Logger *slog.Logger
}

// linkDelay makes time pass with every message, so that what came first is known.
const linkDelay = 500 * time.Microsecond

// budget returns how long the nth client waits for an answer: the first ones are less
// patient than a failover takes, so that some answers are lost.
func budget(n int) time.Duration { return 300 * time.Millisecond << (3 * n) }

// Run plays a scenario. It must be called in a synctest bubble.
func Run(ctx context.Context, s Scenario, seed uint64, o Options) *Report {
	r := newReport(s, seed)
	w, err := world.New(world.Config{
		Size: s.World, Seed: seed, Dir: o.Dir, Delay: linkDelay, Files: o.Files, Ambush: s.Early, Logger: o.Logger,
	})
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

// Play plays a scenario in a world that runs already, and goes on running.
func Play(ctx context.Context, w World, s Scenario, seed uint64) *Report {
	r := newReport(s, seed)
	r.play(ctx, w)
	return r
}

func newReport(s Scenario, seed uint64) *Report {
	return &Report{Scenario: s, Seed: seed, Evidence: &check.Evidence{}}
}

// play loads and breaks the world, lets it come to rest, and judges.
func (r *Report) play(ctx context.Context, w World) {
	record := load.NewRecord()
	r.Begun = record.Begun()
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
	if !evidence.Begun.IsZero() {
		evidence.Lag = r.Begun.Sub(evidence.Begun)
	}
	evidence.History, evidence.Struck, evidence.Blows = record.History(), struck, r.blows
	r.Evidence = evidence
	r.Verdict = check.Judge(evidence, r.Scenario.Checks)
}

// exert lets the clients ask while the faults strike, and returns when both are done.
func (r *Report) exert(ctx context.Context, w World, record *load.Record) (struck []string, err error) {
	asking, end := context.WithCancel(ctx)
	var askers sync.WaitGroup
	defer func() {
		if r.Scenario.Cut {
			end()
		}
		askers.Wait()
		end()
	}()
	for n, steps := range r.Scenario.Load.Draw(choices(r.Seed, "load")) {
		c, err := w.Client(n, budget(n))
		if err != nil {
			return nil, err
		}
		m, err := w.Manager(n, budget(n))
		if err != nil {
			return nil, err
		}
		client := &load.Client{N: n, Batch: c.Batch(), Manager: m.Batch(), Job: w.Job, Record: record}
		askers.Go(func() { client.Follow(asking, steps) })
	}
	var late time.Duration // a strike that takes its time moves what comes after it
	for _, f := range r.Scenario.Faults {
		if !until(ctx, record, f.At+late) {
			return struck, ctx.Err()
		}
		begun := record.Since()
		text, ok := w.Strike(f)
		late += record.Since() - begun
		r.blows = append(r.blows, check.Blow{From: begun, To: record.Since()})
		if ok {
			struck = append(struck, fmt.Sprintf("at %.3fs %s", record.Since().Seconds(), text))
			if !f.Kind.Mends() {
				r.Strikes++
			}
		}
	}
	until(ctx, record, r.Scenario.For+late)
	return struck, ctx.Err()
}

func until(ctx context.Context, record *load.Record, at time.Duration) bool {
	return pause.For(ctx, max(0, at-record.Since()))
}
