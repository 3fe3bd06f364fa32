package meter

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

type agent struct {
	apiconnect.UnimplementedAgentHandler
	err error
}

func (a agent) Ping(context.Context, *connect.Request[api.PingRequest]) (*connect.Response[api.PingReply], error) {
	return connect.NewResponse(&api.PingReply{}), a.err
}

type script struct {
	apiconnect.UnimplementedReportHandler
}

func (script) Script(_ context.Context, _ *connect.Request[api.ScriptRequest], s *connect.ServerStream[api.ScriptReply]) error {
	_ = s.Send(&api.ScriptReply{})
	return connect.NewError(connect.CodeNotFound, errors.New("gone"))
}

// TestCalls_ByMethodAndCode: unary calls and streams, done and failed, are on the page
// with the code that the caller saw, and the process is there too.
func TestCalls_ByMethodAndCode(t *testing.T) {
	reg := New("mom", "1.2.3", "0.4.1")
	calls := connect.WithInterceptors(Calls(reg))
	mux := http.NewServeMux()
	mux.Handle(apiconnect.NewAgentHandler(agent{err: connect.NewError(connect.CodeUnavailable, errors.New("no"))}, calls))
	mux.Handle(apiconnect.NewReportHandler(script{}, calls))
	mux.Handle("/metrics", Handler(reg))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	_, err := apiconnect.NewAgentClient(srv.Client(), srv.URL).Ping(t.Context(), connect.NewRequest(&api.PingRequest{}))
	if connect.CodeOf(err) != connect.CodeUnavailable {
		t.Fatal(err)
	}
	stream, err := apiconnect.NewReportClient(srv.Client(), srv.URL).Script(t.Context(), connect.NewRequest(&api.ScriptRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	for stream.Receive() {
		continue
	}
	resp, err := srv.Client().Get(srv.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`rampart_rpc_requests_total{code="unavailable",method="Agent/Ping"} 1`,
		`rampart_rpc_requests_total{code="not_found",method="Report/Script"} 1`,
		`rampart_rpc_duration_seconds_count{method="Agent/Ping"} 1`,
		"rampart_rpc_in_flight_requests 0",
		`rampart_build_info{build="0.4.1",role="mom",version="1.2.3"} 1`,
		"go_goroutines ", "process_open_fds ",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%q is not on the page:\n%s", want, page)
		}
	}
}
