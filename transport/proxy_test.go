package transport_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/build"
	"rampart/transport/client"
)

func TestProxy_CarriesTheCallerToTheLeader(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1, s2 := w.replica("s1"), w.replica("s2")
		w.leader.Store("s2")
		c := w.client("hosta", client.Options{
			Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleMom, "hosta"), User: "joe",
		})
		id := transport.NewRequestID()
		job, err := submit(client.WithRequestID(t.Context(), id), c)
		if err != nil || job != "1.s2" {
			t.Fatalf("submit: %q, %v", job, err)
		}
		got := s2.lastCaller()
		if got.User != (pbs.User{Name: "joe", Host: "hosta"}) || got.Role != transport.RoleMom || !got.Vouched {
			t.Errorf("caller at the leader: %+v", got)
		}
		if ids := s2.requestIDs(); ids[0] != string(id) {
			t.Errorf("request id at the leader: %q, want %q", ids[0], id)
		}
		if s1.calls() != 0 {
			t.Error("the follower did it, too")
		}
	})
}

// A mom's own request is its own at the leader as well, and a person whom it
// vouches for does not become the mom by way of a follower.
func TestProxy_KeepsDaemonsAndPeopleApart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.replica("s1")
		s2 := w.replica("s2")
		w.leader.Store("s2")
		mom := w.identity(transport.RoleMom, "hosta")
		daemon := w.client("hosta", client.Options{Replicas: []string{"s1:15001"}, Identity: mom})
		if _, err := daemon.Report().Lease(t.Context(), connect.NewRequest(&api.LeaseRequest{})); err != nil {
			t.Errorf("lease: %v", err)
		}
		if got := s2.lastCaller(); got.Role != transport.RoleMom || got.Person() || got.Key != mom.KeyHash() {
			t.Errorf("caller at the leader: %+v", got)
		}
		person := w.client("hosta", client.Options{Replicas: []string{"s1:15001", "s2:15001"}, Identity: mom, User: "joe"})
		if _, err := person.Report().Lease(t.Context(), connect.NewRequest(&api.LeaseRequest{})); pbs.CodeOf(err) != pbs.Unauthorized {
			t.Errorf("lease by a person: %v", err)
		}
		if _, err := submit(t.Context(), daemon); pbs.CodeOf(err) != pbs.Unauthorized {
			t.Errorf("submit by nobody: %v", err)
		}
	})
}

func TestAssertions_OfOthersAreStripped(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.replica("s1")
		s2 := w.replica("s2")
		w.leader.Store("s2")
		config := w.identity(transport.RoleMom, "hosta").ClientTLS(transport.RoleReplica)
		tr := transport.NewTransport(w.net.Host("hosta"), config)
		defer tr.CloseIdleConnections()
		for _, server := range []string{"s1", "s2"} {
			c := apiconnect.NewBatchClient(&http.Client{Transport: tr}, "https://"+server+":15001")
			req := connect.NewRequest(&api.SubmitRequest{})
			req.Header().Set(transport.HeaderUser, "joe")
			req.Header().Set(transport.HeaderForwarded, "1")
			req.Header().Set(transport.HeaderCaller, "user=root&userhost=s1&role=replica&host=s1&vouched=1")
			if _, err := c.Submit(t.Context(), req); err != nil {
				t.Fatalf("submit at %s: %v", server, err)
			}
			if got := s2.lastCaller(); got.User.String() != "joe@hosta" || got.Role != transport.RoleMom {
				t.Errorf("a mom passed for %+v at %s", got, server)
			}
		}
	})
}

func TestProxy_StreamsMessageByMessage(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		w.leader.Store("s1")
		_ = s1
		fwd := w.forwarder("hosta", "s1:15001")
		c := apiconnect.NewBatchClient(fwd, "http://gateway")
		start := time.Now()
		stream, err := c.List(t.Context(), connect.NewRequest(&api.ListRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; stream.Receive(); i++ {
			if got, want := time.Since(start), time.Duration(i)*time.Minute; got < want || got >= want+time.Minute {
				t.Errorf("message %d came after %v", i, got)
			}
		}
		if err := stream.Err(); err != nil {
			t.Error(err)
		}
		_ = stream.Close()
	})
}

