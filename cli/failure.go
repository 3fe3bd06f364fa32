package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
)

// A Failure is an error as a user reads it.
type Failure struct {
	Text   string
	Status int  // never 0
	Fatal  bool // no use in trying further operands
}

// An Unreachable error says that no server answered.
type Unreachable struct {
	Server string
	Err    error
}

// Error has PBS's words for it.
func (e *Unreachable) Error() string {
	return fmt.Sprintf("cannot connect to server %s (errno=%d)", e.Server, errno(e.Err))
}

// Unwrap returns what stood in the way.
func (e *Unreachable) Unwrap() error { return e.Err }

// Located names the server in errors that mean it could not be reached or
// trusted; refusals pass unchanged.
func Located(server string, err error) error {
	var refusal *pbs.Error
	var known *Unreachable
	var foreign *tls.CertificateVerificationError
	var file *fs.PathError
	switch {
	case errors.As(err, &known), errors.As(err, &file): // standard output may be a file
		return err
	case errors.As(err, &refusal) && refusal.Code == pbs.NoServer:
		return &Unreachable{Server: server, Err: refusal}
	case err == nil, refusal != nil:
		return err
	case errors.As(err, &foreign):
		return fmt.Errorf("server %s is not of this cluster: %w", server, foreign)
	case connect.CodeOf(err) == connect.CodeUnavailable, errno(err) != int(pbs.SystemError):
		return &Unreachable{Server: server, Err: err}
	}
	return err
}

// Explain turns any error into text and status.
func Explain(err error) Failure {
	var refusal *pbs.Error
	var down *Unreachable
	switch {
	case errors.As(err, &down):
		return Failure{Text: withCause(down), Status: status(errno(down.Err)), Fatal: true}
	case errors.As(err, &refusal):
		return explainRefusal(refusal)
	case errors.Is(err, context.DeadlineExceeded), connect.CodeOf(err) == connect.CodeDeadlineExceeded:
		return Failure{Text: pbs.UnknownResult.Text(), Status: status(int(pbs.UnknownResult)), Fatal: true}
	}
	return Failure{Text: plain(err), Status: 1, Fatal: true}
}

func explainRefusal(r *pbs.Error) Failure {
	text := r.Message
	if text == "" {
		text = fmt.Sprintf("Server returned error %d", r.Code)
	}
	fatal := r.Code == pbs.NoQuorum || r.Code == pbs.UnknownResult
	return Failure{Text: text, Status: status(r.Code.Number()), Fatal: fatal}
}

// withCause adds the cause where the number alone would not tell it.
func withCause(e *Unreachable) string {
	if errno(e.Err) != int(pbs.SystemError) || e.Err == nil {
		return e.Error()
	}
	return e.Error() + ": " + plain(e.Err)
}

// plain drops the RPC layer's own prefix.
func plain(err error) string {
	var c *connect.Error
	if errors.As(err, &c) {
		return c.Message()
	}
	return err.Error()
}

// errno returns the system's error number, or PBS's own.
func errno(err error) int {
	var n syscall.Errno
	if errors.As(err, &n) {
		return int(n)
	}
	var refusal *pbs.Error
	if errors.As(err, &refusal) {
		return refusal.Code.Number()
	}
	return int(pbs.SystemError)
}

func status(code int) int {
	if s := code % 256; s != 0 {
		return s
	}
	return 1
}

// Passing reports whether an error may be over when the replicas are well again, so that who waits
// asks again.
func Passing(err error) bool {
	var refusal *pbs.Error
	var down *Unreachable
	if errors.As(err, &refusal) && !errors.As(err, &down) {
		return refusal.Code == pbs.NoQuorum || refusal.Code == pbs.UnknownResult
	}
	return !errors.Is(err, context.Canceled)
}
