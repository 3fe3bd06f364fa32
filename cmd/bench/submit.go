package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
)

const submitters = 64

// submit compares real submissions over kept connections with the bare submit.
func (b *bench) submit(ctx context.Context) error {
	reference, err := b.bare(ctx)
	if err != nil {
		return fmt.Errorf("bare submit: %w", err)
	}
	b.note(row{
		"bare submit, 64 callers: TLS, group commit, counting state", rate(reference.rate) + ", " + reference.latency.millis(),
		"8000/s on a quiet machine", ratio(reference.rate, 8000), "",
	})
	w, stop, err := b.start(ctx, "--moms", "0")
	if err != nil {
		return err
	}
	defer stop()
	leader, err := w.replica(ctx, "leader")
	if err != nil {
		return err
	}
	real, err := b.flood(ctx, w.id, leader.Address)
	if err != nil {
		return err
	}
	b.note(row{
		"acknowledged submissions, 64 callers", rate(real.rate) + ", " + real.latency.millis(),
		"bare submit " + rate(reference.rate), ratio(real.rate, reference.rate), ">= 0.60",
	})
	return nil
}

// A flow is what a number of callers got through.
type flow struct {
	rate    float64
	latency times
}

// flood lets callers submit as fast as they are answered: a while that does not count,
// and one that does.
func (b *bench) flood(ctx context.Context, id *transport.Identity, address string) (flow, error) {
	warm, measured := 2*time.Second, 8*time.Second
	if b.quick {
		warm, measured = time.Second, 2*time.Second
	}
	message := job("sleep 10")
	began := time.Now()
	from, until := began.Add(warm), began.Add(warm+measured)
	latencies := make([]times, submitters)
	faults := make([]error, submitters)
	var wg sync.WaitGroup
	for i := range submitters {
		wg.Go(func() {
			c := direct(id, address, b.user)
			defer c.http.CloseIdleConnections()
			latencies[i], faults[i] = c.flood(ctx, message, from, until)
		})
	}
	wg.Wait()
	var all times
	for _, l := range latencies {
		all = append(all, l...)
	}
	return flow{rate: perSecond(len(all), measured), latency: all}, errors.Join(faults...)
}

// flood submits until the end and returns how long those took that were answered between.
func (c *caller) flood(ctx context.Context, m *api.SubmitRequest, from, until time.Time) (all times, err error) {
	for now := time.Now(); now.Before(until); {
		if _, err := c.submit(ctx, m); err != nil {
			return nil, err
		}
		done := time.Now()
		if done.After(from) && done.Before(until) {
			all = append(all, done.Sub(now))
		}
		now = done
	}
	return all, nil
}

// bare measures the bare submit on three processes.
func (b *bench) bare(ctx context.Context) (flow, error) {
	dir, err := os.MkdirTemp(b.home, "bare-")
	if err != nil {
		return flow{}, err
	}
	defer os.RemoveAll(dir)
	ca, err := transport.NewCA("bare", time.Now())
	if err != nil {
		return flow{}, err
	}
	addresses, err := freeAddresses(3)
	if err != nil {
		return flow{}, err
	}
	for i := range addresses {
		stop, err := startBare(ctx, ca, filepath.Join(dir, strconv.Itoa(i)), addresses, i)
		if err != nil {
			return flow{}, err
		}
		defer stop()
	}
	id, err := ca.Issue(transport.RoleSubmit, "login", time.Now())
	if err != nil {
		return flow{}, err
	}
	leader, err := b.bareLeader(ctx, id, addresses)
	if err != nil {
		return flow{}, err
	}
	return b.flood(ctx, id, leader)
}

// bareLeader returns the address of the first that takes a submission.
func (b *bench) bareLeader(ctx context.Context, id *transport.Identity, addresses []string) (leader string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	err = poll(ctx, 100*time.Millisecond, func() error {
		var faults []error
		for _, a := range addresses {
			c := direct(id, a, b.user)
			_, err := c.submit(ctx, job("true"))
			c.http.CloseIdleConnections()
			if err == nil {
				leader = a
				return nil
			}
			faults = append(faults, err)
		}
		return errors.Join(faults...)
	})
	return leader, err
}

// startBare starts this program again as one of the bare replicas.
func startBare(ctx context.Context, ca *transport.CA, dir string, addresses []string, self int) (stop func(), err error) {
	id, err := ca.Issue(transport.RoleReplica, "bare", time.Now())
	if err != nil {
		return nil, err
	}
	if err := (transport.Files{Dir: filepath.Join(dir, "tls")}).SaveIdentity(id); err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "-bare-dir", dir,
		"-bare-addresses", strings.Join(addresses, ","), "-bare-self", strconv.Itoa(self))
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = pipe.Close()
		kill := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Wait()
	}, nil
}

func freeAddresses(n int) (all []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		all = append(all, l.Addr().String())
	}
	return all, nil
}

// fill submits n jobs that stay queued, as fast as it goes; a change of leader only
// delays it.
func (w *world) fill(ctx context.Context, n int) error {
	all, err := w.Status(ctx)
	if err != nil {
		return err
	}
	var addresses []string
	for _, r := range all {
		addresses = append(addresses, r.Address)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var left atomic.Int64
	left.Store(int64(n))
	var wg sync.WaitGroup
	for range submitters {
		wg.Go(func() {
			c := client.New(client.Options{Replicas: addresses, Identity: w.id, User: w.user})
			defer c.Close()
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				if _, err := c.Batch().Submit(ctx, connect.NewRequest(job("sleep 10"))); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
