package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/transport"
	"rampart/transport/api"
)

// release measures how long one vnode after the other takes to be given back by a running job, over a kept
// connection, beside what it consists of: two commits, a round trip to the mother superior, and a
// sync of its disk. An alteration of a queued job is one commit.
func (b *bench) release(ctx context.Context) error {
	n := b.few(100)
	var sister strings.Builder
	sister.WriteString("lendl:ncpus=1,mem=1gb")
	for i := range n {
		fmt.Fprintf(&sister, "/lendl[%d]:ncpus=1,mem=1gb", i)
	}
	w, stop, err := b.start(ctx, "--mom", "borg:ncpus=1,mem=1gb", "--mom", sister.String())
	if err != nil {
		return err
	}
	defer stop()
	leader, err := w.replica(ctx, "leader")
	if err != nil {
		return err
	}
	c := direct(w.id, leader.Address, b.user)
	defer c.http.CloseIdleConnections()
	m := job("sleep 1000")
	m.Attributes = append(m.Attributes, &api.Attribute{Name: "Resource_List", Resource: "select", Value: fmt.Sprintf("%d:ncpus=1", n+2)})
	wide, err := c.submit(ctx, m)
	if err != nil {
		return err
	}
	m = job("true")
	m.Attributes = append(m.Attributes, &api.Attribute{Name: "Hold_Types", Value: "u"})
	held, err := c.submit(ctx, m)
	if err != nil {
		return err
	}
	if err := poll(ctx, 20*time.Millisecond, func() error { return c.hasStarted(ctx, wide) }); err != nil {
		return err
	}
	var released, altered times
	for i := range n { // turn by turn, so that both see the same load
		began := time.Now()
		err := c.asked(ctx, func(ctx context.Context, h func(connect.AnyRequest)) error {
			r := connect.NewRequest(&api.AlterRequest{Job: held, Changes: []*api.Attribute{{Name: "Priority", Value: strconv.Itoa(i)}}})
			h(r)
			_, err := c.batch.Alter(ctx, r)
			return err
		})
		altered = append(altered, time.Since(began))
		if err != nil {
			return err
		}
		began = time.Now()
		err = c.asked(ctx, func(ctx context.Context, h func(connect.AnyRequest)) error {
			r := connect.NewRequest(&api.ReleaseNodesRequest{Job: wide, Vnodes: fmt.Sprintf("lendl[%d]", i)})
			h(r)
			_, err := c.batch.ReleaseNodes(ctx, r)
			return err
		})
		released = append(released, time.Since(began))
		if err != nil {
			return err
		}
	}
	floor := 2*altered.at(0.5) + b.syncs().at(0.5)
	b.note(row{
		fmt.Sprintf("a vnode released, as the caller waits for it (%d of a job of %d)", n, n+2), released.millis(),
		fmt.Sprintf("two alterations of a queued job and a sync %s", ms(floor)),
		ratio(float64(released.at(0.5)), float64(floor)), "<= 1.5",
	})
	b.note(row{"an alteration of a queued job: one commit", altered.millis(), "", "", ""})
	return nil
}

// asked makes a request with the headers of one.
func (c *caller) asked(ctx context.Context, do func(ctx context.Context, headers func(connect.AnyRequest)) error) error {
	return transport.FromWire(do(ctx, func(r connect.AnyRequest) {
		r.Header().Set(transport.HeaderUser, c.user)
		r.Header().Set(transport.HeaderRequestID, string(transport.NewRequestID()))
	}))
}

// hasStarted has nothing to say when the program of a job runs.
func (c *caller) hasStarted(ctx context.Context, id string) error {
	_, last, err := c.list(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: []string{id}, Attributes: []string{"substate"}})
	if err != nil {
		return err
	}
	for _, a := range last.GetAttributes() {
		if a.GetName() == "substate" && a.GetValue() == "42" {
			return nil
		}
	}
	return errors.New(id + " has not started")
}
