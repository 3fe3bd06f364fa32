package mom

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/pause"
)

const (
	// followAgain is the pause before a program is followed again after its mom was away.
	followAgain = 300 * time.Millisecond
	// followFor is how long a program's mom may be away before nobody waits any more.
	followFor = 2 * time.Minute
)

// taskManager is the TaskManager service: what programs of jobs ask of this mom.
type taskManager struct{ *Mom }

var _ apiconnect.TaskManagerHandler = taskManager{}

type uidKey struct{}

// ServeTasks serves the programs of jobs at a Unix socket until ctx ends.
func (m *Mom) ServeTasks(ctx context.Context, ln net.Listener) error {
	path, handler := apiconnect.NewTaskManagerHandler(taskManager{m},
		connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, m.config.Logger)), connect.WithReadMaxBytes(2*task.MaxProgram))
	mux := http.NewServeMux()
	mux.Handle(path, handler)
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:    slog.NewLogLogger(m.config.Logger.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			uid, err := transport.PeerUID(c)
			if err != nil {
				return ctx
			}
			return context.WithValue(ctx, uidKey{}, uid)
		},
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// job finds the run of a program of a job. The cookie says which job it is of, the kernel that
// it is its owner's.
func (m *Mom) job(ctx context.Context, c *api.Credential, byOwner bool) (*task.Runner, error) {
	l := m.running()
	if l == nil {
		return nil, connect.NewError(connect.CodeUnavailable, errEnding)
	}
	uid, known := ctx.Value(uidKey{}).(uint32)
	if !known {
		return nil, pbs.Refuse(pbs.Unauthorized)
	}
	for _, r := range l.all() {
		t := r.Task()
		if !isNamed(t.Key.Job, c.GetJob()) || t.Over() {
			continue
		}
		proven := subtle.ConstantTimeCompare([]byte(t.Cookie), []byte(c.GetCookie())) == 1
		if !proven && !byOwner {
			return nil, pbs.Refuse(pbs.Unauthorized)
		}
		owner, err := l.site.Owner(ctx, t)
		if err != nil {
			return nil, err
		}
		if uid != owner && uid != 0 {
			return nil, pbs.Refuse(pbs.Unauthorized)
		}
		return r, nil
	}
	return nil, pbs.Refuse(pbs.UnknownJob)
}

// isNamed reports whether a job is meant by its identifier, or by that without the server.
func isNamed(job pbs.JobID, name string) bool {
	return string(job) == name || !strings.Contains(name, ".") && strings.HasPrefix(string(job), name+".")
}

// Nodes returns the node table.
func (s taskManager) Nodes(ctx context.Context, r *connect.Request[api.NodesRequest]) (*connect.Response[api.NodesReply], error) {
	runner, err := s.job(ctx, r.Msg.GetCredential(), false)
	if err != nil {
		return nil, err
	}
	t := runner.Task()
	nodes, err := t.Nodes(s.config.Host)
	if err != nil {
		return nil, err
	}
	reply := &api.NodesReply{Hosts: nodes}
	for _, h := range s.hostsOf(t) {
		reply.Addresses = append(reply.Addresses, &api.RunHost{Name: string(h.Name), Address: h.Address})
	}
	return connect.NewResponse(reply), nil
}

// hostsOf returns the hosts of a run, of which there may be this one only.
func (m *Mom) hostsOf(t task.Task) []task.Host {
	if len(t.Hosts) > 0 {
		return t.Hosts
	}
	return []task.Host{{Name: m.config.Host, Address: m.config.Address}}
}

// Run spawns a program at a node.
func (s taskManager) Run(ctx context.Context, r *connect.Request[api.RunTaskRequest]) (*connect.Response[api.RunTaskReply], error) {
	runner, err := s.job(ctx, r.Msg.GetCredential(), false)
	if err != nil {
		return nil, err
	}
	t := runner.Task()
	nodes, err := t.Nodes(s.config.Host)
	if err != nil {
		return nil, err
	}
	if int(r.Msg.GetNode()) >= len(nodes) {
		return nil, pbs.Errorf(pbs.InvalidRequest, "job %s has %d nodes", t.Key.Job, len(nodes))
	}
	req := &api.SpawnRequest{
		Job: string(t.Key.Job), RunCount: uint32(t.Key.Run), Key: r.Msg.GetKey(), Node: r.Msg.GetNode(),
		Args: r.Msg.GetArgs(), Env: r.Msg.GetEnv(), Assignment: t.Assignment.Number,
	}
	reply := &api.RunTaskReply{Host: nodes[r.Msg.GetNode()]}
	if reply.Program, err = s.spawnAt(ctx, runner, pbs.HostName(reply.Host), req); err != nil {
		return nil, err
	}
	if r.Msg.GetUnattended() {
		s.relay(runner, reply)
	}
	return connect.NewResponse(reply), nil
}

func (m *Mom) spawnAt(ctx context.Context, runner *task.Runner, host pbs.HostName, req *api.SpawnRequest) (uint32, error) {
	if host == m.config.Host {
		return spawn(ctx, runner, task.Spawn{Key: req.GetKey(), Node: int(req.GetNode()), Args: req.GetArgs(), Env: req.GetEnv()})
	}
	for _, h := range runner.Task().Hosts {
		if h.Name != host || m.config.Sisters == nil {
			continue
		}
		reply, err := m.config.Sisters.SisterOf(string(h.Name), h.Address).Spawn(ctx, connect.NewRequest(req))
		if err != nil {
			return 0, transport.FromWire(err)
		}
		return reply.Msg.GetProgram(), nil
	}
	return 0, pbs.Errorf(pbs.InvalidRequest, "host %q is not one of job %s", host, req.GetJob())
}

