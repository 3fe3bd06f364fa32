package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// qsub measures whole processes: what a user waits for.
func (b *bench) qsub(ctx context.Context) error {
	w, stop, err := b.start(ctx, "--moms", "0")
	if err != nil {
		return err
	}
	defer stop()
	start, _, err := b.oneByOne(ctx, w.version)
	if err != nil {
		return err
	}
	floor := start.at(0.5)
	for _, role := range []string{"leader", "follower"} {
		r, err := w.replica(ctx, role)
		if err != nil {
			return err
		}
		at := w.through(r.Name)
		took, serial, err := b.oneByOne(ctx, at.submitOne)
		if err != nil {
			return err
		}
		b.note(row{
			"qsub, one after the other, at the " + role, took.millis() + "; " + rate(serial),
			"qsub --version p50 " + ms(floor), ratio(float64(took.at(0.5)), float64(floor)), "p50 <= 5 ms (OpenPBS 397/s)",
		})
		together, err := b.together(ctx, at, 8)
		if err != nil {
			return err
		}
		b.note(row{
			"qsub, 8 at once, at the " + role, rate(together),
			"OpenPBS 712/s, elsewhere", ratio(together, 712), ">= 700/s",
		})
	}
	return nil
}

// through returns the same cluster for commands that ask the daemon of one replica.
func (w *world) through(replica string) *world {
	at := *w.Cluster
	at.Env = append(append([]string(nil), w.Env...),
		"PBS_GATEWAY="+filepath.Join(w.Home(replica), "run", replica+".sock"))
	return &world{Cluster: &at, id: w.id, user: w.user}
}

func (w *world) version(ctx context.Context) error { return w.quiet(ctx, "qsub", "--version") }

func (w *world) submitOne(ctx context.Context) error {
	return w.quiet(ctx, "qsub", "-j", "oe", "-o", "/dev/null", "--", "/bin/true")
}

// quiet runs a command for its status and for the time that it takes.
func (w *world) quiet(ctx context.Context, name string, args ...string) error {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(w.Dir, "bin", name), args...)
	cmd.Env, cmd.Stderr = w.Env, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// oneByOne runs a command again and again, and returns how long each took and how many
// there were per second.
func (b *bench) oneByOne(ctx context.Context, one func(context.Context) error) (all times, perSec float64, err error) {
	for range 10 {
		if err := one(ctx); err != nil {
			return nil, 0, err
		}
	}
	began := time.Now()
	for range b.few(400) {
		start := time.Now()
		if err := one(ctx); err != nil {
			return nil, 0, err
		}
		all = append(all, time.Since(start))
	}
	return all, perSecond(len(all), time.Since(began)), nil
}

// together runs n qsub at a time and returns how many there were per second.
func (b *bench) together(ctx context.Context, w *world, n int) (float64, error) {
	each := b.few(200)
	faults := make([]error, n)
	var wg sync.WaitGroup
	began := time.Now()
	for i := range n {
		wg.Go(func() {
			for range each {
				if faults[i] = w.submitOne(ctx); faults[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return perSecond(n*each, time.Since(began)), errors.Join(faults...)
}
