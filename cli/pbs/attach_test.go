package pbs

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// A fakeMom is the mom at a socket of that name. Mom b has job 6, which is not everybody's.
type fakeMom struct {
	apiconnect.UnimplementedTaskManagerHandler
	f    *fakeServer
	name string
}

func (f *fakeServer) tasks(socket string) apiconnect.TaskManagerClient {
	return apiconnect.NewTaskManagerClient(&http.Client{Transport: fakeMom{f: f, name: filepath.Base(socket)}}, "http://mom")
}

// RoundTrip makes the mom an HTTP transport.
func (m fakeMom) RoundTrip(r *http.Request) (*http.Response, error) {
	_, h := apiconnect.NewTaskManagerHandler(m, connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, slog.New(slog.DiscardHandler))))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func (m fakeMom) Attach(_ context.Context, r *connect.Request[api.AttachRequest]) (*connect.Response[api.AttachReply], error) {
	m.f.asked = append(m.f.asked, m.name+" Attach "+compact(r.Msg))
	switch {
	case m.name != "b.tasks" || r.Msg.GetCredential().GetJob() != "6.hosta":
		return nil, pbs.Refuse(pbs.UnknownJob)
	case r.Msg.GetPid() == 1:
		return nil, pbs.Refuse(pbs.Unauthorized)
	}
	return answer(new(api.AttachReply), nil)
}