func TestProxy_WaitsForALeader(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.replica("s1")
		w.replica("s2")
		tr := transport.NewTransport(w.net.Host("h"), w.identity(transport.RoleSubmit, "h").ClientTLS(transport.RoleReplica))
		defer tr.CloseIdleConnections()
		c := apiconnect.NewBatchClient(&http.Client{Transport: tr}, "https://s1:15001")
		try := func() error {
			req := connect.NewRequest(&api.SubmitRequest{})
			req.Header().Set(transport.HeaderUser, "joe")
			_, err := c.Submit(t.Context(), req)
			return err
		}
		start := time.Now()
		if err := try(); connect.CodeOf(err) != connect.CodeUnavailable || pbs.CodeOf(transport.FromWire(err)) != pbs.NoQuorum {
			t.Errorf("without a leader: %v", err)
		}
		if d := time.Since(start); d < time.Second || d > 3*time.Second {
			t.Errorf("answered after %v", d)
		}
		time.AfterFunc(time.Second, func() { w.leader.Store("s2") })
		if err := try(); err != nil {
			t.Errorf("with a leader after a second: %v", err)
		}
	})
}

// A leader that was stopped keeps its connections and says nothing.
func TestProxy_LeavesALeaderThatIsDeposed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.replica("s1")
		stopped := w.replica("s2")
		stopped.answer = func(int) error { time.Sleep(time.Minute); return nil }
		w.leader.Store("s2")
		tr := transport.NewTransport(w.net.Host("h"), w.identity(transport.RoleSubmit, "h").ClientTLS(transport.RoleReplica))
		defer tr.CloseIdleConnections()
		c := apiconnect.NewBatchClient(&http.Client{Transport: tr}, "https://s1:15001")
		time.AfterFunc(time.Second, func() { w.leader.Store("s3") })
		start := time.Now()
		req := connect.NewRequest(&api.SubmitRequest{})
		req.Header().Set(transport.HeaderUser, "joe")
		_, err := c.Submit(t.Context(), req)
		if pbs.CodeOf(transport.FromWire(err)) != pbs.UnknownResult {
			t.Errorf("a request that may have taken effect: %v", err)
		}
		if d := time.Since(start); d > 1200*time.Millisecond {
			t.Errorf("answered after %v", d)
		}
	})
}

// Two replicas that each believe the other leads must not play ball.
func TestProxy_DoesNotLoop(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.replica("s1")
		w.replica("s2")
		w.leader.Store("s3") // who is not there
		w.net.Host("s3")
		tr := transport.NewTransport(w.net.Host("s2"), w.identity(transport.RoleReplica, "s2").ClientTLS(transport.RoleReplica))
		defer tr.CloseIdleConnections()
		c := apiconnect.NewClusterClient(&http.Client{Transport: tr}, "https://s1:15001")
		req := connect.NewRequest(&api.ReadIndexRequest{})
		req.Header().Set(transport.HeaderForwarded, "1")
		req.Header().Set(transport.HeaderCaller, "role=replica&host=s2")
		_, err := c.ReadIndex(t.Context(), req)
		if connect.CodeOf(err) != connect.CodeUnavailable || !strings.Contains(err.Error(), "not the leader") {
			t.Errorf("a forwarded request at a follower: %v", err)
		}
		if e := new(connect.Error); !asConnect(err, &e) || e.Meta().Get(transport.HeaderLeader) != "s3:15001" {
			t.Errorf("the refusal does not say where the leader is: %v", e.Meta())
		}
		// One that was not forwarded goes on, and nobody is there.
		_, err = c.ReadIndex(t.Context(), connect.NewRequest(&api.ReadIndexRequest{}))
		if connect.CodeOf(err) != connect.CodeUnavailable {
			t.Errorf("with a leader that is dead: %v", err)
		}
	})
}

func asConnect(err error, target **connect.Error) bool {
	e, ok := err.(*connect.Error)
	*target = e
	return ok
}

// forwarder serves a mom's Forwarder in memory, for a user joe on the host.
func (w *world) forwarder(host string, replicas ...string) *http.Client {
	id := w.identity(transport.RoleMom, pbs.HostName(host))
	ln, err := w.net.Host(host).Listen(w.ctx, ":1")
	if err != nil {
		w.t.Fatal(err)
	}
	fwd := transport.NewForwarder(transport.ForwarderConfig{
		Identity: id, Network: w.net.Host(host), Replicas: transport.NewReplicas(replicas...), Logger: discard,
	})
	gw := transport.NewGateway(transport.GatewayConfig{
		Listener: ln, Identity: id, Accounts: people{1000: "joe"}, Peer: uid(1000), Next: fwd, Logger: discard,
	})
	tr := &http.Transport{DialContext: dialMem(w, host)}
	w.wg.Go(func() {
		if err := gw.Run(w.ctx); err != nil {
			w.t.Errorf("gateway: %v", err)
		}
		fwd.Close()
		tr.CloseIdleConnections()
	})
	return &http.Client{Transport: tr}
}

