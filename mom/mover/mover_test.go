package mover

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/files"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/memnet"
)

// A pair is hosta, whose mom runs the job, and hostb, where its files are.
type pair struct {
	mover  *Mover
	net    *memnet.Net
	here   string // folder of the job
	there  string // home of its owner on hostb
	permit func() (*api.PermitReply, error)
	asked  atomic.Int32 // by handlers of every attempt
}

// Locate and Permit are what the servers say.
func (p *pair) Locate(_ context.Context, r *connect.Request[api.LocateRequest]) (*connect.Response[api.LocateReply], error) {
	if r.Msg.GetHost() != "hostb" {
		return connect.NewResponse(&api.LocateReply{}), nil
	}
	return connect.NewResponse(&api.LocateReply{Address: "hostb:15002", Host: "hostb", Role: "mom"}), nil
}

func (p *pair) Permit(context.Context, *connect.Request[api.PermitRequest]) (*connect.Response[api.PermitReply], error) {
	p.asked.Add(1)
	reply, err := p.permit()
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(reply), nil
}

// ByName and ByUID are the accounts of hostb.
func (p *pair) ByName(_ context.Context, name string) (transport.Account, error) {
	if name != "ann" && name != "root" {
		return transport.Account{}, transport.ErrNoAccount
	}
	a := transport.Account{Name: name, UID: uint32(os.Geteuid()) + 1, Home: p.there}
	if name == "root" {
		a.UID = 0
	}
	return a, nil
}

func (p *pair) ByUID(_ context.Context, uid uint32) (transport.Account, error) {
	return transport.Account{Name: "self", UID: uid, Home: p.there}, nil
}

// inPair runs a test in a bubble; role is the caller's.
func inPair(t *testing.T, role transport.Role, test func(t *testing.T, p *pair)) {
	here, there := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		ca, err := transport.NewCA("c1", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		issue := func(role transport.Role, host pbs.HostName) *transport.Identity {
			id, err := ca.Issue(role, host, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		quiet := slog.New(slog.DiscardHandler)
		p := &pair{net: memnet.New(1), here: here, there: there}
		p.permit = func() (*api.PermitReply, error) { return &api.PermitReply{User: "ann"}, nil }
		b := issue(transport.RoleMom, "hostb")
		handler := transport.NewHandler(transport.HandlerConfig{Identity: b, Network: p.net.Host("hostb"), Logger: quiet})
		s := &Service{Accounts: p, Servers: p, SelfUID: uint32(os.Geteuid()), Jobs: true, Logger: quiet, Output: func(job pbs.JobID, stream string) string {
			return filepath.Join(there, "spool", string(job)+"."+stream)
		}}
		handler.Mount(s.Handler(connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, quiet))))
		server, err := transport.NewServer(ctx, transport.ServerConfig{
			Network: p.net.Host("hostb"), Address: "hostb:15002", Identity: b, Handler: handler, Logger: quiet,
		})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := server.Run(ctx); err != nil && !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
			handler.Close()
		})
		p.mover = New(Config{Identity: issue(role, "hosta"), Network: p.net.Host("hosta"), Servers: p, Logger: quiet})
		test(t, p)
		p.mover.Close()
		cancel()
		wg.Wait()
		time.Sleep(10 * time.Minute) // the bubble's: what is still pooled or waits runs out
	})
}

func (p *pair) transfer(out bool, here, there string) files.Transfer {
	return files.Transfer{Job: "1.srv", Run: 1, Out: out, Here: filepath.Join(p.here, here), Host: "hostb", There: there, Remote: "ann"}
}

func lay(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o640)); err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, path string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, %v, want %d: %.20q", path, len(got), err, len(want), got)
	}
}

func TestDo_ThereAndBack(t *testing.T) {
	inPair(t, transport.RoleMom, func(t *testing.T, p *pair) {
		big := bytes.Repeat([]byte("0123456789abcdef"), 200_000) // more than one request may hold
		lay(t, p.here+"/d/big", big)
		lay(t, p.here+"/d/e/small", []byte("x"))
		moved, err := p.mover.Do(t.Context(), p.transfer(true, "d", "new"))
		if err != nil || len(moved.Sent) != 4 || moved.Same {
			t.Fatalf("%+v, %v", moved, err)
		}
		same(t, p.there+"/new/big", big)
		same(t, p.there+"/new/e/small", []byte("x"))
		moved, err = p.mover.Do(t.Context(), p.transfer(false, "back", "new/*"))
		if err == nil {
			t.Error("a pattern came into no folder")
		}
		if err := os.Mkdir(p.here+"/back", 0o755); err != nil {
			t.Fatal(err)
		}
		moved, err = p.mover.Do(t.Context(), p.transfer(false, "back", "new/*"))
		if err != nil || len(moved.Wrote) != 3 {
			t.Fatalf("%+v, %v", moved, err)
		}
		same(t, p.here+"/back/big", big)
		same(t, p.here+"/back/e/small", []byte("x"))
	})
}

