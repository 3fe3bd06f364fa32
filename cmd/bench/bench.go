package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/cmd/devrun"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// partWithin bounds each part: a cluster that hangs must not hang the bench.
const partWithin = 20 * time.Minute

// A bench is one run: where things are, who asks, and the table so far.
type bench struct {
	options
	home   string // of all temporary files
	user   string
	table  []row
	loaded *loaded // the cluster with many queued jobs
}

func newBench(o options) (*bench, error) {
	bin, err := filepath.Abs(o.bin)
	if err != nil {
		return nil, err
	}
	o.bin = bin
	for _, p := range []string{"rampart", "pbs"} {
		if _, err := os.Stat(filepath.Join(bin, p)); err != nil {
			return nil, fmt.Errorf("-bin: %w: make build makes it", err)
		}
	}
	who, err := user.Current()
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp(o.dir, "rb-") // short: paths of sockets are below it
	if err != nil {
		return nil, err
	}
	return &bench{options: o, home: home, user: who.Username}, os.Chmod(home, 0o755)
}

func (b *bench) close() {
	b.closeLoaded()
	_ = os.RemoveAll(b.home)
}

// few returns n, or a tenth of it for a quick look.
func (b *bench) few(n int) int {
	if b.quick {
		return max(n/10, 2)
	}
	return n
}

// machine says on what, and under which load, was measured.
func (b *bench) machine() string {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%d cores, Linux %s, %s, sync of a file %s; load at the start %s",
		runtime.NumCPU(), strings.TrimSpace(string(kernel)), runtime.Version(), ms(b.syncs().at(0.5)), load())
}

func load() string {
	data, _ := os.ReadFile("/proc/loadavg")
	return strings.Join(strings.Fields(string(data))[:3], " ")
}

// syncs measures the disk that everything waits for.
func (b *bench) syncs() (all times) {
	f, err := os.CreateTemp(b.home, "sync-")
	if err != nil {
		return nil
	}
	defer f.Close()
	for range 50 {
		began := time.Now()
		if _, err := f.Write(make([]byte, 4096)); err != nil || f.Sync() != nil {
			return nil
		}
		all = append(all, time.Since(began))
	}
	return all
}

// A world is a running cluster, with an identity by which a load asks it.
type world struct {
	*devrun.Cluster
	id   *transport.Identity
	user string
}

// start starts a dev cluster; stop ends it and removes its files.
func (b *bench) start(ctx context.Context, args ...string) (w *world, stop func(), err error) {
	dir, err := os.MkdirTemp(b.home, "c-")
	if err != nil {
		return nil, nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, nil, err
	}
	c, err := devrun.Start(ctx, b.bin, dir, args...)
	if err != nil {
		return nil, nil, err
	}
	stop = func() {
		c.Stop()
		_ = os.RemoveAll(dir)
	}
	id, err := c.Issue(transport.RoleSubmit, "login")
	if err != nil {
		stop()
		return nil, nil, err
	}
	return &world{Cluster: c, id: id, user: b.user}, stop, nil
}

// replica returns the present state of the leader or of a follower.
func (w *world) replica(ctx context.Context, role string) (devrun.Replica, error) {
	all, err := w.Status(ctx)
	if err != nil {
		return devrun.Replica{}, err
	}
	for _, r := range all {
		if r.Role == role {
			return r, nil
		}
	}
	return devrun.Replica{}, fmt.Errorf("no %s: %+v", role, all)
}

// settled waits until all replicas are there and have applied what the first of them had.
func (w *world) settled(ctx context.Context, replicas int) error {
	return poll(ctx, 50*time.Millisecond, func() error {
		all, err := w.Status(ctx)
		if err != nil {
			return err
		}
		var most uint64
		up := 0
		for _, r := range all {
			if r.Role == "leader" || r.Role == "follower" {
				up++
				most = max(most, r.Applied)
			}
		}
		for _, r := range all {
			if up < replicas || r.Applied+50 < most {
				return fmt.Errorf("the replicas are not level: %+v", all)
			}
		}
		return nil
	})
}

// poll asks until check has nothing to say; else the error is its last word.
func poll(ctx context.Context, every time.Duration, check func() error) error {
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last seen: %w", ctx.Err(), err)
		case <-time.After(every):
		}
	}
}

// A caller is one connection that is kept.
type caller struct {
	batch apiconnect.BatchClient
	http  *http.Transport
	user  string
}

// direct returns a caller that asks one replica and repeats nothing.
func direct(id *transport.Identity, address, user string) *caller {
	t := transport.NewTransport(transport.System{}, id.ClientTLS(transport.RoleReplica))
	return &caller{batch: apiconnect.NewBatchClient(&http.Client{Transport: t}, "https://"+address, transport.Uncompressed()), http: t, user: user}
}

func (c *caller) submit(ctx context.Context, m *api.SubmitRequest) (string, error) {
	req := connect.NewRequest(m)
	req.Header().Set(transport.HeaderUser, c.user)
	req.Header().Set(transport.HeaderRequestID, string(transport.NewRequestID()))
	reply, err := c.batch.Submit(ctx, req)
	if err != nil {
		return "", transport.FromWire(err)
	}
	return reply.Msg.GetJob(), nil
}

// list reads objects and returns how many there were, and the last.
func (c *caller) list(ctx context.Context, m *api.ListRequest) (n int, last *api.Object, err error) {
	req := connect.NewRequest(m)
	req.Header().Set(transport.HeaderUser, c.user)
	stream, err := c.batch.List(ctx, req)
	if err != nil {
		return 0, nil, err
	}
	for stream.Receive() {
		for _, o := range stream.Msg().GetObjects() {
			n, last = n+1, o
		}
	}
	return n, last, errors.Join(stream.Err(), stream.Close())
}

// job returns a submission as qsub makes it: a script, and the usual variables.
func job(text string) *api.SubmitRequest {
	return &api.SubmitRequest{
		Attributes: []*api.Attribute{
			{Name: "Job_Name", Value: "bench"},
			{Name: "Variable_List", Value: "PBS_O_HOME=/home/joe,PBS_O_LANG=en_US.UTF-8,PBS_O_LOGNAME=joe," +
				"PBS_O_PATH=/usr/local/bin:/usr/bin:/bin,PBS_O_SHELL=/bin/bash,PBS_O_WORKDIR=/home/joe/work,PBS_O_SYSTEM=Linux"},
			{Name: "Resource_List", Resource: "walltime", Value: "01:00:00"},
			{Name: "Join_Path", Value: "oe"},
			{Name: "Output_Path", Value: "/dev/null"},
			{Name: "Keep_Files", Value: "n"},
		},
		Script: []byte("#!/bin/sh\n" + text + "\n"),
	}
}

// program returns a submission as that of qsub -- WORDS: no shell reads the user's profile,
// which may take longer than all that is measured.
func program(words ...string) *api.SubmitRequest {
	m := job("")
	m.Script = nil
	m.Attributes = append(m.Attributes, &api.Attribute{Name: "executable", Value: pbs.Wrap(pbs.Executable, words[0])})
	if arguments := pbs.Wrap(pbs.Argument, words[1:]...); arguments != "" {
		m.Attributes = append(m.Attributes, &api.Attribute{Name: "argument_list", Value: arguments})
	}
	return m
}
