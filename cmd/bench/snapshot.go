package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/hashicorp/raft"

	"rampart/fsm"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport"
)

// entrySize is how many submissions each entry of the log holds here.
const entrySize = 64

// A machine is a state machine alone, without a cluster: what it costs is not hidden by
// disks or other processes.
type machine struct {
	fsm   *fsm.FSM
	index uint64
	jobs  int
}

// apply applies one entry.
func (m *machine) apply(ps []command.Proposal) error {
	m.index++
	data, err := command.Encode(command.Entry{Time: pbs.Time(time.Now().UnixNano()), Proposals: ps})
	if err != nil {
		return err
	}
	outcomes, _ := m.fsm.Apply(&raft.Log{Index: m.index, Term: 1, Type: raft.LogCommand, Data: data}).([]command.Outcome)
	for _, o := range outcomes {
		if err := o.Err(); err != nil {
			return err
		}
	}
	return m.fsm.Err()
}

// submit applies an entry of new jobs, and returns how long Apply took.
func (m *machine) submit() (time.Duration, error) {
	request := job("sleep 10")
	var ps []command.Proposal
	for range entrySize {
		c := &command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "login"}, Script: request.GetScript()}
		for _, a := range request.GetAttributes() {
			c.Attributes = c.Attributes.Set(a.GetName(), a.GetResource(), a.GetValue())
		}
		ps = append(ps, command.Proposal{
			ID: pbs.RequestID(transport.NewRequestID()), Asker: c.Owner, Commands: []command.Command{c},
		})
		m.jobs++
	}
	began := time.Now()
	err := m.apply(ps)
	return time.Since(began), err
}

// snapshot fills a state machine with queued jobs, takes a snapshot, and goes on applying
// while it is written: the pause is the call itself, and the longest Apply beside it tells
// what the writing costs.
func (b *bench) snapshot(ctx context.Context) error {
	for _, n := range b.snapshotSizes() {
		m := &machine{fsm: fsm.New(fsm.Options{})}
		if err := m.apply([]command.Proposal{{Commands: []command.Command{&command.InitCluster{ID: "c", Name: "srv"}}}}); err != nil {
			return err
		}
		for m.jobs < n {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if _, err := m.submit(); err != nil {
				return err
			}
		}
		runtime.GC()
		alone, err := m.applies(ctx, nil)
		if err != nil {
			return err
		}
		began := time.Now()
		s, err := m.fsm.Snapshot()
		pause := time.Since(began)
		if err != nil {
			return err
		}
		written := make(chan error, 1)
		var size int64
		go func() {
			sink := &counter{}
			err := s.Persist(sink)
			size = sink.n
			written <- err
		}()
		beside, err := m.applies(ctx, written)
		if err != nil {
			return err
		}
		s.Release()
		took := time.Since(began)
		b.note(row{
			fmt.Sprintf("pause of Apply by a snapshot at %s jobs", grouped(n)), fmt.Sprintf("%.3f ms", pause.Seconds()*1000), "copy-on-write: under 1 us", "", "<= 2 ms",
		})
		b.note(row{
			fmt.Sprintf("Apply of %d submissions while it is written (%d MB, %s)", entrySize, size>>20, took.Round(100*time.Millisecond)),
			beside.millis(), "without: " + alone.millis(), ratio(beside.at(0.5).Seconds(), alone.at(0.5).Seconds()), "",
		})
	}
	return nil
}

// snapshotSizes returns the numbers of jobs at which a snapshot is taken.
func (b *bench) snapshotSizes() []int {
	switch {
	case b.quick:
		return []int{10_000}
	case b.large:
		return []int{100_000, 1_000_000}
	}
	return []int{100_000}
}

// applies returns how long entries take: a hundred of them, or as many as fit in until a
// snapshot is written. They come at the pace of a busy cluster.
func (m *machine) applies(ctx context.Context, written <-chan error) (all times, err error) {
	for n := 0; written != nil || n < 100; n++ {
		took, err := m.submit()
		if err != nil {
			return nil, err
		}
		all = append(all, took)
		select {
		case err := <-written:
			return all, err
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return all, nil
}

// counter is a snapshot's file that nobody keeps.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

func (*counter) Close() error  { return nil }
func (*counter) ID() string    { return "bench" }
func (*counter) Cancel() error { return nil }

var _ raft.SnapshotSink = (*counter)(nil)

// grouped writes a number as people do.
func grouped(n int) string {
	if n < 1_000_000 {
		return thousands(n)
	}
	return fmt.Sprintf("%d,%03d,%03d", n/1_000_000, n/1000%1000, n%1000)
}
