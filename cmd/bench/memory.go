package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"rampart/fsm/snapshot"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// memory tells what a queued job costs: by the resident size of the replicas, which
// garbage is part of, and by the live heap of the same state read from a snapshot.
func (b *bench) memory(ctx context.Context) error {
	for _, n := range b.sizes() {
		l, err := b.queue(ctx, n)
		if err != nil {
			return err
		}
		after := l.after[n]
		if after == nil {
			continue // a later size was there first
		}
		var grown []string
		var most float64
		for _, name := range []string{"s1", "s2", "s3"} {
			each := float64(after[name]-l.before[name]) / float64(n-warmUp)
			grown = append(grown, fmt.Sprintf("%.1f", each))
			most = max(most, each)
		}
		b.note(row{
			"resident memory per queued job and replica, " + thousands(n) + " jobs", strings.Join(grown, ", ") + " KB",
			"OpenPBS 8.5 KB, Slurm 4 KB", ratio(most, 8.5), "<= 3 KB",
		})
	}
	l, err := b.queue(ctx, b.sizes()[len(b.sizes())-1])
	if err != nil {
		return err
	}
	heap, err := l.liveHeap(ctx)
	if err != nil {
		return err
	}
	b.note(row{"live heap of the state per queued job", fmt.Sprintf("%.1f KB", heap/1024/float64(l.jobs)), "", "", ""})
	return nil
}

// liveHeap reads a snapshot of the state and returns how many bytes are live for it.
func (l *loaded) liveHeap(ctx context.Context) (float64, error) {
	path := filepath.Join(l.Dir, "snapshot")
	if _, err := l.Output(ctx, "rampart", "cluster", "snapshot", "save", path); err != nil {
		return 0, err
	}
	defer os.Remove(path)
	before := liveBytes()
	s, err := readState(path)
	if err != nil {
		return 0, err
	}
	after := liveBytes()
	runtime.KeepAlive(s)
	return float64(after) - float64(before), nil
}

func readState(path string) (*state.Store, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, _, err := snapshot.Read(f)
	return s, err
}

func liveBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// restart kills a follower and measures until it answers a linearizable read again.
func (b *bench) restart(ctx context.Context) error {
	for _, n := range b.sizes() {
		l, err := b.queue(ctx, n)
		if err != nil {
			return err
		}
		if l.jobs > n {
			continue // there are more already: the next size
		}
		var all times
		for range 3 {
			took, err := l.restartFollower(ctx, b.user)
			if err != nil {
				return err
			}
			all = append(all, took)
		}
		b.note(row{
			"restart of a follower with " + thousands(l.jobs) + " jobs to its first answer", all.seconds(),
			"OpenPBS 5.7 s at 100,000, elsewhere", ratio(all.at(0.5).Seconds(), 5.7), "<= 2 s at 100,000",
		})
	}
	return nil
}

func (l *loaded) restartFollower(ctx context.Context, user string) (time.Duration, error) {
	r, err := l.replica(ctx, "follower")
	if err != nil {
		return 0, err
	}
	if err := l.Signal(r.Name, syscall.SIGKILL); err != nil {
		return 0, err
	}
	wait(ctx, time.Second)
	began := time.Now()
	restarted := make(chan error, 1)
	go func() { restarted <- l.Restart(ctx, r.Name) }()
	c := direct(l.id, r.Address, user)
	defer c.http.CloseIdleConnections()
	err = poll(ctx, 5*time.Millisecond, func() error {
		_, server, err := c.list(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER})
		if err == nil && server.GetRefusal() != nil {
			err = fmt.Errorf("%s", server.GetRefusal().GetMessage())
		}
		return err
	})
	took := time.Since(began)
	if err := <-restarted; err != nil {
		return 0, err
	}
	if err == nil {
		err = l.settled(ctx, 3)
	}
	return took, err
}
