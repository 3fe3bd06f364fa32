package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"connectrpc.com/connect"

	"rampart/transport"
)

// judge tells of a failed attempt whether to make another, and whether this one
// may have taken effect all the same.
func judge(ctx context.Context, err error) (again, unknown bool) {
	if connect.IsWireError(err) { // a replica has spoken
		switch connect.CodeOf(err) {
		case connect.CodeUnavailable:
			return ctx.Err() == nil, uncertain(err)
		case connect.CodeAborted, connect.CodeDeadlineExceeded:
			return ctx.Err() == nil, true
		default:
			return false, false
		}
	}
	if roam, ok := errors.AsType[*transport.RoamError](err); ok {
		return ctx.Err() == nil, roam.Sent
	}
	_, big := errors.AsType[*http.MaxBytesError](err)
	switch code := connect.CodeOf(err); {
	case big, code == connect.CodeInvalidArgument, code == connect.CodeUnimplemented:
		return false, false // it could not even be sent, or the answer not be read
	default:
		return ctx.Err() == nil, true
	}
}

// uncertain reports whether another replica than the one that answers may have done what
// was asked: its connection broke, and the next one was asked in the same attempt.
func uncertain(err error) bool {
	said, ok := errors.AsType[*connect.Error](err)
	return ok && said.Meta().Get(transport.HeaderUncertain) != ""
}

// outcome turns the last attempt's error into the call's: a *pbs.Error if it
// was refused or is unknown, ErrUnreachable if nobody was there.
func (c *call) outcome(err error) error {
	refusal := transport.FromWire(err)
	_, roaming := errors.AsType[*transport.RoamError](err)
	switch {
	case c.unknown && !final(err):
		return transport.UnknownResult(c.id)
	case refusal != err:
		return refusal
	case roaming:
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	case connect.CodeOf(err) == connect.CodeUnavailable:
		return transport.NoQuorum(err)
	default:
		return err
	}
}

// final reports whether err is an answer that settles the request, an earlier
// attempt with an unknown outcome included.
func final(err error) bool {
	if !connect.IsWireError(err) {
		return false
	}
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable, connect.CodeAborted, connect.CodeDeadlineExceeded, connect.CodeCanceled:
		return false
	default:
		return true
	}
}

// isEOF tells the ordinary end of a stream from a failure.
func isEOF(err error) bool { return errors.Is(err, io.EOF) && !connect.IsWireError(err) }
