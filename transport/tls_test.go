package transport_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
	"rampart/transport/login"
)

func TestConnect_OverTLSInABubble(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		w.leader.Store("s1")
		c := w.client("laptop", client.Options{
			Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "laptop"), User: "joe@elsewhere",
		})
		job, err := submit(t.Context(), c)
		if err != nil || job != "1.s1" {
			t.Fatalf("submit: %q, %v", job, err)
		}
		got := s1.lastCaller()
		want := transport.Caller{
			User: pbs.User{Name: "joe", Host: "laptop"}, Role: transport.RoleSubmit, Host: "laptop", Key: got.Key, Vouched: true,
		}
		if got != want || got.Key == "" {
			t.Errorf("caller %+v, want %+v", got, want)
		}
	})
}

func TestForeignCA_IsRefused(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		w.leader.Store("s1")
		foreign := newCA(t) // of a cluster that even calls itself the same
		id, err := foreign.Issue(transport.RoleSubmit, "laptop", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		c := w.client("laptop", client.Options{Replicas: []string{"s1:15001"}, Identity: id, User: "joe", Budget: 5 * time.Second})
		if _, err := submit(t.Context(), c); err == nil {
			t.Error("the client trusts a server of another CA")
		}
		// The server must not trust the client either, whatever the client checks.
		config := id.ClientTLS(transport.RoleReplica)
		config.VerifyConnection = nil
		hc := &http.Client{Transport: transport.NewTransport(w.net.Host("laptop"), config)}
		if _, err := hc.Get("https://s1:15001/healthz"); err == nil {
			t.Error("the server trusts a client of another CA")
		}
		if s1.calls() != 0 {
			t.Error("a request came through")
		}
	})
}

func TestRole_OfTheServerIsChecked(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.start(transport.RoleMom, "hosta")
		c := w.client("laptop", client.Options{
			Replicas: []string{"hosta:15001"}, Identity: w.identity(transport.RoleSubmit, "laptop"), User: "joe", Budget: 5 * time.Second,
		})
		if _, err := submit(t.Context(), c); err == nil || !strings.Contains(err.Error(), "is a mom") {
			t.Errorf("a mom passed for a replica: %v", err)
		}
	})
}

func TestRaft_IsForReplicas(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		echoed := make(chan string, 1)
		w.wg.Go(func() {
			for {
				conn, err := s1.server.Raft().Accept()
				if err != nil {
					return
				}
				b := make([]byte, 5)
				_, _ = io.ReadFull(conn, b)
				echoed <- string(b)
				_, _ = io.Copy(io.Discard, conn) // open until the server ends
				_ = conn.Close()
			}
		})
		for role, want := range map[transport.Role]bool{
			transport.RoleReplica: true, transport.RoleMom: false, transport.RoleSubmit: false,
		} {
			conn, err := w.identity(role, "x").RaftDialer(w.net.Host("x"))(t.Context(), "s1:15001")
			if err == nil { // TLS 1.3: a server's refusal is seen at the first read
				_, _ = conn.Write([]byte("hello"))
				if want && <-echoed != "hello" {
					t.Error("the listener got something else")
				}
				if !want {
					_, err = conn.Read(make([]byte, 1))
				}
				defer func() { _ = conn.Close() }()
			}
			if (err == nil) != want {
				t.Errorf("%s over Raft's protocol: %v", role, err)
			}
		}
	})
}

func TestExpiredLeaf_OnlyRenews(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		mom := w.identity(transport.RoleMom, "hosta")
		replica := w.identity(transport.RoleReplica, "s2")
		time.Sleep(8 * 24 * time.Hour)
		s1 := w.replica("s1")
		w.leader.Store("s1")
		c := w.client("hosta", client.Options{Replicas: []string{"s1:15001"}, Identity: mom})
		if _, err := c.Cluster().Renew(t.Context(), connect.NewRequest(&api.RenewRequest{})); err != nil {
			t.Fatalf("renew: %v", err)
		}
		if got := s1.lastCaller(); !got.Expired || got.Key != mom.KeyHash() {
			t.Errorf("caller of Renew: %+v", got)
		}
		_, err := c.Report().Lease(t.Context(), connect.NewRequest(&api.LeaseRequest{}))
		if pbs.CodeOf(err) != pbs.Unauthorized {
			t.Errorf("lease: %v", err)
		}
		if resp, err := get(w, "hosta", mom, "https://s1:15001/metrics"); err != nil || resp != http.StatusForbidden {
			t.Errorf("metrics: %d, %v", resp, err)
		}
		raft := func() error {
			conn, err := replica.RaftDialer(w.net.Host("s2"))(t.Context(), "s1:15001")
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetReadDeadline(time.Now().Add(time.Second))
			if _, err = conn.Read(make([]byte, 1)); strings.Contains(err.Error(), "timeout") {
				return nil // open, and nothing to read
			}
			return err
		}
		if raft() == nil {
			t.Error("an expired replica speaks Raft")
		}
		s1.id.Member = func(key string) bool { return key == replica.KeyHash() }
		if err := raft(); err != nil {
			t.Errorf("an expired replica of the membership: %v", err)
		}
	})
}

