package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// ErrNotLeader is the error of a method that only the leader can do, met by a
// replica that is not it: nothing was done, another replica may do it.
var ErrNotLeader = errors.New("not the leader")

// Failures names the errors of the code behind a service that are no refusals.
// An error that wraps none of them is a system error.
type Failures struct {
	NotLeader error // nothing was done: ask the leader
	Unknown   error // it may yet take effect: ask again with the same request id
	NoQuorum  error // nothing was done: the replicas cannot commit now
}

// wireCodes maps refusals to the codes that gRPC and HTTP clients know. Those
// not named are failed preconditions.
var wireCodes = map[pbs.Code]connect.Code{
	pbs.UnknownJob:           connect.CodeNotFound,
	pbs.UnknownQueue:         connect.CodeNotFound,
	pbs.UnknownNode:          connect.CodeNotFound,
	pbs.UnknownHost:          connect.CodePermissionDenied,
	pbs.NoServer:             connect.CodeNotFound,
	pbs.Unauthorized:         connect.CodePermissionDenied,
	pbs.BadUser:              connect.CodePermissionDenied,
	pbs.BadToken:             connect.CodePermissionDenied,
	pbs.UndefinedAttribute:   connect.CodeInvalidArgument,
	pbs.ReadOnlyAttribute:    connect.CodeInvalidArgument,
	pbs.BadAttributeValue:    connect.CodeInvalidArgument,
	pbs.InvalidRequest:       connect.CodeInvalidArgument,
	pbs.UnknownResource:      connect.CodeInvalidArgument,
	pbs.BadSelect:            connect.CodeInvalidArgument,
	pbs.PlaceAlone:           connect.CodeInvalidArgument,
	pbs.ResourceBesideSelect: connect.CodeInvalidArgument,
	pbs.DuplicateResource:    connect.CodeInvalidArgument,
	pbs.BadSignal:            connect.CodeInvalidArgument,
	pbs.ScriptTooLarge:       connect.CodeInvalidArgument,
	pbs.ScriptOverLimit:      connect.CodeInvalidArgument,
	pbs.LongScriptLimit:      connect.CodeInvalidArgument,
	pbs.ExpiredRequest:       connect.CodeInvalidArgument,
	pbs.QueueExists:          connect.CodeAlreadyExists,
	pbs.NodeExists:           connect.CodeAlreadyExists,
	pbs.ReusedRequest:        connect.CodeAlreadyExists,
	pbs.NotSupported:         connect.CodeUnimplemented,
	pbs.SystemError:          connect.CodeInternal,
	pbs.NoQuorum:             connect.CodeUnavailable,
	pbs.UnknownResult:        connect.CodeAborted,
}

// toWire makes a Connect error that carries the refusal.
func toWire(e *pbs.Error) *connect.Error {
	code, ok := wireCodes[e.Code]
	if !ok {
		code = connect.CodeFailedPrecondition
	}
	out := connect.NewError(code, errors.New(e.Message))
	if d, err := connect.NewErrorDetail(&api.Refusal{Code: uint32(e.Code), Message: e.Message, Operand: uint32(e.Operand)}); err == nil {
		out.AddDetail(d)
	}
	return out
}

// FromWire returns the refusal in a Connect error's details, or err as it is. A
// body over the limit of the port has no details; only a script can be so large.
func FromWire(err error) error {
	ce, ok := errors.AsType[*connect.Error](err)
	if !ok {
		return err
	}
	for _, d := range ce.Details() {
		msg, derr := d.Value()
		if r, ok := msg.(*api.Refusal); ok && derr == nil {
			return &pbs.Error{Code: pbs.Code(r.GetCode()), Message: r.GetMessage(), Operand: uint8(r.GetOperand())}
		}
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge("", big.Limit)
	}
	if ce.Code() == connect.CodeResourceExhausted {
		return tooLarge("", maxBody)
	}
	return err
}

// tooLarge refuses a request for its length, and says what it was as far as that is known.
func tooLarge(path string, limit int64) error {
	if path == apiconnect.BatchSubmitProcedure {
		return pbs.Refuse(pbs.ScriptTooLarge) // what else of it could be so large?
	}
	what := "request"
	if path != "" {
		what += " " + path[strings.LastIndexByte(path, '/')+1:]
	}
	return &pbs.Error{Code: pbs.ScriptTooLarge, Message: fmt.Sprintf("the %s is larger than the limit of %d bytes", what, limit)}
}

// encode turns what a handler returned into what goes over the wire.
func (f Failures) encode(err error) error {
	if _, ok := errors.AsType[*connect.Error](err); ok || err == nil {
		return err
	}
	is := func(target error) bool { return target != nil && errors.Is(err, target) }
	refusal, refused := errors.AsType[*pbs.Error](err)
	switch {
	case refused:
		return toWire(refusal)
	case is(f.Unknown):
		return toWire(pbs.Refuse(pbs.UnknownResult))
	case is(f.NotLeader), is(ErrNotLeader):
		return connect.NewError(connect.CodeUnavailable, ErrNotLeader)
	case is(f.NoQuorum):
		return toWire(pbs.Refuse(pbs.NoQuorum))
	case is(context.Canceled):
		return connect.NewError(connect.CodeCanceled, err)
	case is(context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	default:
		return toWire(pbs.Refuse(pbs.SystemError))
	}
}

// ServerErrors returns the interceptor of every service: it turns the errors of
// the methods into Connect errors that carry the refusal. System errors are
// logged here, for their words do not leave the process.
func ServerErrors(f Failures, logger *slog.Logger) connect.Interceptor {
	return &errorInterceptor{failures: f, logger: logger}
}

type errorInterceptor struct {
	failures Failures
	logger   *slog.Logger
}

func (i *errorInterceptor) translate(procedure string, err error) error {
	if err == nil {
		return nil
	}
	out := i.failures.encode(err)
	if connect.CodeOf(out) == connect.CodeInternal {
		i.logger.Error("request failed", "method", procedure, "err", err)
	}
	return out
}

// WrapUnary implements connect.Interceptor.
func (i *errorInterceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		resp, err := next(ctx, req)
		if err != nil {
			return nil, i.translate(req.Spec().Procedure, err)
		}
		return resp, nil
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (i *errorInterceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (i *errorInterceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		err := i.translate(conn.Spec().Procedure, next(ctx, conn))
		if connect.CodeOf(err) == connect.CodeUnavailable {
			conn.ResponseHeader().Set(HeaderElsewhere, "1") // lost if the stream has begun, and then of no use
		}
		return err
	}
}

// dialError is an attempt that ended before anything was sent.
type dialError struct {
	address string
	err     error
}

func (e *dialError) Error() string { return fmt.Sprintf("connect to %s: %v", e.address, e.err) }
func (e *dialError) Unwrap() error { return e.err }

// UnknownResult is the error of a call whose budget ended without an answer: the
// user may ask again with the same id.
func UnknownResult(id RequestID) error {
	return pbs.Errorf(pbs.UnknownResult, "%s (request id %s)", pbs.UnknownResult.Text(), id)
}

// NoQuorum returns the error of a call that replicas answered but none could execute.
func NoQuorum(cause error) error {
	return fmt.Errorf("%w: %w", pbs.Refuse(pbs.NoQuorum), cause)
}
