package pbs

import (
	"context"
	"slices"
	"time"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// watchAgain is the pause before a watch that broke off goes on.
const watchAgain = 500 * time.Millisecond

// watch follows jobs until each has seen enough or none of those named is left. Once it
// has begun, whatever dies on the other side only makes it go on later, where it was.
func (s *session) watch(ctx context.Context, r *api.WatchRequest, begun bool, each func(*api.WatchReply) (enough bool, err error)) error {
	named := len(r.Names) > 0
	for {
		enough, err := s.watchOnce(ctx, r, &begun, each)
		if enough || named && len(r.Names) == 0 || err != nil && !(begun && cli.Passing(err)) {
			return err
		}
		if err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(watchAgain):
		}
	}
}

// watchOnce is one stream. It leaves in r where the next one goes on.
func (s *session) watchOnce(ctx context.Context, r *api.WatchRequest, begun *bool, each func(*api.WatchReply) (bool, error)) (enough bool, err error) {
	stream, err := s.batch.Watch(ctx, connect.NewRequest(r))
	if err != nil {
		return false, err
	}
	defer stream.Close()
	for stream.Receive() {
		m := stream.Msg()
		if m.Header != nil {
			*begun, r.Epoch, s.server = true, m.Epoch, m.Header.Server
		}
		if enough, err := each(m); enough || err != nil {
			return true, err
		}
		s.strike(r, m)
		switch {
		case m.Resync:
			r.From = 0
		case m.Index > 0:
			r.From = m.Index
		}
	}
	return false, stream.Err()
}

// strike takes off the list what there is no more to tell of.
func (s *session) strike(r *api.WatchRequest, m *api.WatchReply) {
	over := map[string]bool{}
	for _, o := range m.Objects {
		over[o.Name] = o.Refusal != nil || value(o, "job_state") == "F"
	}
	for _, g := range m.Gone {
		over[g.Name] = true
	}
	r.Names = slices.DeleteFunc(r.Names, func(name string) bool {
		id, err := pbs.ParseJobID(name, s.server)
		return over[name] || err == nil && over[string(id)]
	})
}

func value(o *api.Object, name string) string {
	for _, a := range o.Attributes {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}
