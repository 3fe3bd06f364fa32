package service

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
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

// What has come is in the log by PBS's number of the request, whatever comes of it.
func TestReceived(t *testing.T) {
	b := newBench(t)
	var log receipts
	b.Batch.Log = &log
	_, handler := apiconnect.NewBatchHandler(b.Batch)
	post := func(procedure, kind, body string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, procedure, strings.NewReader(body)).WithContext(b.as("ann@h"))
		r.Header.Set("Content-Type", kind)
		r.RemoteAddr = "10.0.0.7:40123"
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	post(apiconnect.BatchSubmitProcedure, "application/json", "{}")
	post(apiconnect.BatchDeleteProcedure, "application/json", `{"job":"99"}`)
	list := `{"kind":"OBJECT_KIND_JOB"}`
	post(apiconnect.BatchListProcedure, "application/connect+json", "\x00\x00\x00\x00"+string(rune(len(list)))+list)
	b.Batch.received(b.as("bob@login1"), connect.Peer{}, typeStatus)
	want := []string{
		"Type 1 request received from ann@h, sock=40123", "Type 6 request received from ann@h, sock=40123",
		"Type 19 request received from ann@h, sock=40123", "Type 19 request received from bob@login1, sock=0",
	}
	if !slices.Equal(log, want) {
		t.Errorf("the log has %q, want %q", log, want)
	}
	for kind, want := range map[api.ObjectKind]int{api.ObjectKind_OBJECT_KIND_JOB: 19, api.ObjectKind_OBJECT_KIND_SCHED: 81, api.ObjectKind_OBJECT_KIND_HOOK: 83} {
		if number, known := statusType(&api.ListRequest{Kind: kind}); number != want || !known {
			t.Errorf("%s is %d, %t", kind, number, known)
		}
	}
}

// receipts are the lines of requests that have come.
type receipts []string

func (l *receipts) Write(_ time.Time, event uint16, class, object, text string) error {
	if event == pbs.LogDebug2 && class == "Req" && object == "" {
		*l = append(*l, text)
	}
	return nil
}
