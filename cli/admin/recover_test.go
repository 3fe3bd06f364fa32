package admin

import (
	"context"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// survivor answers as the replicas do during a recovery.
type survivor struct {
	apiconnect.UnimplementedRecoveryHandler
	apiconnect.ClusterClient
	asked *api.RecoverRequest
	polls int
}

func (s *survivor) Recover(_ context.Context, q *connect.Request[api.RecoverRequest]) (*connect.Response[api.RecoverReply], error) {
	s.asked = q.Msg
	return connect.NewResponse(&api.RecoverReply{
		Survivors: []*api.LogEnd{{ServerId: "s1.a", Index: 12, Term: 3}, {ServerId: "s4.b", Index: 11, Term: 3}},
		Lost:      []string{"s2.c", "s3.d"}, Epoch: 77, Committed: 10, UnixNano: 1e18,
	}), nil
}

// Status tells at first of the lost ones.
func (s *survivor) Status(context.Context, *connect.Request[api.StatusRequest]) (*connect.Response[api.StatusReply], error) {
	out := &api.StatusReply{Replicas: []*api.ReplicaStatus{{Name: "s1", ServerId: "s1.a", Role: "leader", AppliedIndex: 14}}}
	if s.polls++; s.polls == 1 {
		out.Replicas = append(out.Replicas, &api.ReplicaStatus{Name: "s2", ServerId: "s2.c", Role: "unreachable"})
	}
	return connect.NewResponse(out), nil
}

func recoverWith(t *testing.T, args ...string) (*survivor, string, error) {
	t.Helper()
	var out strings.Builder
	s := &survivor{}
	env := &Env{
		Stdout:   &out,
		Recovery: func(string) (apiconnect.RecoveryClient, error) { return s, nil },
		Cluster:  func(string) (apiconnect.ClusterClient, error) { return s, nil },
	}
	app := &cli.App{Writer: &out, Commands: Commands(env), ExitErrHandler: func(*cli.Context, error) {}}
	err := app.RunContext(t.Context(), append([]string{"rampart", "cluster", "recover"}, args...))
	return s, out.String(), err
}

func TestRecover_SaysWhatItDoes(t *testing.T) {
	s, out, err := recoverWith(t, "--lost", "s2,s3")
	if err != nil || !slices.Equal(s.asked.GetLost(), []string{"s2", "s3"}) || s.asked.GetLook() {
		t.Fatalf("asked for %v: %v", s.asked, err)
	}
	for _, want := range []string{
		"s1: its log ends at index 12 of term 3: goes on\n", "s4: its log ends at index 11 of term 3: begins anew",
		"lost: s2, s3\n", "entries 11 to 12", "2001-09-09T01:46:40Z", "recovered: s1 leads, epoch 77\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if s.polls != 2 {
		t.Errorf("the status was asked %d times", s.polls)
	}
}

func TestRecover_LooksOrWantsNames(t *testing.T) {
	s, out, err := recoverWith(t, "--look")
	if err != nil || !s.asked.GetLook() || strings.Contains(out, "recovered") || s.polls != 0 {
		t.Errorf("looked with %v, %v:\n%s", s.asked, err, out)
	}
	for _, args := range [][]string{nil, {"--lost", ""}, {"--lost", "s2", "s3"}} {
		if s, _, err := recoverWith(t, args...); err == nil || s.asked != nil {
			t.Errorf("%q was asked for: %v", args, s.asked)
		}
	}
}
