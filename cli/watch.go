package cli

import (
	"context"
	"slices"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/pause"
)

// watchAgain is the pause before a watch that broke off goes on.
const watchAgain = 500 * time.Millisecond

// Watch follows jobs until each has seen enough or none of those named is left. Once it
// has begun, whatever dies on the other side only makes it go on later, where it was.
func Watch(ctx context.Context, batch apiconnect.BatchClient, r *api.WatchRequest, begun bool, each func(*api.WatchReply) (enough bool, err error)) error {
	w := &watch{batch: batch}
	named := len(r.Names) > 0
	for {
		enough, err := w.once(ctx, r, &begun, each)
		if enough || named && len(r.Names) == 0 || err != nil && !(begun && Passing(err)) {
			return err
		}
		if err == nil {
			continue
		}
		if !pause.For(ctx, watchAgain) {
			return context.Cause(ctx)
		}
	}
}

// A watch is what the streams of one Watch share.
type watch struct {
	batch  apiconnect.BatchClient
	server string // as it has said
}

// once is one stream. It leaves in r where the next one goes on.
func (w *watch) once(ctx context.Context, r *api.WatchRequest, begun *bool, each func(*api.WatchReply) (bool, error)) (enough bool, err error) {
	stream, err := w.batch.Watch(ctx, connect.NewRequest(r))
	if err != nil {
		return false, err
	}
	defer stream.Close()
	for stream.Receive() {
		m := stream.Msg()
		if m.Header != nil {
			*begun, r.Epoch, w.server = true, m.Epoch, m.Header.Server
		}
		if enough, err := each(m); enough || err != nil {
			return true, err
		}
		w.strike(r, m)
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
func (w *watch) strike(r *api.WatchRequest, m *api.WatchReply) {
	over := map[string]bool{}
	for _, o := range m.Objects {
		over[o.Name] = o.Refusal != nil || Value(o, "job_state") == "F"
	}
	for _, g := range m.Gone {
		over[g.Name] = true
	}
	r.Names = slices.DeleteFunc(r.Names, func(name string) bool {
		id, err := pbs.ParseJobID(name, w.server)
		return over[name] || err == nil && over[string(id)]
	})
}

// Value returns an attribute of an object, empty if it has none.
func Value(o *api.Object, name string) string {
	for _, a := range o.Attributes {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Refusal returns why the server does not show an object.
func Refusal(o *api.Object) *pbs.Error {
	return &pbs.Error{Code: pbs.Code(o.Refusal.Code), Message: o.Refusal.Message}
}
