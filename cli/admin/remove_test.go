package admin

import (
	"context"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

type remover struct {
	apiconnect.UnimplementedMembersHandler
	asked   string
	pending bool
}

func (r *remover) RemoveReplica(_ context.Context, q *connect.Request[api.RemoveReplicaRequest]) (*connect.Response[api.RemoveReplicaReply], error) {
	r.asked = q.Msg.GetReplica()
	return connect.NewResponse(&api.RemoveReplicaReply{Pending: r.pending, GossipTurning: true}), nil
}

func (r *remover) RTTClass(_ context.Context, q *connect.Request[api.RTTClassRequest]) (*connect.Response[api.RTTClassReply], error) {
	r.asked = q.Msg.GetRttClass()
	return connect.NewResponse(&api.RTTClassReply{RttClass: "wan", Waiting: []string{"s1", "s3"}}), nil
}

func TestRTTClass_SaysWhoIsToBeRestarted(t *testing.T) {
	var out strings.Builder
	r := &remover{}
	env := &Env{
		Stdout: &out, Members: func(string) (apiconnect.MembersClient, error) { return r, nil },
		WithRequestID: func(ctx context.Context) context.Context { return ctx },
	}
	if err := RTTClass(t.Context(), env, "", "wan"); err != nil {
		t.Fatal(err)
	}
	if r.asked != "wan" || out.String() != "wan\nrestart these one after the other: s1, s3\n" {
		t.Errorf("asked for %s:\n%s", r.asked, out.String())
	}
}

func TestRemove_SaysWhatIsLeftToDo(t *testing.T) {
	for pending, want := range map[bool]string{false: "s3 is removed\n", true: "s3 has no vote any more; it is cut off within seconds\n"} {
		var out strings.Builder
		r := &remover{pending: pending}
		env := &Env{
			Stdout: &out, Members: func(string) (apiconnect.MembersClient, error) { return r, nil },
			WithRequestID: func(ctx context.Context) context.Context { return ctx },
		}
		if err := RemoveReplica(t.Context(), env, "", "s3"); err != nil {
			t.Fatal(err)
		}
		if r.asked != "s3" || !strings.HasPrefix(out.String(), want) || !strings.Contains(out.String(), "rotate-gossip-key --look") {
			t.Errorf("asked for %s:\n%s", r.asked, out.String())
		}
	}
}
