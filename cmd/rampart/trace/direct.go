package trace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/cli"
	commands "rampart/cli/pbs"
	"rampart/cluster"
	"rampart/cluster/member"
	"rampart/cluster/sched"
	"rampart/cluster/service"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api/apiconnect"
)

// A replica gives the services the machine. Requests are not remembered: their identifiers are of another time.
type replica struct {
	service.Replica
	m *machine
}

func (r replica) Propose(_ context.Context, p command.Proposal) (command.Outcome, error) {
	p.ID = ""
	return r.m.entry(p)[0], nil
}

func (r replica) Read(context.Context, cluster.Mode) (*state.View, error) { return r.m.view(), nil }
func (r replica) ReadIndex(context.Context) (index, term uint64, err error) {
	return r.m.index, 1, nil
}
func (r replica) Age() time.Duration           { return 0 }
func (r replica) Changed() <-chan struct{}     { return nil }
func (r replica) Status() member.Status        { return member.Status{Applied: r.m.index} }
func (r replica) Leader() (string, bool, bool) { return serverName, true, true }

// everybody has an account.
type everybody struct{}

func (everybody) ByUID(context.Context, uint32) (transport.Account, error) {
	return transport.Account{}, transport.ErrNoAccount
}

func (everybody) ByName(_ context.Context, name string) (transport.Account, error) {
	uid := uint32(1000)
	if name == "root" {
		uid = 0
	}
	return transport.Account{Name: name, UID: uid, GID: 100, Home: "/home/" + name, Group: "users", Groups: []string{"users"}, GIDs: []uint32{100}}, nil
}

// nobody reads the logs.
type nobody struct{}

func (nobody) Write(time.Time, uint16, string, string, string) error { return nil }

// A direct is the way of commands to the services of the machine: their handlers are called, and nothing lies between.
type direct struct {
	handler http.Handler
	caller  transport.Caller
}

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &answer{header: http.Header{}, status: http.StatusOK}
	d.handler.ServeHTTP(w, r.WithContext(transport.WithCaller(r.Context(), d.caller)))
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), Request: r, ContentLength: -1,
	}, nil
}

// An answer is what a handler writes.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
func (a *answer) Flush()                      {}

// services returns the services of the machine that commands ask.
func (m *machine) services() http.Handler {
	s := service.New(service.Config{
		Replica: replica{m: m}, Accounts: everybody{}, Log: nobody{}, Logger: slog.New(slog.DiscardHandler),
		Scheduler: service.Scheduler{Shares: sched.ShareTree},
	})
	mux := http.NewServeMux()
	mux.Handle(apiconnect.NewBatchHandler(s.Batch, connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, slog.New(slog.DiscardHandler)))))
	return mux
}

// A shell runs commands of PBS against the machine.
type shell struct {
	handler http.Handler
	open    func(name string) (fs.File, error)
	now     func() time.Time
}

func newShell(m *machine) *shell {
	return &shell{handler: m.services(), now: func() time.Time { return time.Unix(0, int64(m.at)) }}
}

// run runs a command line of a user to its end, with a standard input.
func (s *shell) run(user, stdin string, argv ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	role := transport.RoleSubmit
	if user == "root" {
		role = transport.RoleReplica
	}
	caller := transport.Caller{User: pbs.User{Name: user, Host: serverName}, Role: role, Host: serverName, Vouched: true}
	batch := apiconnect.NewBatchClient(&http.Client{Transport: direct{s.handler, caller}}, "http://"+serverName, connect.WithInterceptors(refusals{}))
	open := s.open
	if open == nil {
		open = func(name string) (fs.File, error) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
	}
	env := &cli.Env{
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs,
		Environ: func() []string {
			return []string{"HOME=/home/" + user, "LOGNAME=" + user, "PATH=/usr/bin:/bin", "SHELL=/bin/sh", "USER=" + user}
		},
		Now: s.now, Zone: time.UTC,
		Hostname: func() (string, error) { return serverName, nil },
		Getwd:    func() (string, error) { return "/home/" + user, nil },
		Open:     open,
		Stat: func(name string) (fs.FileInfo, error) {
			f, err := open(name)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return f.Stat()
		},
		WriteFile: func(name string, _ []byte) error {
			return &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
		},
		Terminal:      func() bool { return false },
		Console:       func() (cli.Console, bool) { return nil, false },
		Editor:        func(string) cli.LineEditor { return nil },
		Batch:         func(cli.Target) (apiconnect.BatchClient, error) { return batch, nil },
		Halt:          func(cli.Target) (apiconnect.HaltClient, error) { return nil, errors.ErrUnsupported },
		Gone:          func(context.Context, string) bool { return false },
		Start:         func([]string) (cli.Child, error) { return nil, errors.ErrUnsupported },
		WithRequestID: func(ctx context.Context, _ string) context.Context { return ctx },
		NewRequestID:  func() string { return string(transport.NewRequestID()) },
	}
	status = cli.Main(context.Background(), env, argv, commands.Commands())
	return out.String(), errs.String(), status
}

// refusals turn the errors of calls into what the services refused them with.
type refusals struct{}

// WrapUnary implements connect.Interceptor.
func (refusals) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		out, err := next(ctx, r)
		if err != nil {
			return nil, transport.FromWire(err)
		}
		return out, nil
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (refusals) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (refusals) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}
