package service

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// TestAttach_OnlyTheOwner: a session is its owner's alone, and only a running interactive
// job has one.
func TestAttach_OnlyTheOwner(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.Batch.Agent = func(string, string) apiconnect.AgentClient { return nil }
	id := b.mustSubmit("ann@login1", set("interactive", "True"))
	batch := b.mustSubmit("ann@login1", set("Job_Name", "x"))
	if _, _, err := b.Batch.attachable(b.as("ann@login1"), id); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("a job that waits: %v", err)
	}
	for _, job := range []string{id, batch} {
		b.do(&command.StartJob{Job: pbs.JobID(job), ExecVnode: "(hosta:ncpus=1)"})
	}
	for _, c := range []struct {
		who, job string
		want     pbs.Code
	}{
		{"bob@login1", id, pbs.Unauthorized},
		{"root@replica:s1", id, pbs.Unauthorized},
		{"ann@elsewhere", id, pbs.Unauthorized},
		{"ann@login1", batch, pbs.BadState},
		{"ann@login1", "999", pbs.UnknownJob},
	} {
		if _, _, err := b.Batch.attachable(b.as(c.who), c.job); pbs.CodeOf(err) != c.want {
			t.Errorf("%s at %s: %v, want %d", c.who, c.job, err, c.want)
		}
	}
	j, address, err := b.Batch.attachable(b.as("ann@login1"), id)
	if err != nil || string(j.ID) != id || address != "hosta:15002" {
		t.Errorf("the owner: %v at %s, %v", j, address, err)
	}
	if !j.NotRerunnable {
		t.Error("an interactive job is rerunnable")
	}
}

// A listener is a mom whose session has nothing to say, and hears when the terminal has left.
type listener struct {
	apiconnect.UnimplementedAgentHandler
	left chan struct{}
}

func (l listener) Terminal(_ context.Context, s *connect.BidiStream[api.TerminalUp, api.TerminalDown]) error {
	if _, err := s.Receive(); err != nil {
		return err
	}
	if err := s.Send(&api.TerminalDown{}); err != nil {
		return err
	}
	_, err := s.Receive()
	close(l.left)
	return err
}

// serveTalk serves calls in both directions, from whoever as names if it is there.
func serveTalk(t *testing.T, path string, h http.Handler, as context.Context) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		if as != nil {
			r = r.WithContext(sameCaller{r.Context(), as})
		}
		h.ServeHTTP(w, r)
	})
	s := httptest.NewUnstartedServer(mux)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// sameCaller is a request's context with the values of another.
type sameCaller struct {
	context.Context
	as context.Context
}

func (c sameCaller) Value(key any) any {
	if v := c.as.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// TestAttach_TellsTheMomThatNobodyIsThere: a terminal that is gone without a word, since its
// host has died, does not stay attached to its session, which gives up in the end.
func TestAttach_TellsTheMomThatNobodyIsThere(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	l := listener{left: make(chan struct{})}
	path, h := apiconnect.NewAgentHandler(l)
	mom := serveTalk(t, path, h, nil)
	b.Batch.Agent = func(string, string) apiconnect.AgentClient { return apiconnect.NewAgentClient(mom.Client(), mom.URL) }
	id := b.mustSubmit("ann@login1", set("interactive", "True"))
	b.do(&command.StartJob{Job: pbs.JobID(id), ExecVnode: "(hosta:ncpus=1)"})
	path, h = apiconnect.NewBatchHandler(b.Batch)
	replica := serveTalk(t, path, h, b.as("ann@login1"))
	s := apiconnect.NewBatchClient(replica.Client(), replica.URL).Attach(t.Context())
	if err := s.Send(&api.TerminalUp{Job: id}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Receive(); err != nil {
		t.Fatal(err)
	}
	if err := s.CloseResponse(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.left:
	case <-time.After(10 * time.Second):
		t.Error("the session takes the terminal for attached")
	}
}
