package mom

import (
	"context"
	"errors"
	"net"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/pause"
)

const (
	// attachFor is how long somebody who attaches waits for a job that is being started.
	attachFor = 5 * time.Second
	// lastWord bounds the wait to tell a session that its terminal is cut off.
	lastWord = time.Second
)

// TerminalStream is one terminal, as a replica passes it on.
type TerminalStream = connect.BidiStream[api.TerminalUp, api.TerminalDown]

// Terminal connects a terminal to the session of an interactive job. The session is the
// shim's: it outlives this call, and this mom.
func (m *Mom) Terminal(ctx context.Context, stream *TerminalStream) error {
	first, err := stream.Receive()
	if err != nil {
		return err
	}
	l := m.running()
	if l == nil {
		return connect.NewError(connect.CodeUnavailable, errEnding)
	}
	k := key(&api.Order{Job: first.GetJob(), RunCount: first.GetRunCount()})
	conn, err := l.attach(ctx, l.task(k))
	if err != nil {
		return err
	}
	defer conn.Close()
	ending := context.AfterFunc(l.ctx, func() { _ = conn.Close() })
	defer ending()
	if err := stream.Send(&api.TerminalDown{}); err != nil {
		return err
	}
	go l.passUp(ctx, stream, first, conn)
	for {
		f, err := proc.ReadFrame(conn)
		if err != nil { // the session is over, or somebody else has attached to it
			return connect.NewError(connect.CodeUnavailable, errors.New("the session has ended this connection"))
		}
		if err := stream.Send(&api.TerminalDown{Frame: wireFrame(f)}); err != nil {
			return err
		}
	}
}

// errNotHere is no refusal: the order to run the job may be on its way, and whether the run is over
// the servers know.
var errNotHere = errors.New("the run is not on this host")

// attach waits until the job has a session.
func (l *life) attach(ctx context.Context, r *task.Runner) (net.Conn, error) {
	if r == nil {
		return nil, connect.NewError(connect.CodeUnavailable, errNotHere)
	}
	ctx, cancel := context.WithTimeout(ctx, attachFor)
	defer cancel()
	for {
		conn, err := r.Attach()
		starting := r.Task().State() < task.Running
		switch {
		case err == nil, !errors.Is(err, proc.ErrNoTerminal):
			return conn, err
		case !starting:
			return nil, pbs.Refuse(pbs.BadState)
		}
		if !pause.For(ctx, 20*time.Millisecond) {
			return nil, connect.NewError(connect.CodeUnavailable, errors.New("the job has not started yet"))
		}
	}
}

// passUp hands what comes from the terminal to the session. If the terminal is cut off and
// the mom is not, the session is told.
func (l *life) passUp(ctx context.Context, stream *TerminalStream, msg *api.TerminalUp, conn net.Conn) {
	defer conn.Close()
	for {
		f := msg.GetFrame()
		if k := proc.FrameKind(f.GetKind()); k >= proc.FrameAttach && k <= proc.FrameHangup || k == proc.FrameDisplay || k == proc.FrameInputEnd {
			if proc.WriteFrame(conn, proc.Frame{Kind: k, Offset: f.GetOffset(), Data: f.GetData()}) != nil {
				return
			}
		}
		var err error
		if msg, err = stream.Receive(); err == nil {
			continue
		}
		select {
		case <-transport.Stopping(ctx):
		case <-l.ctx.Done():
		default:
			_ = conn.SetWriteDeadline(time.Now().Add(lastWord))
			_ = proc.WriteFrame(conn, proc.Frame{Kind: proc.FrameLeft})
		}
		return
	}
}

func wireFrame(f proc.Frame) *api.Frame {
	return &api.Frame{Kind: api.FrameKind(f.Kind), Offset: f.Offset, Data: f.Data}
}