// Output follows a program wherever it runs.
func (s taskManager) Output(ctx context.Context, r *connect.Request[api.OutputRequest], stream *connect.ServerStream[api.FollowReply]) error {
	runner, err := s.job(ctx, r.Msg.GetCredential(), false)
	if err != nil {
		return err
	}
	return s.followAt(ctx, runner, r.Msg, stream.Send)
}

// followAt follows a program through restarts of its mom.
func (m *Mom) followAt(ctx context.Context, runner *task.Runner, out *api.OutputRequest, send func(*api.FollowReply) error) error {
	t := runner.Task()
	req := &api.FollowRequest{
		Job: string(t.Key.Job), RunCount: uint32(t.Key.Run), Program: out.GetProgram(),
		OutOffset: out.GetOutOffset(), ErrOffset: out.GetErrOffset(),
	}
	if pbs.HostName(out.GetHost()) == m.config.Host {
		return m.follow(ctx, runner, req, send)
	}
	var client apiconnect.SisterClient
	for _, h := range t.Hosts {
		if string(h.Name) == out.GetHost() && m.config.Sisters != nil {
			client = m.config.Sisters.SisterOf(string(h.Name), h.Address)
		}
	}
	if client == nil {
		return pbs.Errorf(pbs.InvalidRequest, "host %q is not one of job %s", out.GetHost(), t.Key.Job)
	}
	heard := time.Now()
	for {
		exited := false
		err := receive(ctx, client, req, func(reply *api.FollowReply) error {
			heard, exited = time.Now(), reply.GetExited()
			req.OutOffset += uint64(len(reply.GetOut()))
			req.ErrOffset += uint64(len(reply.GetErr()))
			return send(reply)
		})
		_, refused := errors.AsType[*pbs.Error](err)
		switch {
		case exited, ctx.Err() != nil, refused:
			return err
		case time.Since(heard) > followFor || runner.Task().Over():
			return fmt.Errorf("program %d at %s: %w", out.GetProgram(), out.GetHost(), err)
		case !pause.For(ctx, followAgain):
			return ctx.Err()
		}
	}
}

func receive(ctx context.Context, client apiconnect.SisterClient, req *api.FollowRequest, take func(*api.FollowReply) error) error {
	stream, err := client.Follow(ctx, connect.NewRequest(req))
	if err != nil {
		return transport.FromWire(err)
	}
	for stream.Receive() {
		if err := take(stream.Msg()); err != nil {
			return errors.Join(err, stream.Close())
		}
	}
	err = transport.FromWire(stream.Err())
	_ = stream.Close()
	return err
}

// relay brings the output of a program for which nobody waits to the job's.
func (m *Mom) relay(runner *task.Runner, p *api.RunTaskReply) {
	l := m.running()
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.wg.Go(func() {
		// Before that its output is not open.
		_, err := runner.Await(l.ctx, func(t task.Task) bool { return t.State() != task.Starting })
		if err != nil {
			return
		}
		err = m.followAt(l.ctx, runner, &api.OutputRequest{Host: p.GetHost(), Program: p.GetProgram()}, func(r *api.FollowReply) error {
			return runner.Append(r.GetOut(), r.GetErr())
		})
		if err != nil && l.ctx.Err() == nil {
			m.config.Logger.Warn("output of a program not brought to its job", "job", runner.Task().Key.Job, "err", err)
		}
	})
}

// attachWait is how long a session waits for a job that is about to start.
const attachWait = 30 * time.Second

// begun waits while the job starts. Whether it runs then is said when it is told of the session.
func begun(ctx context.Context, runner *task.Runner) error {
	bounded, cancel := context.WithTimeout(ctx, attachWait)
	defer cancel()
	_, err := runner.Await(bounded, func(t task.Task) bool {
		return t.State() != task.Accepted && t.State() != task.Joining && t.State() != task.Starting
	})
	if err != nil && bounded.Err() == nil { // the mom ends
		return connect.NewError(connect.CodeUnavailable, err)
	}
	return ctx.Err()
}

// Attach makes a session of this host the job's. It waits for a job that is just starting.
func (s taskManager) Attach(ctx context.Context, r *connect.Request[api.AttachRequest]) (*connect.Response[api.AttachReply], error) {
	runner, err := s.job(ctx, r.Msg.GetCredential(), true)
	if err != nil {
		return nil, err
	}
	if err := begun(ctx, runner); err != nil {
		return nil, err
	}
	h, owner, err := proc.SessionOf(int(r.Msg.GetPid()))
	if err != nil {
		return nil, pbs.Errorf(pbs.InvalidRequest, "%v", err)
	}
	if uid, _ := ctx.Value(uidKey{}).(uint32); uid != owner && uid != 0 {
		return nil, pbs.Refuse(pbs.Unauthorized)
	}
	if err := s.attachHooks(ctx, runner.Task(), int(r.Msg.GetPid())); err != nil {
		return nil, err
	}
	if err := runner.Tell(ctx, task.Attach{Handle: h}); err != nil {
		return nil, err
	}
	s.lines.Job(pbs.LogJob, runner.Task().Key.Job, fmt.Sprintf("attached session %d", h.Session))
	return connect.NewResponse(&api.AttachReply{}), nil
}
