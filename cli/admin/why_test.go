package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// explainer answers the same whatever is asked.
type explainer struct {
	apiconnect.UnimplementedBatchHandler
	reply *api.ExplainReply
}

func (e explainer) Explain(context.Context, *connect.Request[api.ExplainRequest]) (*connect.Response[api.ExplainReply], error) {
	return connect.NewResponse(e.reply), nil
}

// explained returns what is printed of an answer.
func explained(t *testing.T, reply *api.ExplainReply, asJSON bool) string {
	t.Helper()
	var out strings.Builder
	if err := Why(t.Context(), explainerEnv(t, &out, reply), WhyOptions{Job: "7", JSON: asJSON}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// explainerEnv asks an explainer.
func explainerEnv(t *testing.T, out io.Writer, reply *api.ExplainReply) *Env {
	_, handler := apiconnect.NewBatchHandler(explainer{reply: reply})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &Env{Stdout: out, Batch: func(string) (apiconnect.BatchClient, error) {
		return apiconnect.NewBatchClient(server.Client(), server.URL), nil
	}}
}

// reply is an answer about a job with attributes NAME, VALUE...
func replyOf(o *api.Obstacle, list ...string) *api.ExplainReply {
	r := &api.ExplainReply{Job: "7.srv", Now: 1800000000, Scheduling: true, Obstacle: o}
	for i := 0; i < len(list); i += 2 {
		base, res, _ := strings.Cut(list[i], ".")
		r.Attributes = append(r.Attributes, &api.Attribute{Name: base, Resource: res, Value: list[i+1]})
	}
	return r
}

func stamp(seconds int64) string { return time.Unix(seconds, 0).Format(time.DateTime) }

// TestWhy_Queued tells what is in the way, of whom, until when.
func TestWhy_Queued(t *testing.T) {
	r := replyOf(&api.Obstacle{
		Reason: "Insufficient amount of resource: ncpus (R: 8 A: 2 T: 8)", Start: 1800000600, ExecVnode: "(hosta:ncpus=8)", Chunk: "ncpus=8", Chunks: 1, More: 2, Ineligible: 3,
		Nearest: []*api.Obstacle_Nearest{
			{Vnodes: []string{"hosta"}, At: 1800000600, Lacks: []*api.Obstacle_Lack{{Resource: "ncpus", Wants: "8", Free: "2", Total: "8"}}, Holds: []*api.Obstacle_Hold{
				{Kind: "running job", By: "3.srv", What: "ncpus=6", From: 1799999000, Until: 1800000600, Without: 1800000000},
				{Kind: "reservation", By: "R4.srv\x1b[2J", What: "ncpus=1", From: 1800000100, Until: 1800000200},
			}},
			{Vnodes: []string{"hostb"}, Closed: "offline"},
			{Vnodes: []string{"hostc"}, Holds: []*api.Obstacle_Hold{{Kind: "running job", By: "5.srv"}}, Others: 4},
		},
	}, "job_state", "Q", "Resource_List.select", "1:ncpus=8", "Resource_List.place", "free")
	want := `7.srv: it waits: Insufficient amount of resource: ncpus (R: 8 A: 2 T: 8)
it asks for select=1:ncpus=8, place=free, no walltime: it is taken to run for ever
it can start at ` + stamp(1800000600) + ` on (hosta:ncpus=8) at the earliest, if nobody comes before it
nearest to having ncpus=8:
  hosta: 2 of 8 ncpus free, 8 wanted; has room at ` + stamp(1800000600) + `
    running job 3.srv has ncpus=6 until ` + stamp(1800000600) + `; without it the job can start now
    reservation R4.srv?[2J has ncpus=1 from ` + stamp(1800000100) + ` until ` + stamp(1800000200) + `
  hostb: offline
  hostc: in use, and wanted by one alone
    running job 5.srv until nobody knows when
    and 4 others
2 more hosts have no room now
3 hosts can never have it
`
	if got := explained(t, r, false); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
	var form struct {
		Job, State, Says string
		Start            time.Time
		Nearest          []struct {
			Vnodes []string
			At     time.Time
			Holds  []struct{ Kind, By, What string }
		}
	}
	if err := json.Unmarshal([]byte(explained(t, r, true)), &form); err != nil || form.Job != "7.srv" || form.State != "Q" ||
		form.Start.Unix() != 1800000600 || len(form.Nearest) != 3 || form.Nearest[0].Holds[0].By != "3.srv" {
		t.Errorf("as JSON: %+v, %v", form, err)
	}
}

// TestWhy_Sentences says of each state what is so.
func TestWhy_Sentences(t *testing.T) {
	off, again, promised := replyOf(&api.Obstacle{}, "job_state", "Q"), replyOf(&api.Obstacle{}, "job_state", "Q"), &api.Obstacle{Start: 1800000600, Promised: true, Chunk: "ncpus=1"}
	off.Scheduling = false
	further := replyOf(&api.Obstacle{}, "job_state", "Q", "queue", "fastq")
	further.Scheduling, further.Scheduler = false, "fast"
	again.Unconfirmed = []string{"hosta"}
	for _, c := range []struct {
		reply *api.ExplainReply
		want  string
	}{
		{replyOf(nil, "job_state", "R", "stime", "1800000000", "exec_vnode", "(hosta:ncpus=1)"), "7.srv: it runs since " + stamp(1800000000) + " on (hosta:ncpus=1)\n"},
		{
			replyOf(nil, "job_state", "S", "comment", "Suspended by the load of hosta, which is beyond loadStop: r1m"),
			"it is suspended by load, and goes on when the load of its hosts is within loadSched again: Suspended by the load of hosta, which is beyond loadStop: r1m\n",
		},
		{replyOf(nil, "job_state", "S", "exec_vnode", "(hosta:ncpus=1)"), "it goes on when what it gave back of (hosta:ncpus=1) is free again\n"},
		{replyOf(nil, "job_state", "F", "obittime", "1800000000", "Exit_status", "3"), "it is over since " + stamp(1800000000) + ", with exit status 3\n"},
		{replyOf(nil, "job_state", "H", "Hold_Types", "u"), "it is held (u) until somebody releases it\n"},
		{replyOf(nil, "job_state", "H", "Hold_Types", "s", "depend", "afterok:5.srv@srv"), "until what it depends on has happened: afterok:5.srv@srv\n"},
		{replyOf(nil, "job_state", "W", "Execution_Time", "1800000000"), "it waits for its Execution_Time, " + stamp(1800000000) + "\n"},
		{replyOf(nil, "job_state", "Q", "queue", "route"), "it is in queue route, from which the scheduler starts no jobs\n"},
		{replyOf(&api.Obstacle{ExecVnode: "(hosta:ncpus=1)"}, "job_state", "Q"), "vnodes are free for it: the scheduler has not started it yet\nthere is room now on (hosta:ncpus=1)\n"},
		{replyOf(&api.Obstacle{Reason: "no", ExecVnode: "(hosta:ncpus=1)", Counted: []*api.Obstacle_Hold{{Kind: "running job", By: "1.srv", What: "lic=2"}}, CountedMore: 2}, "job_state", "Q"), "it waits: no\nvnodes have room for it now on (hosta:ncpus=1); some of these have to end:\n  running job 1.srv has lic=2 until nobody knows when\n  and 2 others\n"},
		{replyOf(&api.Obstacle{Reason: "no", Never: true, Chunk: "ncpus=9", Ineligible: 3}, "job_state", "Q"), "it can never run: no\n3 hosts can never have it\n"},
		{replyOf(&api.Obstacle{Shut: &api.Obstacle_Hold{Kind: "dedicated time", From: 1800000000}}, "job_state", "Q"), "not for it: dedicated time from " + stamp(1800000000) + "\n"},
		{replyOf(&api.Obstacle{Reason: "no", Shut: &api.Obstacle_Hold{Kind: "nothing may pass the job before it", By: "3.srv"}}, "job_state", "Q"), "it waits: no\nnothing may pass the job before it: 3.srv\n"},
		{replyOf(promised, "job_state", "Q"), "it is expected to start at " + stamp(1800000600) + ": that is kept for it\n"},
		{off, "the server's scheduling is off: no job starts\n"},
		{further, "the scheduling of fast, which plans for queue fastq, is off: no job starts\n"},
		{again, "confirmed by hosta\n"},
	} {
		if got := explained(t, c.reply, false); !strings.Contains(got, c.want) {
			t.Errorf("printed %q, want %q in it", got, c.want)
		}
	}
}

// TestWhy_When asks when the job starts only while it waits, and says what stands against it.
func TestWhy_When(t *testing.T) {
	for _, c := range []struct {
		name, state string
		found       Foreseen
		err         error
		days        uint
		alone       bool   // nobody plays clusters on
		want        string // a line of the answer, or the failure
	}{
		{name: "starts", state: "Q", days: 30, found: Foreseen{Start: time.Unix(1800000600, 0), End: time.Unix(1800004200, 0)}, want: "if every job takes its walltime, and none is added, it starts at " + stamp(1800000600) + ", in 10m0s, and ends by " + stamp(1800004200)},
		{name: "held", state: "H", days: 2, found: Foreseen{Until: time.Unix(1800172800, 0), Why: "its state is H"}, want: "it does not start before " + stamp(1800172800) + ": its state is H"},
		{name: "runs", state: "R", days: 30, want: "it runs since"},
		{name: "refused", state: "Q", days: 30, err: errors.New("Unauthorized Request"), want: "why: 7.srv: --when: Unauthorized Request"},
		{name: "a played cluster", state: "Q", days: 30, alone: true, want: "why: --when: this cluster is played, and has no twin"},
		{name: "no days", state: "Q", days: 0, want: "why: --days: 0, want 1 to 366"},
		{name: "too far", state: "Q", days: 367, want: "why: --days: 367, want 1 to 366"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			env := explainerEnv(t, &out, replyOf(nil, "job_state", c.state))
			env.Foresee = func(_ context.Context, _, job string, days uint) (Foreseen, error) {
				if job != "7.srv" || days != c.days || c.state == "R" {
					t.Errorf("asked for %s, %d days", job, days)
				}
				return c.found, c.err
			}
			if c.alone {
				env.Foresee = nil
			}
			err := Why(t.Context(), env, WhyOptions{Job: "7", When: true, Days: c.days})
			got := out.String()
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