// What a run has written goes on to the next one, from the folder of the mom, and to nobody who asks for anything else of it.
func TestDo_EarlierOutput(t *testing.T) {
	inPair(t, transport.RoleMom, func(t *testing.T, p *pair) {
		lay(t, p.there+"/spool/1.srv.OU", []byte("first\n"))
		lay(t, p.here+"/own", []byte("older\n"))
		e := p.transfer(false, "own", "OU")
		e.Output = true
		if _, err := p.mover.Do(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		same(t, p.here+"/own", []byte("first\n"))
		for _, there := range []string{"ER", "../spool/1.srv.OU", "/etc/hostname"} {
			e.There = there
			if _, err := p.mover.Do(t.Context(), e); err == nil || !final(err) {
				t.Errorf("%s: %v", there, err)
			}
		}
		p.net.Host("hostb").Crash()
		began := time.Now()
		if _, err := p.mover.Do(t.Context(), e); !errors.Is(err, files.ErrUnreachable) || time.Since(began) > 15*time.Second {
			t.Errorf("of a host that is dead: %v after %s", err, time.Since(began))
		}
		e.Host = "elsewhere"
		if _, err := p.mover.Do(t.Context(), e); err == nil || !strings.Contains(err.Error(), "not in the cluster") {
			t.Errorf("elsewhere: %v", err)
		}
		same(t, p.here+"/own", []byte("first\n"))
	})
}

func TestDo_Refusals(t *testing.T) {
	inPair(t, transport.RoleMom, func(t *testing.T, p *pair) {
		lay(t, p.here+"/a", []byte("x"))
		for _, c := range []struct {
			name   string
			reply  *api.PermitReply
			err    error
			there  string
			here   string
			reason string
		}{
			{"not permitted", nil, pbs.Errorf(pbs.Unauthorized, "Unauthorized Request: no"), "b", "a", "Unauthorized Request: no"},
			{"root", &api.PermitReply{User: "root"}, nil, "b", "a", "Unauthorized Request"},
			{"no account", &api.PermitReply{User: "bob"}, nil, "b", "a", "no account bob"},
			{"no folder", &api.PermitReply{User: "ann"}, nil, "no/b", "a", "no such file or directory"},
			{"no file", &api.PermitReply{User: "ann"}, nil, "b", "none", "no such file or directory"},
		} {
			p.permit = func() (*api.PermitReply, error) { return c.reply, c.err }
			began := time.Now()
			_, err := p.mover.Do(t.Context(), p.transfer(true, c.here, c.there))
			var own *files.Error
			if !errors.As(err, &own) || !strings.Contains(err.Error(), c.reason) || time.Since(began) > 100*time.Millisecond {
				t.Errorf("%s: %v after %s", c.name, err, time.Since(began))
			}
		}
		if _, err := p.mover.Do(t.Context(), files.Transfer{Host: "elsewhere", Out: true, Here: p.here + "/a"}); err == nil || !strings.Contains(err.Error(), "not in the cluster") {
			t.Errorf("elsewhere: %v", err)
		}
		if left, _ := os.ReadDir(p.there); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// Only moms move files.
func TestDo_NotAMom(t *testing.T) {
	inPair(t, transport.RoleSubmit, func(t *testing.T, p *pair) {
		lay(t, p.here+"/a", []byte("x"))
		if _, err := p.mover.Do(t.Context(), p.transfer(true, "a", "b")); err == nil || !final(err) || p.asked.Load() > 0 {
			t.Errorf("%v, asked %d times", err, p.asked.Load())
		}
	})
}

// While the servers have no leader a transfer is tried again; it needs no more than one that
// answers.
func TestDo_ServersComeBack(t *testing.T) {
	inPair(t, transport.RoleMom, func(t *testing.T, p *pair) {
		lay(t, p.here+"/a", []byte("x"))
		p.permit = func() (*api.PermitReply, error) {
			if p.asked.Load() < 3 {
				return nil, pbs.Refuse(pbs.NoQuorum)
			}
			return &api.PermitReply{User: "ann"}, nil
		}
		if _, err := p.mover.Do(t.Context(), p.transfer(true, "a", "b")); err != nil {
			t.Fatal(err)
		}
		same(t, p.there+"/b", []byte("x"))
	})
}

// A host that does not answer is given up in a while, and one that comes back is served.
func TestDo_Cut(t *testing.T) {
	for _, heals := range []bool{true, false} {
		inPair(t, transport.RoleMom, func(t *testing.T, p *pair) {
			small := []byte("x") // a full pipe would hold up the bubble
			lay(t, p.here+"/a", small)
			p.permit = func() (*api.PermitReply, error) { // in the midst of it
				if p.asked.Load() == 1 {
					p.net.Cut("hosta", "hostb")
					if heals {
						time.AfterFunc(8*time.Second, p.net.HealAll)
					}
				}
				return &api.PermitReply{User: "ann"}, nil
			}
			began := time.Now()
			_, err := p.mover.Do(t.Context(), p.transfer(true, "a", "b"))
			took := time.Since(began)
			if heals && err != nil || !heals && !errors.Is(err, files.ErrUnreachable) || took > 2*time.Minute {
				t.Errorf("heals %v: %v after %s", heals, err, took)
			}
			if heals {
				same(t, p.there+"/b", small)
				return
			}
			p.net.HealAll()
			time.Sleep(10 * time.Minute)
			left, _ := os.ReadDir(p.there)
			for _, f := range left { // what was under way may arrive yet, but whole
				if f.Name() != "b" {
					t.Errorf("left: %s", f.Name())
				}
				same(t, p.there+"/b", small)
			}
		})
	}
}

// TestPut_Ghost: what a run still sends that the servers have given up meanwhile does not come into the place of what a later one has left.
func TestPut_Ghost(t *testing.T) {
	for _, c := range []struct {
		over error
		want string
	}{
		{pbs.Errorf(pbs.Unauthorized, "Unauthorized Request: run 1 of 1.srv is not at hosta"), "new"},
		{pbs.Refuse(pbs.NoQuorum), "old"},
		{nil, "old"},
	} {
		inPair(t, transport.RoleMom, func(t *testing.T, p *pair) {
			var over atomic.Bool
			permit := p.permit
			p.permit = func() (*api.PermitReply, error) {
				if over.Load() {
					return nil, c.over
				}
				return permit()
			}
			stream := p.mover.client(&api.LocateReply{Address: "hostb:15002", Host: "hostb", Role: "mom"}).Put(t.Context())
			send := func(m *api.PutRequest) {
				t.Helper()
				if err := stream.Send(m); err != nil {
					t.Fatal(err)
				}
			}
			send(&api.PutRequest{What: &api.PutRequest_Begin{Begin: &api.PutBegin{Job: "1.srv", RunCount: 1, Path: "b"}}})
			send(&api.PutRequest{What: &api.PutRequest_Entry{Entry: wire(files.Entry{Path: "a", Kind: files.File, Mode: 0o600, Size: 3})}})
			send(&api.PutRequest{What: &api.PutRequest_Data{Data: []byte("old")}})
			time.Sleep(2 * permitFor)
			over.Store(c.over != nil)
			lay(t, p.there+"/b", []byte("new"))
			send(&api.PutRequest{What: &api.PutRequest_End{End: &api.FilesEnd{}}})
			reply, err := stream.CloseAndReceive()
			if err != nil || (reply.Msg.GetFailure() == "") != (c.want == "old") {
				t.Errorf("%v: %v, %v", c.over, reply, err)
			}
			same(t, p.there+"/b", []byte(c.want))
			if left, _ := os.ReadDir(p.there); len(left) != 1 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestDo_EndsWithItsContext(t *testing.T) {
	inPair(t, transport.RoleMom, func(t *testing.T, p *pair) {
		lay(t, p.here+"/a", []byte("x"))
		ctx, cancel := context.WithCancel(t.Context())
		p.permit = func() (*api.PermitReply, error) {
			cancel()
			return nil, errors.New("late")
		}
		if _, err := p.mover.Do(ctx, p.transfer(true, "a", "b")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A host outside of the cluster is reached by a program that is run as the owner.
func TestDo_SCP(t *testing.T) {
	dir := t.TempDir()
	script := dir + "/scp"
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$@\" >>"+dir+"/log\n[ ! -e "+dir+"/fail ] || { echo lost >&2; exit 1; }\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	lay(t, dir+"/a.x", []byte("1"))
	lay(t, dir+"/b.x", []byte("2"))
	m := New(Config{Servers: &pair{}, SCP: func() string { return script }, Logger: slog.New(slog.DiscardHandler)})
	moved, err := m.Do(t.Context(), files.Transfer{Out: true, Here: dir + "/*.x", Host: "far", There: "to/", Remote: "ann"})
	if err != nil || len(moved.Sent) != 2 {
		t.Fatalf("%+v, %v", moved, err)
	}
	if _, err := m.Do(t.Context(), files.Transfer{Here: dir + "/in", Host: "far", There: "-x y", Remote: "ann"}); err != nil {
		t.Fatal(err)
	}
	want := "-B -r -p -- " + dir + "/a.x " + dir + "/b.x ann@far:to/\n-B -r -p -- ann@far:-x y " + dir + "/in\n"
	if log, err := os.ReadFile(dir + "/log"); string(log) != want {
		t.Errorf("%v, ran %s, want %s", err, log, want)
	}
	lay(t, dir+"/fail", nil)
	if _, err := m.once(t.Context(), files.Transfer{Out: true, Here: dir + "/a.x", Host: "far", There: "b", Remote: "ann"}); err == nil || !strings.Contains(err.Error(), "lost") || final(err) {
		t.Errorf("%v", err)
	}
}