func TestForwarder_SpeaksForPeopleOnly(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		w.leader.Store("s1")
		hc := w.forwarder("hosta", "gone:15001", "s1:15001")
		w.net.Host("gone")
		req := connect.NewRequest(&api.SubmitRequest{})
		req.Header().Set(transport.HeaderUser, "root")
		resp, err := apiconnect.NewBatchClient(hc, "http://gateway").Submit(t.Context(), req)
		if err != nil || resp.Msg.GetJob() != "1.s1" {
			t.Fatalf("submit: %v", err)
		}
		if got := s1.lastCaller(); got.User.String() != "joe@hosta" || got.Role != transport.RoleMom || !got.Vouched {
			t.Errorf("caller: %+v", got)
		}
		calls := s1.calls()
		_, err = apiconnect.NewReportClient(hc, "http://gateway").Lease(t.Context(), connect.NewRequest(&api.LeaseRequest{}))
		if pbs.CodeOf(transport.FromWire(err)) != pbs.Unauthorized {
			t.Errorf("a person renewed the mom's lease: %v", err)
		}
		_, err = apiconnect.NewClusterClient(hc, "http://gateway").Renew(t.Context(), connect.NewRequest(&api.RenewRequest{}))
		if pbs.CodeOf(transport.FromWire(err)) != pbs.Unauthorized {
			t.Errorf("a person renewed the mom's certificate: %v", err)
		}
		for path, want := range map[string]int{
			"/metrics": http.StatusForbidden, "/rampart.v1.Batch/Nonsense": http.StatusNotImplemented, "/": http.StatusForbidden,
		} {
			resp, err := hc.Post("http://gateway"+path, "application/json", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s: %s, want %d", path, resp.Status, want)
			}
		}
		if s1.calls() != calls {
			t.Error("a refused request went on")
		}
	})
}

func TestForwarder_MovesOnAndKeepsTheID(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1, s2 := w.replica("s1"), w.replica("s2")
		w.leader.Store("s2")
		hc := w.forwarder("hosta", "s1:15001", "s2:15001")
		c := apiconnect.NewBatchClient(hc, "http://gateway")
		if _, err := c.Submit(t.Context(), connect.NewRequest(&api.SubmitRequest{})); err != nil {
			t.Fatal(err)
		}
		// The leader falls silent; a request is on its way to it.
		w.net.Cut("hosta", "s2")
		w.leader.Store("s1")
		id := string(transport.NewRequestID())
		req := connect.NewRequest(&api.SubmitRequest{})
		req.Header().Set(transport.HeaderRequestID, id)
		start := time.Now()
		if _, err := c.Submit(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d > 12*time.Second {
			t.Errorf("it took %v to move on", d)
		}
		if ids := s1.requestIDs(); ids[len(ids)-1] != id {
			t.Errorf("id at the other replica: %q, want %q", ids, id)
		}
		_ = s2
	})
}

func TestHealth_IsForAnybody(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.replica("s1")
		tr := transport.NewTransport(w.net.Host("x"), transport.UserTLS(w.ca.Certificate()))
		defer tr.CloseIdleConnections()
		for path, want := range map[string]int{
			"/healthz": http.StatusOK, "/metrics": http.StatusUnauthorized, "/nothing": http.StatusUnauthorized,
			"/rampart.v1.Cluster/Status": http.StatusUnauthorized,
		} {
			resp, err := (&http.Client{Transport: tr}).Get("https://s1:15001" + path)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s: %s, want %d", path, resp.Status, want)
			}
		}
	})
}

func TestOrders_AreTheReplicas(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start(transport.RoleMom, "hosta")
		ping := func(id *transport.Identity) error {
			moms := client.NewMoms(w.net.Host("s1"), id)
			defer moms.Close()
			_, err := moms.Agent("hosta:15001").Ping(t.Context(), connect.NewRequest(&api.PingRequest{}))
			return err
		}
		if err := ping(w.identity(transport.RoleReplica, "s1")); err != nil {
			t.Errorf("a replica: %v", err)
		}
		if err := ping(w.identity(transport.RoleMom, "s1")); connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Errorf("a mom: %v", err)
		}
	})
}

