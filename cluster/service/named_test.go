package service

import (
	"context"
	"errors"
	"testing"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// A command means the server that its user named, whatever gateway it came through.
func TestNamed_RefusesAnotherServer(t *testing.T) {
	b := newBench(t)
	resolve := func(_ context.Context, host string) ([]string, error) {
		switch host {
		case "s1", "batch.site.org":
			return []string{"10.0.0.1"}, nil
		case "mail.site.org":
			return []string{"10.0.0.9"}, nil
		}
		return nil, errors.New("no such host")
	}
	asked := 0
	call := Named(b, resolve).WrapUnary(func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
		asked++
		return nil, nil
	})
	for _, c := range []struct {
		server string
		ours   bool
	}{
		{"", true},
		{"default", true},
		{"srv", true},
		{"srv:15001", true},
		{"s1", true},
		{"s1host", true},
		{"s1host.site.org", true},
		{"s1host.site.org:15001", true},
		{"s1:15001", true},
		{"other,s1host", true},
		{"batch.site.org", true},
		{"10.0.0.1", true},
		{"10.0.0.1:15001", true},
		{"other", false},
		{"other,another", false},
		{"mail.site.org", false},
		{"s1:1", false},
		{"10.0.0.1:1", false},
		{"batch.site.org:1", false},
		{"s1hostile", false},
		{":15001", false},
	} {
		r := connect.NewRequest(&api.SubmitRequest{})
		r.Header().Set(transport.HeaderServer, c.server)
		before := asked
		_, err := call(t.Context(), r)
		if ours := asked > before; ours != c.ours || !ours && pbs.CodeOf(err) != pbs.UnknownHost {
			t.Errorf("%q: done %v, %v; want %v", c.server, ours, err, c.ours)
		}
	}
}
