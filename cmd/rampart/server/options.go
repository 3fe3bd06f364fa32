package server

import (
	"log/slog"

	"connectrpc.com/connect"

	"rampart/transport"
)

// maxMessage is the greatest message of a service: a script and what goes with it.
const maxMessage = 32 << 20

func serviceOptions(f transport.Failures, named connect.Interceptor, logger *slog.Logger) []connect.HandlerOption {
	return []connect.HandlerOption{
		connect.WithInterceptors(transport.ServerErrors(f, logger), named),
		connect.WithReadMaxBytes(maxMessage),
	}
}
