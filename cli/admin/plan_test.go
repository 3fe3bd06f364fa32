package admin

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// planner has one vnode that is free and one that is not, a job that runs, one that waits and a reservation.
type planner struct {
	apiconnect.UnimplementedBatchHandler
}

func (planner) List(_ context.Context, r *connect.Request[api.ListRequest], stream *connect.ServerStream[api.ListReply]) error {
	object := func(name string, list ...string) *api.Object {
		o := &api.Object{Name: name}
		for i := 0; i < len(list); i += 2 {
			base, res, _ := strings.Cut(list[i], ".")
			o.Attributes = append(o.Attributes, &api.Attribute{Name: base, Resource: res, Value: list[i+1]})
		}
		return o
	}
	reply := &api.ListReply{Header: &api.ListHeader{Timestamp: 1800000000}}
	switch r.Msg.GetKind() {
	case api.ObjectKind_OBJECT_KIND_VNODE:
		reply.Objects = []*api.Object{object("hosta", "state", "job-busy"), object("hostb", "state", "offline")}
	case api.ObjectKind_OBJECT_KIND_JOB:
		if strings.Contains(r.Msg.GetWhere()[0].GetValue(), "R") {
			reply.Objects = []*api.Object{object("1.srv", "exec_vnode", "(hosta:ncpus=1)", "stime", "1799999000", "Resource_List.walltime", "01:00:00")}
			break
		}
		reply.Objects = []*api.Object{object("2.srv", "estimated.start_time", "1800010000", "estimated.exec_vnode", "(hosta:ncpus=1)"), object("3.srv")}
	case api.ObjectKind_OBJECT_KIND_RESERVATION:
		reply.Objects = []*api.Object{object("R4.srv", "resv_nodes", "(hosta:ncpus=1)", "reserve_start", "1800004000", "reserve_end", "1800006000")}
		if r.Msg.GetOccurrencesUntil() > 1800010000 {
			reply.Objects[0].Occurrences = []*api.Occurrence{{Start: 1800010000, End: 1800012000, Nodes: "(hosta:ncpus=1)"}}
		}
	}
	return stream.Send(reply)
}

func TestPlan(t *testing.T) {
	_, handler := apiconnect.NewBatchHandler(planner{})
	server := httptest.NewServer(handler)
	defer server.Close()
	for _, c := range []struct {
		o    PlanOptions
		want string // in what is printed, the file or the error
	}{
		{PlanOptions{Hours: 4, form: form{Columns: 60}}, "#"},
		{PlanOptions{Hours: 4, form: form{Columns: 60}}, "hostb  xxxx"},
		{PlanOptions{Hours: 4, form: form{Columns: 60}}, "R R4.srv"},
		{PlanOptions{Hours: 4, form: form{Columns: 60}}, "+ 2.srv"},
		{PlanOptions{Hours: 4, form: form{Columns: 60}}, "R R4.srv           from " + stamp(1800010000) + " until " + stamp(1800012000)},
		{PlanOptions{Hours: 4, form: form{SVG: "x.svg"}}, "x.svg <svg"},
		{PlanOptions{Hours: 4, form: form{JSON: true}}, `"kind": "reservation"`},
		{PlanOptions{Hours: 4, form: form{JSON: true, SVG: "-"}}, "exclude each other"},
		{PlanOptions{}, "--hours: 0, want 1 to"},
		{PlanOptions{Hours: 1e6}, "--hours: 1000000, want 1 to"},
	} {
		var out strings.Builder
		err := Plan(t.Context(), &Env{
			Stdout: &out,
			Batch: func(string) (apiconnect.BatchClient, error) {
				return apiconnect.NewBatchClient(server.Client(), server.URL), nil
			},
			WriteFile: func(path string, data []byte) error {
				out.WriteString(path + " " + string(data))
				return nil
			},
		}, c.o)
		if err != nil {
			out.WriteString(err.Error())
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%+v prints %q, want %q in it", c.o, out.String(), c.want)
		}
	}
}
