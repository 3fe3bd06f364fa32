package service

import (
	"slices"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// rejections are the lines of refused requests.
type rejections []string

func (l *rejections) Write(_ time.Time, event uint16, class, object, text string) error {
	if event == pbs.LogDebug && class+";"+object == "Req;req_reject" {
		*l = append(*l, text)
	}
	return nil
}

// Who asks for what he does not get is in the log, once for a request, by PBS's number of it (specification: breadth 2.3).
func TestRejected_Status(t *testing.T) {
	b := newBench(t)
	b.mustSubmit("ann@h")
	var log rejections
	b.Batch.Log, b.Halt.Log = &log, &log
	ask := func(r *api.ListRequest) {
		t.Helper()
		_ = b.Batch.listed(b.as("ann@h"), r, func(*api.ListReply) error { return nil })
	}
	jobs := func(r *api.ListRequest) *api.ListRequest {
		r.Kind = api.ObjectKind_OBJECT_KIND_JOB
		return r
	}
	for _, c := range []struct {
		ask  func()
		want string
	}{
		{func() { ask(jobs(&api.ListRequest{Names: []string{"0"}})) }, ""},
		{func() { ask(jobs(&api.ListRequest{Names: []string{"0", "98", "99"}})) }, "code=15001, aux=0, type=19"},
		{func() { ask(jobs(&api.ListRequest{Queues: []string{"nosuch"}})) }, "code=15018, aux=0, type=19"},
		{func() { ask(&api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Names: []string{"nosuch"}}) }, "code=15018, aux=0, type=20"},
		{func() { ask(&api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_VNODE, Names: []string{"nosuch"}}) }, "code=15062, aux=0, type=58"},
		{func() { ask(jobs(&api.ListRequest{Where: []*api.Criterion{{Name: "nosuch"}}})) }, "code=15002, aux=0, type=51"},
		{func() { _, _ = b.Halt.Stop(b.as("ann@h"), request(&api.StopRequest{}, "")) }, "code=15007, aux=0, type=17"},
	} {
		log = nil
		c.ask()
		var want []string
		if c.want != "" {
			want = []string{"Reject reply " + c.want + ", from ann@h"}
		}
		if !slices.Equal(log, want) {
			t.Errorf("the log has %q, want %q", log, want)
		}
	}
}
