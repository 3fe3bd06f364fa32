package pbs

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"

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
		return nil, pbs.Refuse(pbs.UnknownHost)
	case "s9":
		return nil, pbs.Refuse(pbs.Unauthorized)
	}
	h.f.drained = h.f.drained || r.Msg.Requeue
	return answer(new(api.StopReply), nil)
}

func (h fakeHalt) End(context.Context, *connect.Request[api.EndRequest]) (*connect.Response[api.EndReply], error) {
	return answer(new(api.EndReply), nil)
}
