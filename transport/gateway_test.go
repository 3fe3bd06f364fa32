package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
)

var discard = slog.New(slog.DiscardHandler)

// people are the accounts of a test's host.
type people map[uint32]string

func (p people) ByUID(_ context.Context, uid uint32) (transport.Account, error) {
	if name, ok := p[uid]; ok {
		return transport.Account{Name: name, UID: uid}, nil
	}
	return transport.Account{}, transport.ErrNoAccount
}

func (p people) ByName(_ context.Context, name string) (transport.Account, error) {
	for uid, n := range p {
		if n == name {
			return transport.Account{Name: name, UID: uid}, nil
		}
	}
	return transport.Account{}, transport.ErrNoAccount
}

func uid(n uint32) func(net.Conn) (uint32, error) {
	return func(net.Conn) (uint32, error) { return n, nil }
}

func dialMem(w *world, host string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return w.net.Host(host).Dial(ctx, host+":1")
	}
}

// localReplica is a replica's handler without its port: the gateway enters it
// directly.
func localReplica(t *testing.T, ca *transport.CA) *process {
	t.Helper()
	id, err := ca.Issue(transport.RoleReplica, "s1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p := &process{id: id}
	p.handler = transport.NewHandler(transport.HandlerConfig{
		Identity: id, Logger: discard, Network: transport.System{},
		Leader: func() (string, bool, bool) { return "s1:15001", true, true },
	})
	p.handler.Mount(apiconnect.NewBatchHandler(p, connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, discard))))
	return p
}

// serveGateway opens a real socket and returns its path.
func serveGateway(t *testing.T, p *process, accounts transport.Accounts, peer func(net.Conn) (uint32, error)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), strings.Repeat("deep/", 30), "run", "s1.sock") // longer than the kernel likes
	ln, err := transport.ListenUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	gw := transport.NewGateway(transport.GatewayConfig{
		Listener: ln, Identity: p.id, Accounts: accounts, Peer: peer, Next: p.handler, Logger: discard,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- gw.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("gateway: %v", err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeSocket {
			t.Errorf("nothing tells that there was a daemon: %v, %v", info, err)
		}
	})
	return path
}

func overUnix(t *testing.T, paths ...string) *client.Client {
	t.Helper()
	return overUnixFor(t, 30*time.Second, paths...)
}

func overUnixFor(t *testing.T, budget time.Duration, paths ...string) *client.Client {
	t.Helper()
	var addresses []string
	for _, p := range paths {
		addresses = append(addresses, "unix:"+p)
	}
	c := client.New(client.Options{Replicas: addresses, Budget: budget})
	t.Cleanup(c.Close)
	return c
}

func TestGateway_TheKernelSaysWhoCalls(t *testing.T) {
	p := localReplica(t, newCA(t))
	me := people{uint32(os.Getuid()): "joe"}
	path := serveGateway(t, p, me, nil)
	job, err := submit(t.Context(), overUnix(t, path))
	if err != nil || job != "1.s1" {
		t.Fatalf("submit: %q, %v", job, err)
	}
	want := transport.Caller{
		User: pbs.User{Name: "joe", Host: "s1"}, Role: transport.RoleReplica, Host: "s1", Key: p.id.KeyHash(), Vouched: true,
	}
	if got := p.lastCaller(); got != want {
		t.Errorf("caller %+v, want %+v", got, want)
	}
	if mode, err := os.Stat(path); err != nil || mode.Mode().Perm() != 0o666 {
		t.Errorf("socket: %v, %v", mode.Mode(), err)
	}
}

// TestGateway_NothingBeforeTheAnswer: who has not said that he reads interim replies gets none; some
// libraries take the first status for the answer.
func TestGateway_NothingBeforeTheAnswer(t *testing.T) {
	p := localReplica(t, newCA(t))
	path := serveGateway(t, p, people{uint32(os.Getuid()): "joe"}, nil)
	for header, want := range map[string]string{"": "HTTP/1.1 200", "Rampart-Interim: 1\r\n": "HTTP/1.1 102"} {
		conn, err := transport.DialUnix(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(conn, "POST /rampart.v1.Batch/Submit HTTP/1.1\r\nHost: s1\r\nContent-Type: application/json\r\n%sContent-Length: 2\r\nConnection: close\r\n\r\n{}", header)
		answer, failed := io.ReadAll(conn)
		if err = errors.Join(err, failed, conn.Close()); err != nil {
			t.Fatal(err)
		}
		if got := string(answer); !strings.HasPrefix(got, want) || !strings.Contains(got, "HTTP/1.1 200") {
			t.Errorf("with %q:\n%s", header, got)
		}
	}
}

func TestGateway_RefusesTheNameless(t *testing.T) {
	for name, test := range map[string]struct {
		accounts transport.Accounts
		peer     func(net.Conn) (uint32, error)
	}{
		"nobody":       {people{65534: "nobody"}, uid(65534)},
		"no name":      {people{}, uid(1234)},
		"kernel fails": {people{0: "root"}, func(net.Conn) (uint32, error) { return 0, errors.New("no") }},
	} {
		t.Run(name, func(t *testing.T) {
			p := localReplica(t, newCA(t))
			_, err := submit(t.Context(), overUnix(t, serveGateway(t, p, test.accounts, test.peer)))
			if code := pbs.CodeOf(err); code != pbs.Unauthorized && code != pbs.SystemError || p.calls() != 0 {
				t.Errorf("submit: %v after %d calls", err, p.calls())
			}
		})
	}
}

func TestGateway_TakesNoAssertions(t *testing.T) {
	p := localReplica(t, newCA(t))
	path := serveGateway(t, p, people{uint32(os.Getuid()): "joe"}, nil)
	hc := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return transport.DialUnix(ctx, path)
	}}}
	defer hc.CloseIdleConnections()
	req, _ := http.NewRequest(http.MethodPost, "http://s1/rampart.v1.Batch/Submit", strings.NewReader("{}"))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer x")
	req.Header.Set(transport.HeaderUser, "root")
	req.Header.Set(transport.HeaderForwarded, "1")
	req.Header.Set(transport.HeaderCaller, "user=root&role=replica")
	resp, err := hc.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if got := p.lastCaller(); resp.StatusCode != http.StatusOK || got.User.Name != "joe" {
		t.Errorf("%s, caller %+v", resp.Status, got)
	}
}