func get(w *world, host string, id *transport.Identity, url string) (int, error) {
	tr := transport.NewTransport(w.net.Host(host), id.ClientTLS(transport.RoleReplica))
	defer tr.CloseIdleConnections()
	resp, err := (&http.Client{Transport: tr}).Get(url)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

func TestCheck_CutsOpenConnections(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		w.leader.Store("s1")
		gone := false
		s1.id.Check = func(_ transport.Role, host pbs.HostName, _ string) error {
			if gone && host == "laptop" {
				return pbs.Refuse(pbs.Unauthorized)
			}
			return nil
		}
		c := w.client("laptop", client.Options{
			Replicas: []string{"s1:15001"}, Identity: w.identity(transport.RoleSubmit, "laptop"), User: "joe",
		})
		if _, err := submit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		gone = true
		if _, err := submit(t.Context(), c); connect.CodeOf(err) != connect.CodeUnauthenticated {
			t.Errorf("a revoked host: %v", err)
		}
	})
}

// A replica that was removed and does not know it yet is no reason to refuse those who ask it:
// they go on to the next.
func TestCheck_OfAReplicaThatPassesOn(t *testing.T) {
	for name, first := range map[string]bool{"on a connection that is open": true, "on a new one": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				s1, _ := w.replica("s1"), w.replica("s2")
				w.leader.Store("s1")
				var gone atomic.Bool
				s1.id.Check = func(_ transport.Role, host pbs.HostName, _ string) error {
					if gone.Load() && host == "s2" {
						return pbs.Refuse(pbs.Unauthorized)
					}
					return nil
				}
				c := func() *client.Client {
					return w.client("laptop", client.Options{
						Replicas: []string{"s2:15001", "s1:15001"}, Identity: w.identity(transport.RoleSubmit, "laptop"), User: "joe",
					})
				}
				if first {
					if _, err := submit(t.Context(), c()); err != nil {
						t.Fatal(err)
					}
				}
				gone.Store(true)
				start := time.Now()
				if _, err := submit(t.Context(), c()); err != nil || time.Since(start) > time.Second {
					t.Errorf("through a replica that was removed: %v after %v", err, time.Since(start))
				}
			})
		})
	}
}

func TestHotSwap_NewHandshakesUseTheNewLeaf(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		renewer := &transport.Renewer{
			Identity: s1.id,
			Sign: func(_ context.Context, csr []byte) ([]byte, error) {
				return w.ca.Sign(csr, transport.RoleReplica, "s1", time.Now())
			},
		}
		w.wg.Go(func() { _ = renewer.Run(w.ctx) })
		old := s1.id.Certificate()
		time.Sleep(30 * 24 * time.Hour)
		if now := s1.id.Certificate(); !now.NotAfter.After(time.Now().Add(4 * 24 * time.Hour)) {
			t.Errorf("a month later the leaf ends %v (first: %v)", now.NotAfter, old.NotAfter)
		}
		if status, err := get(w, "laptop", w.identity(transport.RoleSubmit, "laptop"), "https://s1:15001/metrics"); err != nil || status != http.StatusOK {
			t.Errorf("metrics: %d, %v", status, err)
		}
	})
}

func TestJoiner_TrustsTheCAOfItsToken(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.replica("s1")
		for name, ca := range map[string]*transport.CA{"own": w.ca, "foreign": newCA(t)} {
			token := transport.NewToken(ca, transport.RoleMom)
			tr := transport.NewTransport(w.net.Host("hosta"), transport.JoinTLS(token))
			resp, err := (&http.Client{Transport: tr}).Get("https://s1:15001/healthz")
			if err == nil {
				_ = resp.Body.Close()
			}
			if (err == nil) != (name == "own") {
				t.Errorf("token of the %s CA: %v", name, err)
			}
			tr.CloseIdleConnections()
		}
	})
}

func TestLoginToken(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s1 := w.replica("s1")
		w.leader.Store("s1")
		text, _, err := login.Issue(w.ca, pbs.User{Name: "joe", Host: "hosta"}, 0, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		tr := transport.NewTransport(w.net.Host("laptop"), transport.UserTLS(w.ca.Certificate()))
		defer tr.CloseIdleConnections()
		// As curl does it: JSON over plain HTTP.
		post := func(bearer string) (int, string) {
			req, _ := http.NewRequest(http.MethodPost, "https://s1:15001/rampart.v1.Batch/Submit", strings.NewReader(`{"destination":"workq"}`))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Rampart-User", "root")
			if bearer != "" {
				req.Header.Set("Authorization", "Bearer "+bearer)
			}
			resp, err := (&http.Client{Transport: tr}).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			body, _ := io.ReadAll(resp.Body)
			return resp.StatusCode, string(body)
		}
		if status, body := post(text); status != http.StatusOK || !strings.Contains(body, `"job":"1.s1"`) {
			t.Errorf("with a token: %d %s", status, body)
		}
		if got := s1.lastCaller(); got != (transport.Caller{User: pbs.User{Name: "joe", Host: "hosta"}, Token: true}) {
			t.Errorf("caller %+v", got)
		}
		if ids := s1.requestIDs(); ids[0] == "" {
			t.Error("a request without id was given none")
		}
		if status, _ := post(""); status != http.StatusUnauthorized {
			t.Errorf("without a token: %d", status)
		}
		foreign, _, _ := login.Issue(newCA(t), pbs.User{Name: "joe", Host: "hosta"}, 0, time.Now())
		for name, bad := range map[string]string{"tampered": text[:len(text)-5] + "AAAAA", "foreign": foreign, "garbage": "x.y.z"} {
			if status, _ := post(bad); status != http.StatusUnauthorized {
				t.Errorf("with a %s token: %d", name, status)
			}
		}
		time.Sleep(2 * time.Hour)
		if status, _ := post(text); status != http.StatusUnauthorized {
			t.Errorf("with an expired token: %d", status)
		}
	})
}
