package pbs

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// keeper is a server with a reservation, its queue, and a queue that has only such a name.
type keeper struct{ *fakeServer }

func (f keeper) List(ctx context.Context, r *connect.Request[api.ListRequest], stream *connect.ServerStream[api.ListReply]) error {
	var all []*api.Object
	switch r.Msg.Kind {
	case api.ObjectKind_OBJECT_KIND_QUEUE:
		all = []*api.Object{{Name: "workq"}, {Name: "S1"}, {Name: "R5"}}
	case api.ObjectKind_OBJECT_KIND_RESERVATION:
		all = []*api.Object{{Name: "R5.hosta"}}
	default:
		return f.fakeServer.List(ctx, r, stream)
	}
	if len(r.Msg.Names) > 0 {
		all = slices.DeleteFunc(all, func(o *api.Object) bool { return !slices.Contains(r.Msg.Names, o.Name) })
	}
	return stream.Send(&api.ListReply{Objects: all})
}

func (f keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	_, h := apiconnect.NewBatchHandler(f, connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, slog.New(slog.DiscardHandler))))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// Queues of reservations come and go with them: what brings a server back leaves them out, and lists have them.
func TestQmgr_QueuesOfReservations(t *testing.T) {
	server := keeper{newServer(t)}
	for directive, want := range map[string]string{
		"print server": "create queue workq\ncreate queue S1\n", "print queue R5": "create queue R5\n",
		"list queue": "Queue workq\nQueue S1\nQueue R5\n",
	} {
		var out, errs bytes.Buffer
		env := world(server.fakeServer, map[string]string{}, strings.NewReader(""), &out, &errs)
		env.Batch = func(cli.Target) (apiconnect.BatchClient, error) {
			return apiconnect.NewBatchClient(&http.Client{Transport: server}, "http://fake"), nil
		}
		if status := cli.Main(t.Context(), env, []string{"qmgr", "-c", directive}, Commands()); status != 0 {
			t.Fatalf("%s: %d, %s", directive, status, errs.String())
		}
		got := ""
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "create queue") || strings.HasPrefix(line, "Queue ") {
				got += line
			}
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", directive, got, want)
		}
	}
}
