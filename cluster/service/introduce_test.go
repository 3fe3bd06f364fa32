package service

import (
	"context"
	"errors"
	"testing"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// teller is a mom that registers when it is asked to, or does not answer.
type teller struct {
	apiconnect.AgentClient
	b      *bench
	silent bool
	asked  int
}

func (m *teller) Ping(_ context.Context, r *connect.Request[api.PingRequest]) (*connect.Response[api.PingReply], error) {
	if m.silent {
		return nil, errors.New("nobody answers")
	}
	if r.Msg.GetRegister() {
		m.asked++
		m.b.host("hosta", "hosta")
	}
	return connect.NewResponse(&api.PingReply{Host: "hosta"}), nil
}

// A vnode that is made by qmgr is free at once when its mom is up; one whose mom does not answer
// waits for its next renewal, and one of no mom for that.
func TestManage_AVnodeIsFreeAtOnce(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	mom := &teller{b: b}
	b.Batch.Agent = func(string, string) apiconnect.AgentClient { return mom }
	manage := func(verb api.Verb, name, want string) {
		t.Helper()
		r := &api.ManageRequest{Kind: api.ObjectKind_OBJECT_KIND_VNODE, Verb: verb, Name: name}
		if _, err := b.Batch.Manage(b.as("boss@h"), request(r, "")); err != nil {
			t.Fatal(err)
		}
		if v, ok := b.store.View().Vnode("hosta"); ok && v.State() != want {
			t.Errorf("%s of %s: hosta is %s, want %s", verb, name, v.State(), want)
		}
	}
	manage(api.Verb_VERB_DELETE, "hosta", "")
	manage(api.Verb_VERB_CREATE, "hosta", "free")
	manage(api.Verb_VERB_CREATE, "elsewhere", "free")
	if mom.asked != 1 {
		t.Errorf("the mom was asked %d times", mom.asked)
	}
	manage(api.Verb_VERB_DELETE, "hosta", "")
	mom.silent = true
	manage(api.Verb_VERB_CREATE, "hosta", "state-unknown,down")
}
