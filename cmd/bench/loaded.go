package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A loaded is a cluster with many queued jobs, shared by the parts that need them.
type loaded struct {
	*world
	stop   func()
	jobs   int
	before map[string]int // own resident KB of each replica with warmUp jobs
	after  map[int]map[string]int
}

// warmUp is how many jobs there are when memory is first looked at: pools and caches
// that do not grow with the jobs are there by then.
const warmUp = 1000

// sizes returns the numbers of queued jobs to look at.
func (b *bench) sizes() []int {
	switch {
	case b.quick:
		return []int{3000}
	case b.large:
		return []int{10_000, 100_000}
	}
	return []int{10_000}
}

// queue returns the cluster with n queued jobs. It only grows: parts that look at more
// jobs come after those that look at fewer, or see the greater number.
func (b *bench) queue(ctx context.Context, n int) (*loaded, error) {
	if b.loaded == nil {
		w, stop, err := b.start(ctx, "--moms", "0")
		if err != nil {
			return nil, err
		}
		b.loaded = &loaded{world: w, stop: stop, after: map[int]map[string]int{}}
		if err := b.loaded.grow(ctx, warmUp); err != nil {
			return nil, err
		}
		b.loaded.before = b.loaded.resident()
	}
	l := b.loaded
	if l.jobs < n {
		if err := l.grow(ctx, n); err != nil {
			return nil, err
		}
		l.after[n] = l.resident()
	}
	return l, nil
}

func (l *loaded) grow(ctx context.Context, n int) error {
	if err := l.fill(ctx, n-l.jobs); err != nil {
		return err
	}
	l.jobs = n
	wait(ctx, 2*time.Second)
	return l.settled(ctx, 3)
}

func (b *bench) closeLoaded() {
	if b.loaded != nil {
		b.loaded.stop()
		b.loaded = nil
	}
}

// resident returns the memory in KB that each replica itself has: pages of files, of its log
// above all, are the system's cache and go when others need the room.
func (l *loaded) resident() map[string]int {
	all := map[string]int{}
	for _, name := range []string{"s1", "s2", "s3"} {
		pid, err := l.Pid(name)
		if err != nil {
			continue
		}
		data, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
				all[name], _ = strconv.Atoi(strings.Fields(rest)[0])
			}
		}
	}
	return all
}

func thousands(n int) string {
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
