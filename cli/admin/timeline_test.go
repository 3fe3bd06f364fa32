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

// accountant has the records of one job.
type accountant struct {
	apiconnect.UnimplementedClusterHandler
	lines []string
}

func (a *accountant) JobRecords(_ context.Context, r *connect.Request[api.JobRecordsRequest], stream *connect.ServerStream[api.JobRecordsReply]) error {
	if err := stream.Send(&api.JobRecordsReply{Job: "1.srv", Zone: "Europe/Berlin", Now: 1826791300, Lacking: true}); err != nil || r.Msg.GetDays() == 1 {
		return err
	}
	for _, l := range a.lines {
		if err := stream.Send(&api.JobRecordsReply{Lines: [][]byte{[]byte(l)}}); err != nil {
			return err
		}
	}
	return nil
}

func TestTimeline(t *testing.T) {
	a := &accountant{lines: []string{
		"11/21/2027 10:00:00;Q;1.srv;user=ann group=g jobname=STDIN queue=workq",
		"11/21/2027 10:00:01;S;1.srv;user=ann group=g jobname=STDIN queue=workq start=1826787601 exec_vnode=(h:ncpus=1)",
	}}
	_, handler := apiconnect.NewClusterHandler(a)
	server := httptest.NewServer(handler)
	defer server.Close()
	for _, c := range []struct {
		o    TimelineOptions
		want string // in what is printed, the file or the error
	}{
		{TimelineOptions{Job: "1", form: form{Columns: 40}}, "h      ###"},
		{TimelineOptions{Job: "1", form: form{Columns: 40}}, "the latest records are not in the files of this replica yet"},
		{TimelineOptions{Job: "1", form: form{SVG: "x.svg"}}, "x.svg <svg"},
		{TimelineOptions{Job: "1", form: form{SVG: "-"}}, "<svg"},
		{TimelineOptions{Job: "1", form: form{JSON: true}}, `"queued": "2027-11-21T10:00:00+01:00"`},
		{TimelineOptions{Job: "1", form: form{JSON: true, SVG: "-"}}, "--json and --svg exclude each other"},
		{TimelineOptions{Job: "1", Days: 1}, "1.srv: no records of this job"},
		{TimelineOptions{Job: "1[]"}, "name a subjob, such as 1[1]"},
		{TimelineOptions{Job: "1[2-3].srv"}, "name a subjob, such as 1[1].srv"},
	} {
		var out strings.Builder
		err := Timeline(t.Context(), &Env{
			Stdout: &out,
			Cluster: func(string) (apiconnect.ClusterClient, error) {
				return apiconnect.NewClusterClient(server.Client(), server.URL), nil
			},
			WriteFile: func(path string, data []byte) error { out.WriteString(path + " " + string(data)); return nil },
		}, c.o)
		got := out.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s, want %s", c.o, got, c.want)
		}
	}
}
