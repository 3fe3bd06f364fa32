package dropin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/server"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
	"rampart/transport/client"
)

// A schedServer asks the replica of this host about the scheduler.
type schedServer struct {
	asker *client.Client // nil: this host has no replica
	call  *call
	sched string // whose attributes they are
}

// errRefused is a setting that the server does not take.
var errRefused = errors.New("refused")

// askWithin bounds a question: SIGHUP and the end wait behind it.
const askWithin = 5 * time.Second

func newSchedServer(c *call) *schedServer {
	s := &schedServer{call: c, sched: state.DefaultScheduler}
	if c.further() {
		s.sched = c.options["I"]
	}
	_ = s.open() // whoever asks tries again
	return s
}

func (s *schedServer) close() {
	if s.asker != nil {
		s.asker.Close()
	}
}

// open finds the replica, which may have been made since.
func (s *schedServer) open() error {
	if s.asker != nil {
		return nil
	}
	of := s.call.home
	if s.call.further() { // -d is where its own files are
		of = home.Home(home.Of())
	}
	replica, err := server.Load(of)
	if err == nil {
		s.asker = client.New(client.Options{Replicas: []string{"unix:" + of.Gateway(replica.Host)}, Budget: askWithin})
	}
	return err
}

// attributes returns the attributes of the scheduler, as list sched shows them.
func (s *schedServer) attributes(ctx context.Context) (map[string]string, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	stream, err := s.asker.Batch().List(ctx, connect.NewRequest(&api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SCHED, Names: []string{s.sched}}))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	all := map[string]string{}
	for stream.Receive() {
		for _, o := range stream.Msg().GetObjects() {
			if r := o.GetRefusal(); r != nil {
				return nil, &pbs.Error{Code: pbs.Code(r.GetCode()), Message: r.GetMessage()}
			}
			for _, a := range o.GetAttributes() {
				all[a.GetName()] = a.GetValue()
			}
		}
	}
	return all, stream.Err()
}

// set sets an attribute of the scheduler, or unsets it with the empty value.
func (s *schedServer) set(ctx context.Context, name, value string) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	verb := api.Verb_VERB_SET
	if value == "" {
		verb = api.Verb_VERB_UNSET
	}
	_, err := s.asker.Batch().Manage(client.WithRequestID(ctx, client.NewRequestID()), connect.NewRequest(&api.ManageRequest{
		Verb: verb, Kind: api.ObjectKind_OBJECT_KIND_SCHED, Name: s.sched, Changes: []*api.Attribute{{Name: name, Value: value}},
	}))
	if refusal, ok := errors.AsType[*pbs.Error](err); ok && refusal.Code != pbs.NoQuorum && refusal.Code != pbs.UnknownResult {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}
