package mom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/task"
	"rampart/transport/api"
)

const (
	// tailEvery is how often a program's output is looked at while somebody follows it.
	tailEvery = 50 * time.Millisecond
	// tailBytes bounds one message of output.
	tailBytes = 32 << 10
)

// Spawn starts a program of the run. It is answered when the program is on record; Follow
// tells how it fares.
func (s sister) Spawn(ctx context.Context, r *connect.Request[api.SpawnRequest]) (*connect.Response[api.SpawnReply], error) {
	runner, err := s.part(ctx, r.Msg.GetJob(), r.Msg.GetRunCount())
	if err != nil {
		return nil, err
	}
	if t := runner.Task(); t.Behind(r.Msg.GetAssignment()) {
		s.lines.Job(pbs.LogJob, t.Key.Job, "job reliably started but missing updated nodes list. Try spawn() again later.")
		return nil, pbs.Errorf(pbs.BadState, "%s: the job's new assignment has not come yet", s.config.Host)
	}
	id, err := spawn(ctx, runner, task.Spawn{
		Key: r.Msg.GetKey(), Node: int(r.Msg.GetNode()), Args: r.Msg.GetArgs(), Env: r.Msg.GetEnv(),
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&api.SpawnReply{Program: id}), nil
}

func spawn(ctx context.Context, r *task.Runner, ev task.Spawn) (uint32, error) {
	// The job's own program may ask before we have taken note that it runs.
	if _, err := r.Await(ctx, func(t task.Task) bool { return t.State() != task.Starting && t.State() != task.Accepted }); err != nil {
		return 0, connect.NewError(connect.CodeUnavailable, err)
	}
	if err := r.Tell(ctx, ev); err != nil {
		return 0, err
	}
	for _, p := range r.Task().Programs {
		if p.Key == ev.Key {
			return p.ID, nil
		}
	}
	return 0, pbs.Refuse(pbs.SystemError)
}

// Follow tells of a program's output as it comes, and of its end.
func (s sister) Follow(ctx context.Context, r *connect.Request[api.FollowRequest], stream *connect.ServerStream[api.FollowReply]) error {
	runner, err := s.part(ctx, r.Msg.GetJob(), r.Msg.GetRunCount())
	if err != nil {
		return err
	}
	return s.follow(ctx, runner, r.Msg, stream.Send)
}

func (m *Mom) follow(ctx context.Context, runner *task.Runner, req *api.FollowRequest, send func(*api.FollowReply) error) error {
	id := req.GetProgram()
	if _, err := runner.Await(ctx, func(t task.Task) bool {
		p, known := t.Programs.Of(id)
		return !known || p.State != task.ProgramStarting
	}); err != nil {
		return connect.NewError(connect.CodeUnavailable, err)
	}
	output, failure := runner.ProgramOutput(id)
	outs := tail{path: output, at: req.GetOutOffset()}
	errs := tail{path: failure, at: req.GetErrOffset()}
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for {
		t := runner.Task() // before the files: what was written before the end is read
		p, known := t.Programs.Of(id)
		if !known {
			return pbs.Errorf(pbs.InvalidRequest, "job %s has no program %d on %s", t.Key.Job, id, m.config.Host)
		}
		reply := &api.FollowReply{}
		var err error
		if reply.Out, err = outs.next(); err == nil {
			reply.Err, err = errs.next()
		}
		if err != nil {
			return err
		}
		more := len(reply.Out) > 0 || len(reply.Err) > 0
		if !more && p.Done() {
			reply.Exited, reply.ExitStatus, reply.Failed = true, int32(p.Status), p.Failed
			return send(reply)
		}
		if more {
			if err := send(reply); err != nil {
				return err
			}
			continue
		}
		select {
		case <-tick.C:
		case <-runner.Done():
			return connect.NewError(connect.CodeUnavailable, errEnding)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A tail is a file that is read as it grows.
type tail struct {
	path string
	at   uint64
}

func (t *tail) next() ([]byte, error) {
	f, err := os.OpenFile(t.path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, tailBytes)
	n, err := f.ReadAt(buf, int64(t.at))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read output of a program: %w", err)
	}
	t.at += uint64(n)
	return buf[:n], nil
}
