package mover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/files"
	"rampart/mom/proc"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/pause"
)

// stall is how long nothing may move before an attempt is given up.
const stall = time.Minute

// pauses are what lies between the attempts at one transfer.
var pauses = []time.Duration{time.Second, 5 * time.Second, 15 * time.Second}

// errStalled is the end of an attempt in which nothing moved.
var errStalled = fmt.Errorf("nothing has moved for %s", stall)

// Config is what a Mover needs.
type Config struct {
	Identity *transport.Identity
	Network  transport.Network
	Servers  apiconnect.StagingClient
	// SCP returns the program for hosts that are not in the cluster, "" if there is none.
	SCP    func() string
	Logger *slog.Logger
}

// A Mover carries out transfers. Any number of goroutines may use it.
type Mover struct {
	config Config
	pools  transport.Pools // by role and host at the other end
}

// New returns a Mover. Close it when no transfer is in hand any more.
func New(c Config) *Mover { return &Mover{config: c} }

// Close ends idle connections.
func (m *Mover) Close() { m.pools.Close() }

// Do carries out a transfer, with a few attempts if the network or the other host fails. An
// error in whose chain is a *files.Error, or a refusal, would come again; files.ErrUnreachable says
// that the other host did not answer. When ctx ends, Do returns soon, with its error.
func (m *Mover) Do(ctx context.Context, e files.Transfer) (files.Moved, error) {
	if e.Host == "" {
		return m.local(ctx, e)
	}
	pauses := pauses
	if earlier(e) {
		pauses = pauses[:1] // the job waits for it, and starts without it
	}
	for attempt := 0; ; attempt++ {
		moved, err := m.once(ctx, e)
		switch {
		case err == nil, ctx.Err() != nil, final(err):
			return moved, err
		case attempt == len(pauses):
			return moved, fmt.Errorf("%w: %w", files.ErrUnreachable, err)
		}
		m.config.Logger.Warn("files not moved, trying again", "job", e.Job, "host", e.Host, "err", err)
		if !pause.For(ctx, pauses[attempt]) {
			return files.Moved{}, ctx.Err()
		}
	}
}

// earlier reports whether a transfer is of what an earlier run has written.
func earlier(e files.Transfer) bool { return e.Output && !e.Out }

// final reports whether an error would come again.
func final(err error) bool {
	if _, own := errors.AsType[*files.Error](err); own {
		return true
	}
	if code := connect.CodeOf(err); code == connect.CodePermissionDenied || code == connect.CodeUnauthenticated {
		return true
	}
	refusal, ok := errors.AsType[*pbs.Error](err)
	return ok && refusal.Code != pbs.NoQuorum && refusal.Code != pbs.SystemError
}

// once makes one attempt.
func (m *Mover) once(ctx context.Context, e files.Transfer) (files.Moved, error) {
	at, err := m.config.Servers.Locate(ctx, connect.NewRequest(&api.LocateRequest{Host: e.Host}))
	if err != nil {
		return files.Moved{}, fmt.Errorf("ask where %s is: %w", e.Host, err)
	}
	switch {
	case at.Msg.GetAddress() == "" && earlier(e): // nobody else can find it
		return files.Moved{}, &files.Error{Reason: e.Host + " is not in the cluster"}
	case at.Msg.GetAddress() == "":
		return m.scp(ctx, e)
	}
	moved, err := m.byDaemon(ctx, m.client(at.Msg), e)
	if connect.CodeOf(err) == connect.CodeUnimplemented && !earlier(e) { // nobody there can act as the owner
		return m.scp(ctx, e)
	}
	return moved, err
}

func (m *Mover) byDaemon(ctx context.Context, client apiconnect.FilesClient, e files.Transfer) (moved files.Moved, err error) {
	ctx, moving, done := watched(ctx)
	defer done()
	if e.Out {
		moved, err = put(ctx, client, e, moving)
	} else {
		moved, err = get(ctx, client, e, moving)
	}
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return moved, errStalled
	}
	return moved, err
}

// watched returns a context that ends when nothing moves for a while; moving is to be called
// whenever something does, done at the end.
func watched(ctx context.Context) (_ context.Context, moving, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(stall, func() { cancel(errStalled) })
	return ctx, func() { timer.Reset(stall) }, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

func (m *Mover) client(at *api.LocateReply) apiconnect.FilesClient {
	c := m.pools.Client(at.GetRole()+"/"+at.GetHost(), func() *http.Transport {
		id := m.config.Identity
		return transport.NewTransport(id.Over(m.config.Network), id.HostTLS(transport.Role(at.GetRole()), at.GetHost()))
	})
	return apiconnect.NewFilesClient(c, "https://"+at.GetAddress(), transport.Uncompressed())
}

// local copies on this host, as the owner.
func (m *Mover) local(ctx context.Context, e files.Transfer) (files.Moved, error) {
	ctx, moving, done := watched(ctx)
	defer done()
	from, target := e.There, files.Target{Path: e.Here, Name: e.Name, Tag: string(e.Job)}
	if e.Out {
		from, target.Path = e.Here, e.There
	}
	target.Many = files.IsPattern(from) && !e.Output
	result := new(files.Moved)
	err := proc.AsOwner(ctx, e.Owner, func() (err error) {
		r := files.NewReceiver(target)
		defer r.Close()
		sent, err := files.Send(from, &seen{r, moving})
		if err == nil {
			err = r.Finish()
		}
		*result = files.Moved{Wrote: r.Wrote(), Same: r.Same()}
		if e.Out {
			*result = files.Moved{Sent: sent, Same: r.Same()}
		}
		return err
	})
	if ctx.Err() != nil {
		return files.Moved{}, stalledIsFinal(context.Cause(ctx))
	}
	return *result, err
}

// stalledIsFinal makes an end of what hangs on this host: another attempt would hang, too.
func stalledIsFinal(err error) error {
	if errors.Is(err, errStalled) {
		return &files.Error{Reason: err.Error()}
	}
	return err
}

// seen tells of all that passes.
type seen struct {
	files.Sink
	moving func()
}

func (s *seen) Entry(e files.Entry) error {
	s.moving()
	return s.Sink.Entry(e)
}

func (s *seen) Write(p []byte) (int, error) {
	s.moving()
	return s.Sink.Write(p)
}
