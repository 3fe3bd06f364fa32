package pbs

import (
	"context"

	"rampart/cli"
	"rampart/transport/api"
)

// watch follows jobs until each has seen enough, as cli.Watch does.
func (s *session) watch(ctx context.Context, r *api.WatchRequest, begun bool, each func(*api.WatchReply) (enough bool, err error)) error {
	return cli.Watch(ctx, s.batch, r, begun, func(m *api.WatchReply) (bool, error) {
		if m.Header != nil {
			s.server = m.Header.Server
		}
		return each(m)
	})
}

func value(o *api.Object, name string) string { return cli.Value(o, name) }
