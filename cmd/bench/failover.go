package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"rampart/chaos"
	"rampart/chaos/check"
	"rampart/chaos/real"
)

// failover kills the leader again and again under a stream of submissions, as the chaos of
// real processes does, and lets its laws judge what is left.
func (b *bench) failover(ctx context.Context) error {
	kills := b.kills
	if b.quick {
		kills = min(kills, 3)
	}
	s := submissions(kills)
	dir, err := os.MkdirTemp(b.home, "c-")
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	w, err := real.Start(ctx, real.Config{Bin: b.bin, Dir: dir, Size: s.World, Cores: 64})
	if err != nil {
		return err
	}
	defer func() {
		w.Stop()
		_ = os.RemoveAll(dir)
	}()
	r := chaos.Play(ctx, w, s, 1)
	b.noteFailover(w.Gaps(r), r)
	if !r.Good() {
		return fmt.Errorf("L1, L2: %v %v", r.Trouble, slices.Concat(r.Verdict.Broken, r.Verdict.Inconclusive))
	}
	return nil
}

// submissions returns a scenario of nothing else: slow enough that the jobs run at once, so that
// a gap is the cluster's and not a queue's, and the jobs end as soon as they have begun.
func submissions(kills int) chaos.Scenario {
	s := real.LeaderKills(kills)
	s.World.Moms, s.Load.Mix, s.Load.Longest = 1, nil, time.Millisecond
	s.Checks = slices.DeleteFunc(s.Checks, func(l check.Law) bool { return l.Amount }) // it wants more kinds of requests
	return s
}

func (b *bench) noteFailover(g real.Gaps, r *chaos.Report) {
	acked, n := times(g.Acked), fmt.Sprintf(", %d kills", g.Kills)
	b.note(row{"leader killed to next acknowledged submission" + n, acked.seconds(), "raft alone p50 0.65 s, max 0.86 s", ratio(acked.at(0.5).Seconds(), 0.65), "p50 <= 0.8 s, p99 <= 2 s"})
	b.note(row{"leader killed to all 8 clients served again", times(g.Served).seconds(), "", "", ""})
	b.note(row{"leader killed to next job started", times(g.Started).seconds(), "", "", "p50 <= 1.5 s"})
	done := 0
	for _, o := range r.Evidence.History {
		if o.Result == check.Done {
			done++
		}
	}
	b.note(row{"acknowledged jobs; broken laws", fmt.Sprintf("%d; %d", done, len(r.Verdict.Broken)), "", "", "nothing lost, nothing twice"})
}
