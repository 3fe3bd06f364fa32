package pbs

import (
	"cmp"
	"context"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/transport/api"
)

// queueStates returns the commands that open and close queues: qdisable and qenable for
// submissions, qstop and qstart for starts.
func queueStates() []*cli.Command {
	return []*cli.Command{
		queueState("qdisable", "stop queues from accepting jobs", "enabled", "False"),
		queueState("qenable", "let queues accept jobs", "enabled", "True"),
		queueState("qstart", "let jobs of queues start", "started", "True"),
		queueState("qstop", "stop jobs of queues from starting", "started", "False"),
	}
}

func queueState(name, summary, attribute, value string) *cli.Command {
	c := &cli.Command{
		Name: name, Summary: summary, Grammar: own(""), UsageStatus: 2,
		Usage: "usage: " + name + " [queue][@server] ...\n       " + name + " --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		if len(opts.Operands) == 0 {
			return c.Misuse()
		}
		s, err := open(env, c, opts)
		if err != nil {
			return err
		}
		for _, destination := range opts.Operands {
			if s.setQueue(ctx, destination, &api.Attribute{Name: attribute, Value: value}) {
				break
			}
		}
		return s.end()
	}
	return c
}

// setQueue sets an attribute of a queue, or of all queues of a server. It tells of a
// failure, and whether it makes trying others useless.
func (s *session) setQueue(ctx context.Context, destination string, a *api.Attribute) (fatal bool) {
	call := s.next(ctx)
	queue, server, _ := strings.Cut(destination, "@")
	if err := s.mean(server); err != nil {
		return s.fail(err, nil)
	}
	r := &api.ManageRequest{
		Verb: api.Verb_VERB_SET, Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Name: cmp.Or(queue, "@default"),
		Changes: []*api.Attribute{a},
	}
	if _, err := s.batch.Manage(call, connect.NewRequest(r)); err != nil {
		return s.fail(err, func(text string) string { return strings.TrimSpace(text) + " " + destination })
	}
	return false
}
