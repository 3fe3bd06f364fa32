package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"rampart/transport/api"
)

// jobs measures the way of /bin/true from the queue to its end on one mom.
func (b *bench) jobs(ctx context.Context) error {
	w, stop, err := b.start(ctx, "--mom", "borg:ncpus=16,mem=16gb")
	if err != nil {
		return err
	}
	defer stop()
	floor, err := shells(ctx, b.few(400))
	if err != nil {
		return err
	}
	n := b.few(600)
	if err := w.scheduling(ctx, "False"); err != nil {
		return err
	}
	if err := w.run(ctx, n); err != nil {
		return err
	}
	began := time.Now()
	if err := w.scheduling(ctx, "True"); err != nil {
		return err
	}
	leader, err := w.replica(ctx, "leader")
	if err != nil {
		return err
	}
	c := direct(w.id, leader.Address, b.user)
	defer c.http.CloseIdleConnections()
	if err := poll(ctx, 20*time.Millisecond, func() error { return c.empty(ctx) }); err != nil {
		return err
	}
	done := perSecond(n, time.Since(began))
	b.note(row{
		fmt.Sprintf("%d jobs of /bin/true from queue to done, one mom of 16 cpus", n), rate(done),
		fmt.Sprintf("OpenPBS 88/s, elsewhere; sh -c /bin/true %s", rate(floor)), ratio(done, 88), ">= 1.3 of OpenPBS",
	})
	return nil
}

func (w *world) scheduling(ctx context.Context, value string) error {
	_, err := w.Output(ctx, "qmgr", "-c", "set server scheduling = "+value)
	return err
}

// run submits n jobs of /bin/true.
func (w *world) run(ctx context.Context, n int) error {
	leader, err := w.replica(ctx, "leader")
	if err != nil {
		return err
	}
	c := direct(w.id, leader.Address, w.user)
	defer c.http.CloseIdleConnections()
	for range n {
		if _, err := c.submit(ctx, program("/bin/true")); err != nil {
			return err
		}
	}
	return nil
}

// empty has nothing to say when the server has no jobs.
func (c *caller) empty(ctx context.Context) error {
	_, server, err := c.list(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"total_jobs"}})
	if err != nil {
		return err
	}
	for _, a := range server.GetAttributes() {
		if n, err := strconv.Atoi(a.GetValue()); a.GetName() == "total_jobs" && (err != nil || n > 0) {
			return fmt.Errorf("%s jobs are left", a.GetValue())
		}
	}
	return nil
}

// shells measures what the machine itself needs for a shell that runs /bin/true.
func shells(ctx context.Context, n int) (float64, error) {
	began := time.Now()
	for range n {
		if err := exec.CommandContext(ctx, "/bin/sh", "-c", "/bin/true; exit 0").Run(); err != nil {
			return 0, err
		}
	}
	return perSecond(n, time.Since(began)), nil
}