// A stopped daemon accepts connections, for the kernel does it in its stead.
func TestGateway_SilentOneIsPassedOver(t *testing.T) {
	p := localReplica(t, newCA(t))
	path := serveGateway(t, p, people{uint32(os.Getuid()): "joe"}, nil)
	silent := filepath.Join(filepath.Dir(path), "silent.sock")
	ln, err := transport.ListenUnix(t.Context(), silent)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	dead := filepath.Join(filepath.Dir(path), "dead.sock")
	start := time.Now()
	if _, err := submit(t.Context(), overUnix(t, dead, silent, path)); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d < 300*time.Millisecond || d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
	if p.calls() != 1 {
		t.Errorf("%d calls", p.calls())
	}
}

// The acknowledgement comes at once, the answer may take its time.
func TestGateway_SlowAnswerIsWaitedFor(t *testing.T) {
	t.Parallel()
	calls := 0
	for range 5 { // on a busy machine the acknowledgement may be late itself
		p := localReplica(t, newCA(t))
		path := serveGateway(t, p, people{uint32(os.Getuid()): "joe"}, nil)
		p.answer = func(int) error {
			<-time.After(350 * time.Millisecond) // longer than a first byte is waited for
			return nil
		}
		if _, err := submit(t.Context(), overUnix(t, path, "/nonexistent.sock")); err != nil {
			t.Fatal(err)
		}
		if calls = p.calls(); calls == 1 {
			return
		}
	}
	t.Errorf("%d calls", calls)
}

// A daemon may stop when it has acknowledged a request; the time that is left is for the others.
func TestGateway_StoppedOneIsPassedOver(t *testing.T) {
	t.Parallel()
	p := localReplica(t, newCA(t))
	path := serveGateway(t, p, people{uint32(os.Getuid()): "joe"}, nil)
	stopped := filepath.Join(filepath.Dir(path), "stopped.sock")
	ln, err := transport.ListenUnix(t.Context(), stopped)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 1)
	daemon := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusProcessing)
		asked <- struct{}{}
		<-r.Context().Done()
	})}
	go func() { _ = daemon.Serve(ln) }()
	defer func() { _ = daemon.Close() }()
	if _, err := submit(t.Context(), overUnixFor(t, 5*time.Second, stopped, path)); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 || p.calls() != 1 {
		t.Errorf("asked the stopped one %d times, the other %d times", len(asked), p.calls())
	}
}

func TestListenUnix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	ln, err := transport.ListenUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transport.ListenUnix(t.Context(), path); err == nil {
		t.Error("took the socket of a living process")
	}
	_ = ln.Close() // which leaves what a killed process would
	ln, err = transport.ListenUnix(t.Context(), path)
	if err != nil {
		t.Fatalf("a dead process's socket: %v", err)
	}
	if err := errors.Join(ln.Close(), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := transport.ListenUnix(t.Context(), path); err == nil {
		t.Error("removed a file that is not a socket")
	}
}

// leftSocket is the socket of a daemon that has ended.
func leftSocket(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s1.sock")
	old, err := transport.ListenUnix(t.Context(), path)
	if err == nil {
		err = old.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A daemon that has ended leaves its socket, and whoever asks there knows that it may be back.
func TestGateway_ThatHasEndedIsAway(t *testing.T) {
	for path, away := range map[string]bool{leftSocket(t): true, filepath.Join(t.TempDir(), "none.sock"): false} {
		r := transport.NewRoamer(transport.RoamConfig{Replicas: transport.NewReplicas("unix:" + path)})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://any/rampart.v1.Batch/Submit", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.RoundTrip(req)
		r.Close()
		roam, ok := errors.AsType[*transport.RoamError](err)
		if !ok || !roam.Refused || roam.Sent || roam.Away != away || errors.Is(err, syscall.ECONNREFUSED) != away {
			t.Errorf("%s: %+v, %v", path, roam, err)
		}
	}
}

func TestNobodyThere_SaysSo(t *testing.T) {
	start := time.Now()
	_, err := submit(t.Context(), overUnix(t, "/nonexistent/a.sock", "/nonexistent/b.sock"))
	if !errors.Is(err, client.ErrUnreachable) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("submit: %v", err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
}

// A command that is newer than the daemon of its host is told so, not that its user has no
// right to ask.
func TestGateway_SaysThatItsVersionDoesNotKnowTheRequest(t *testing.T) {
	p := localReplica(t, newCA(t))
	path := serveGateway(t, p, people{uint32(os.Getuid()): "joe"}, nil)
	over := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return transport.DialUnix(ctx, path) },
	}}
	defer over.CloseIdleConnections()
	ask := connect.NewClient[api.SubmitRequest, api.SubmitReply](over, "http://gateway/rampart.v1.Batch/Tomorrow")
	_, err := ask.CallUnary(t.Context(), connect.NewRequest(&api.SubmitRequest{}))
	if err = transport.FromWire(err); pbs.CodeOf(err) != pbs.NotSupported || !strings.Contains(err.Error(), "runs a version that does not know the request") {
		t.Errorf("a method of a later version: %v", err)
	}
}
