package transport

import (
	"net/http"

	"connectrpc.com/connect"
)

// errorWriter answers, in the protocol of the request, what no service was asked.
type errorWriter struct{ connect *connect.ErrorWriter }

func newErrorWriter() errorWriter { return errorWriter{connect.NewErrorWriter()} }

func (e errorWriter) write(w http.ResponseWriter, r *http.Request, err error) {
	err = Failures{}.encode(err)
	code := connect.CodeOf(err)
	if code == connect.CodeUnavailable {
		w.Header().Set(HeaderElsewhere, "1")
	}
	if e.connect.IsSupported(r) {
		_ = e.connect.Write(w, r, err) // fails when the caller is gone
		return
	}
	http.Error(w, err.Error(), httpStatus(code))
}

func httpStatus(c connect.Code) int {
	switch c {
	case connect.CodeUnauthenticated:
		return http.StatusUnauthorized
	case connect.CodePermissionDenied:
		return http.StatusForbidden
	case connect.CodeUnavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}