func TestMoms_WantTheRightHost(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start(transport.RoleMom, "hosta")
		moms := client.NewMoms(w.net.Host("s1"), w.identity(transport.RoleReplica, "s1"))
		defer moms.Close()
		for host, want := range map[pbs.HostName]bool{"hosta": true, "hostb": false} {
			_, err := moms.AgentOf(string(host), "hosta:15001").Ping(t.Context(), connect.NewRequest(&api.PingRequest{}))
			if (err == nil) != want {
				t.Errorf("an order for %s at hosta: %v", host, err)
			}
		}
	})
}

func TestGracefulStop_LetsRequestsFinish(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		w.leader.Store("s1")
		s1.answer = func(int) error {
			s1.kill()
			time.Sleep(2 * time.Second)
			return nil
		}
		c := w.client("h", client.Options{Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "h"), User: "joe"})
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		if _, err := submit(ctx, c); err != nil || s1.calls() != 1 {
			t.Errorf("a request in hand at the stop: %v after %d calls", err, s1.calls())
		}
	})
}

// A joiner has no identity yet, and may ask any replica.
func TestProxy_CarriesTheNamelessToo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.replica("s1")
		s2 := w.replica("s2")
		w.leader.Store("s2")
		c := w.client("hosta", client.Options{
			Replicas: []string{"s1:15001"}, TLS: transport.JoinTLS(transport.NewToken(w.ca, transport.RoleMom)),
		})
		if _, err := c.Cluster().Join(t.Context(), connect.NewRequest(&api.JoinRequest{Token: "x"})); err != nil {
			t.Fatal(err)
		}
		if got := s2.lastCaller(); s2.calls() != 1 || got != (transport.Caller{}) {
			t.Errorf("caller at the leader: %+v", got)
		}
	})
}

func TestOversizedScript_SaysSo(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("the largest scripts, again and again: short tests play it without the race detector")
	}
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		w.replica("s2")
		w.leader.Store("s1")
		id := w.identity(transport.RoleSubmit, "h")
		script := make([]byte, 2*pbs.MaxScript)
		for _, server := range []string{"s1:15001", "s2:15001"} {
			c := w.client("h", client.Options{Replicas: []string{server}, Identity: id, User: "joe"})
			_, err := c.Batch().Submit(t.Context(), connect.NewRequest(&api.SubmitRequest{Script: script}))
			if pbs.CodeOf(err) != pbs.ScriptTooLarge {
				t.Errorf("client, at %s: %v", server, err)
			}
			tr := transport.NewTransport(w.net.Host("h"), id.ClientTLS(transport.RoleReplica))
			req := connect.NewRequest(&api.SubmitRequest{Script: script})
			req.Header().Set(transport.HeaderUser, "joe")
			_, err = apiconnect.NewBatchClient(&http.Client{Transport: tr}, "https://"+server).Submit(t.Context(), req)
			if pbs.CodeOf(transport.FromWire(err)) != pbs.ScriptTooLarge {
				t.Errorf("anybody, at %s: %v", server, err)
			}
			tr.CloseIdleConnections()
		}
		hc := w.forwarder("h", "s2:15001")
		_, err := apiconnect.NewBatchClient(hc, "http://gateway").Submit(t.Context(), connect.NewRequest(&api.SubmitRequest{Script: script}))
		if pbs.CodeOf(transport.FromWire(err)) != pbs.ScriptTooLarge {
			t.Errorf("through a gateway: %v", err)
		}
		if s1.calls() != 0 {
			t.Error("it came through")
		}
		_, err = apiconnect.NewBatchClient(hc, "http://gateway").Alter(t.Context(), connect.NewRequest(&api.AlterRequest{Job: strings.Repeat("1", 2*pbs.MaxScript)}))
		if said := transport.FromWire(err); said == nil || !strings.Contains(said.Error(), "the request Alter is larger than the limit of ") {
			t.Errorf("another request: %v", said)
		}
		largest := make([]byte, pbs.MaxScript)
		req := connect.NewRequest(&api.SubmitRequest{Script: largest})
		if _, err := apiconnect.NewBatchClient(hc, "http://gateway").Submit(t.Context(), req); err != nil {
			t.Errorf("a script of the greatest size: %v", err)
		}
	})
}
