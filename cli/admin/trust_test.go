package admin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// trustStub answers as replicas do, step by step.
type trustStub struct {
	apiconnect.UnimplementedTrustHandler
	ca     []*api.TurnCAReply
	gossip []*api.TurnGossipKeyReply
	ways   []api.TurnCARequest_Way
}

func (s *trustStub) TurnCA(_ context.Context, r *connect.Request[api.TurnCARequest]) (*connect.Response[api.TurnCAReply], error) {
	s.ways = append(s.ways, r.Msg.GetWay())
	next := s.ca[0]
	if len(s.ca) > 1 {
		s.ca = s.ca[1:]
	}
	return connect.NewResponse(next), nil
}

func (s *trustStub) TurnGossipKey(context.Context, *connect.Request[api.TurnGossipKeyRequest]) (*connect.Response[api.TurnGossipKeyReply], error) {
	next := s.gossip[0]
	if len(s.gossip) > 1 {
		s.gossip = s.gossip[1:]
	}
	return connect.NewResponse(next), nil
}

func (s *trustStub) RevokeCertificate(_ context.Context, r *connect.Request[api.RevokeCertificateRequest]) (*connect.Response[api.RevokeCertificateReply], error) {
	if r.Msg.GetHost() == "nohost" {
		return nil, errors.New("no certificate")
	}
	return connect.NewResponse(&api.RevokeCertificateReply{Role: r.Msg.GetRole(), GossipTurning: r.Msg.GetRole() != "submit"}), nil
}

func trustEnv(s *trustStub) (*Env, *strings.Builder) {
	var out strings.Builder
	return &Env{
		Stdout: &out, Trust: func(string) (apiconnect.TrustClient, error) { return s, nil },
		WithRequestID: func(ctx context.Context) context.Context { return ctx },
	}, &out
}

func TestRotateCA_WaitsAndTells(t *testing.T) {
	step := func(s transport.RootStep, waiting ...string) *api.TurnCAReply {
		return &api.TurnCAReply{Step: uint64(s), Waiting: waiting}
	}
	for name, c := range map[string]struct {
		way     api.TurnCARequest_Way
		replies []*api.TurnCAReply
		wait    time.Duration
		want    string
	}{
		"to the end":       {api.TurnCARequest_WAY_BEGIN, []*api.TurnCAReply{step(transport.RootsLearned), step(transport.RootsSettled)}, time.Minute, "the old CA is dropped"},
		"not to the end":   {api.TurnCARequest_WAY_BEGIN, []*api.TurnCAReply{step(transport.RootsLeaves, "hosta")}, 0, "when these have followed: hosta"},
		"look":             {api.TurnCARequest_WAY_LOOK, []*api.TurnCAReply{step(transport.RootsAll)}, time.Minute, "replicas get certificates"},
		"look at nothing":  {api.TurnCARequest_WAY_LOOK, []*api.TurnCAReply{step(transport.RootsSettled)}, time.Minute, "not being replaced"},
		"nothing to hurry": {api.TurnCARequest_WAY_FINISH, []*api.TurnCAReply{step(transport.RootsSettled)}, time.Minute, "not being replaced"},
		"given up":         {api.TurnCARequest_WAY_ABANDON, []*api.TurnCAReply{step(transport.RootsSettled)}, time.Minute, "there is no new CA"},
	} {
		s := &trustStub{ca: c.replies}
		env, out := trustEnv(s)
		if err := RotateCA(t.Context(), env, "", c.way, c.wait); err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %q, %v; want %q", name, out, err, c.want)
		}
		if s.ways[0] != c.way {
			t.Errorf("%s: asked for %v", name, s.ways)
		}
		for _, way := range s.ways[1:] {
			if way != api.TurnCARequest_WAY_LOOK {
				t.Errorf("%s: began twice", name)
			}
		}
	}
}

func TestRotateGossipKey_WaitsAndTells(t *testing.T) {
	s := &trustStub{gossip: []*api.TurnGossipKeyReply{{Keys: 2, Waiting: []string{"hosta"}}, {Keys: 1}}}
	env, out := trustEnv(s)
	if err := RotateGossipKey(t.Context(), env, "", false, time.Minute); err != nil || !strings.Contains(out.String(), "the old one is dropped") {
		t.Errorf("%q, %v", out, err)
	}
	s.gossip = []*api.TurnGossipKeyReply{{Keys: 2, Waiting: []string{"hosta", "s2"}}}
	env, out = trustEnv(s)
	if err := RotateGossipKey(t.Context(), env, "", true, time.Minute); err != nil || !strings.Contains(out.String(), "hosta, s2") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestRevokeCertificate_TellsWhatIsLeftToDo(t *testing.T) {
	for role, want := range map[string]string{
		"replica": "rampart cluster remove h", "mom": "rampart host forget h", "submit": "h is cut off as submit\n",
	} {
		env, out := trustEnv(&trustStub{})
		if err := RevokeCertificate(t.Context(), env, "", "h", role); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %q, %v", role, out, err)
		}
		if strings.Contains(out.String(), "gossip key") != (role != "submit") {
			t.Errorf("%s: %q", role, out)
		}
	}
	env, _ := trustEnv(&trustStub{})
	if err := RevokeCertificate(t.Context(), env, "", "nohost", ""); err == nil {
		t.Error("no error for a host that is not there")
	}
}

func TestTables_OfTokensAndCertificates(t *testing.T) {
	var out strings.Builder
	now := time.Unix(1000, 0)
	err := errors.Join(
		tokenTable(&out, []*api.TokenInfo{{Id: "0123456789abcdef0123", Role: "mom", Reusable: true, Submit: true, Expires: 2000}}),
		certTable(&out, []*api.CertificateInfo{
			{Host: "a", Role: "mom", Key: "k1", Enrolled: 1, Expires: 2000}, {Host: "b", Role: "mom", Key: "k2", Expires: 999}, {Host: "c", Role: "mom", Revoked: 5},
		}, now))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0123456789abcdef  mom   any", "reusable submit", "good\n", "expired\n", "revoked "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &out)
		}
	}
}
