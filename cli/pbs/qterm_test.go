package pbs

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// A fakeHalt notes who is to end. There is no replica s8, and s9 is not for the asker to end.
type fakeHalt struct{ f *fakeServer }

func (f *fakeServer) halt(cli.Target) (apiconnect.HaltClient, error) {
	return apiconnect.NewHaltClient(&http.Client{Transport: fakeHalt{f}}, "http://fake", connect.WithInterceptors(noting{f})), nil
}

// RoundTrip makes the server an HTTP transport.
func (h fakeHalt) RoundTrip(r *http.Request) (*http.Response, error) {
	_, handler := apiconnect.NewHaltHandler(h, connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, slog.New(slog.DiscardHandler))))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Result(), nil
}

func (h fakeHalt) Stop(_ context.Context, r *connect.Request[api.StopRequest]) (*connect.Response[api.StopReply], error) {
	switch r.Msg.Replica {
	case "s8":
		return nil, pbs.Refuse(pbs.NoServer)
	case "s9":
		return nil, pbs.Refuse(pbs.Unauthorized)
	}
	h.f.drained, h.f.momsEnd = h.f.drained || r.Msg.Requeue, h.f.momsEnd || r.Msg.Moms
	out := &api.StopReply{Ending: h.f.ending}
	if r.Msg.Moms {
		out.Unheard = h.f.unheard
	}
	return answer(out, nil)
}

func (h fakeHalt) End(context.Context, *connect.Request[api.EndRequest]) (*connect.Response[api.EndReply], error) {
	return answer(new(api.EndReply), nil)
}

// TestQterm_WaitsForTheEnd: qterm returns when nobody serves at the addresses of those that end, and
// names who still does when its patience is over.
func TestQterm_WaitsForTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		stays string // the address at which somebody goes on
		said  string
	}{
		"all end":       {args: []string{"qterm"}},
		"named ones":    {args: []string{"qterm", "s1", "s2"}},
		"one goes on":   {args: []string{"qterm"}, stays: "h2:1", said: "qterm: server s2 at h2:1 has not ended in 30s, or cannot be reached\n"},
		"one that does": {args: []string{"qterm", "s2"}, stays: "h2:1", said: "qterm: server s2 at h2:1 has not ended in 30s, or cannot be reached\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t)
				server.ending = []*api.EndingReplica{{Name: "s1", Address: "h1:1"}, {Name: "s2", Address: "h2:1"}}
				began := time.Now()
				said := new(bytes.Buffer)
				env := world(server, map[string]string{"PBS_CONF_FILE": "pbs.conf"}, strings.NewReader(""), io.Discard, said)
				env.Now = time.Now
				env.Gone = func(_ context.Context, address string) bool {
					return address != c.stays && time.Since(began) >= 4*time.Second
				}
				status := cli.Main(t.Context(), env, c.args, Commands())
				took := time.Since(began)
				if said.String() != c.said || (status != 0) != (c.stays != "") || took < 4*time.Second || c.stays == "" && took > 5*time.Second {
					t.Errorf("status %d after %s: %q", status, took, said)
				}
			})
		})
	}
}

// TestQterm_Moms: -m ends the moms with all replicas, and names the hosts whose moms were not told; with one replica it ends nothing.
func TestQterm_Moms(t *testing.T) {
	for _, c := range []struct {
		args []string
		said string
		asks bool
	}{
		{[]string{"qterm", "-m"}, "qterm: the mom of hostb could not be told to end\n", true},
		{[]string{"qterm", "-m", "s2"}, "qterm: No support for requested service: -m: moms serve all replicas, and end with all of them\n", false},
	} {
		server := newServer(t)
		server.unheard = []string{"hostb"}
		said := new(bytes.Buffer)
		env := world(server, map[string]string{"PBS_CONF_FILE": "pbs.conf"}, strings.NewReader(""), io.Discard, said)
		status := cli.Main(t.Context(), env, c.args, Commands())
		if said.String() != c.said || status == 0 || server.momsEnd != c.asks {
			t.Errorf("%v: status %d, %q, the moms end: %t", c.args, status, said, server.momsEnd)
		}
	}
}
