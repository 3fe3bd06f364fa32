package server

import (
	"log/slog"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
)

// maxMessage is the greatest message of a service: a script and what goes with it.
const maxMessage = pbs.MaxScript + 16<<20

// serviceOptions: calls are counted by the code that the caller sees, so outermost.
func serviceOptions(calls connect.Interceptor, f transport.Failures, named connect.Interceptor, logger *slog.Logger) []connect.HandlerOption {
	return []connect.HandlerOption{
		connect.WithInterceptors(calls, transport.ServerErrors(f, logger), named),
		connect.WithReadMaxBytes(maxMessage),
	}
}
