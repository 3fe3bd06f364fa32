package dispatch

import (
	"context"
	"log/slog"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/state"
)

// fenceSlack is added to a fence with a tenth of it: for clocks that run at different
// rates, and for killing.
const fenceSlack = 5 * time.Second

// fenceWait returns how long a leader waits, from the last renewal that it answered or from
// the start of its term, before no job of a host can live any more.
func fenceWait(seconds int64) time.Duration {
	fence := time.Duration(seconds) * time.Second
	return fence + fence/10 + fenceSlack
}

// fencedLocked reports whether the fence of a host that is down has fallen by now. The
// clock is our own and monotonic; one that stands still while we are suspended makes us
// wait longer.
func (w *Watcher) fencedLocked(h *state.Host) bool {
	if h.Up || h.GivenUp || h.Registered == 0 || h.Fence == 0 {
		return false
	}
	return w.silenceLocked(h.Name) > fenceWait(h.Fence)
}

// giveUp proposes that the runs of a host are over. The mom may come back meanwhile:
// what it registers after we looked makes the verdict void, and what it renews does not
// save the jobs, for their deadline has passed.
func (w *Watcher) giveUp(ctx context.Context, h *state.Host) {
	log := w.opts.Logger.With(slog.String("host", string(h.Name)))
	log.Warn("the fence of a silent host has fallen", "seconds", h.Fence)
	err := w.propose(ctx, &command.HostFenced{Host: h.Name, Registered: h.Registered, Fence: h.Fence})
	if err != nil {
		log.Warn("propose that the runs of a host are over", "error", err)
	}
}
