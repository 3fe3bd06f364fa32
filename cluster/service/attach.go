package service

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// TerminalStream is the terminal of a job's owner.
type TerminalStream = connect.BidiStream[api.TerminalUp, api.TerminalDown]

// Attach connects the terminal of a job's owner to its session: qsub -I. It is served by
// any replica; one that ends tells the terminal to come back by another.
func (b *Batch) Attach(ctx context.Context, stream *TerminalStream) error {
	first, err := stream.Receive()
	if err != nil {
		return err
	}
	j, address, err := b.attachable(ctx, first.GetJob())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	session := b.Agent(string(j.LastRun().MS), address).Terminal(ctx)
	defer session.CloseRequest() // the end of ctx alone does not reach a mom to which nothing is being said
	first.Job, first.RunCount = string(j.ID), uint32(j.RunCount)
	if err := session.Send(first); err != nil {
		return connect.NewError(connect.CodeUnavailable, err)
	}
	ended, said := make(chan error, 2), make(chan struct{})
	go func() { ended <- passUp(stream, session) }()
	go func() {
		defer close(said)
		ended <- passDown(stream, session)
	}()
	select {
	case err = <-ended:
	case <-transport.Stopping(ctx):
		err = cluster.ErrNotLeader
	}
	cancel()
	_ = session.CloseRequest()
	select { // what is being said is said before the end of the stream
	case <-said:
	case <-time.After(lastWords):
	}
	return err
}

// lastWords bounds the wait for a terminal to take what is being said to it.
const lastWords = 2 * time.Second

func passUp(stream *TerminalStream, session *connect.BidiStreamForClient[api.TerminalUp, api.TerminalDown]) error {
	for {
		msg, err := stream.Receive()
		if err != nil {
			return err
		}
		if err := session.Send(&api.TerminalUp{Frame: msg.GetFrame()}); err != nil {
			return connect.NewError(connect.CodeUnavailable, err)
		}
	}
}

func passDown(stream *TerminalStream, session *connect.BidiStreamForClient[api.TerminalUp, api.TerminalDown]) error {
	for {
		msg, err := session.Receive()
		if err != nil {
			return fromMom(err)
		}
		if err := stream.Send(msg); err != nil {
			return err
		}
	}
}

// fromMom passes a mom's refusal on. Whatever else ends a connection to a mom, another may
// go well.
func fromMom(err error) error {
	if refusal, ok := errors.AsType[*pbs.Error](transport.FromWire(err)); ok {
		return refusal
	}
	return connect.NewError(connect.CodeUnavailable, err)
}

// attachable returns the running job that its owner asks for, and where its mom is. A
// state that lags behind does not refuse.
func (b *Batch) attachable(ctx context.Context, name string) (*state.Job, string, error) {
	v, err := b.Replica.Read(ctx, cluster.Stale)
	if err != nil {
		return nil, "", err
	}
	j, address, err := b.attachableIn(ctx, v, name)
	if err == nil {
		return j, address, nil
	}
	if v, err = b.Replica.Read(ctx, cluster.Fresh); err != nil {
		return nil, "", err
	}
	return b.attachableIn(ctx, v, name)
}

func (b *Batch) attachableIn(ctx context.Context, v *state.View, name string) (*state.Job, string, error) {
	p, err := b.person(ctx, v)
	if err != nil {
		return nil, "", err
	}
	id, err := jobID(v, name)
	if err != nil {
		return nil, "", err
	}
	j, ok := v.Job(id)
	if !ok {
		return nil, "", pbs.Refuse(pbs.UnknownJob)
	}
	if !p.owns(j) { // managers, too: what is typed is the owner's
		return nil, "", pbs.Refuse(pbs.Unauthorized)
	}
	interactive, _ := j.Attrs.Get("interactive", "")
	h, known := v.Host(j.LastRun().MS)
	if interactive != "True" || !j.Live() || !known || h.Address == "" || b.Agent == nil {
		return nil, "", pbs.Refuse(pbs.BadState)
	}
	return j, h.Address, nil
}
