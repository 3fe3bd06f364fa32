package server

import (
	"context"
	"os"
	"runtime/debug"
	measured "runtime/metrics"
	"time"
)

// The collector lets garbage grow to as much as is live. Of a long queue that is more than the
// processor time is worth which it saves: a small heap may double, a great one may grow by half.
const (
	roomSmall = 32 << 20 // bytes of garbage that are nothing to save on
	roomEvery = 10 * time.Second
)

// roomFor returns GOGC, the percentage by which a heap may grow, for one of so many live bytes.
func roomFor(live uint64) int {
	if live <= 2*roomSmall {
		return 100
	}
	return 50 + int(100*roomSmall/live)
}

// keepRoom holds the garbage of the process down until ctx ends. Where GOGC is set, the
// operator's word counts.
func keepRoom(ctx context.Context) {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []measured.Sample{{Name: "/gc/heap/live:bytes"}}
	tick := time.NewTicker(roomEvery)
	defer tick.Stop()
	for last := 100; ; {
		measured.Read(live)
		if next := roomFor(live[0].Value.Uint64()); next != last {
			debug.SetGCPercent(next)
			last = next
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
