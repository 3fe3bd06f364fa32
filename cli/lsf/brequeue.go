package lsf

import (
	"context"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

func brequeue() *cli.Command {
	g := cli.Grammar{Letters: "J:m:q:u:aderHp", Dashed: map[string]bool{"app": true, "g": true, "sla": true, "C": true}}
	return command("brequeue", "end the runs of jobs and queue them again", "brequeue [-h] [-V] [-d] [-e] [-r] [-H] "+chosen, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "app", "g", "sla", "C", "a", "p"); err != nil {
			return err
		}
		return s.each(ctx, opts, "requeued", func(ctx context.Context, j job) error { return s.requeue(ctx, opts, j) })
	})
}

// requeue does so with a job that runs or is suspended; with -H it is held then. Those that are over stay so: LSF would run them again
// by -d and -e, and here their records are closed.
func (s *session) requeue(ctx context.Context, opts *cli.Options, j job) error {
	if j.finished() && (opts.Has("d") || opts.Has("e")) {
		return pbs.Errorf(pbs.NotSupported, "Job has finished, and a job is not run again here when it is over: submit it anew")
	}
	if j.pending() {
		return pbs.Refuse(pbs.BadState)
	}
	if opts.Has("H") && !j.finished() { // before it is queued, so that it does not start in between
		if _, err := s.batch.Hold(ctx, connect.NewRequest(&api.HoldRequest{Job: j.Name, Holds: "u"})); err != nil {
			return err
		}
	}
	_, err := s.batch.Rerun(s.next(ctx), connect.NewRequest(&api.RerunRequest{Job: j.Name, Anyway: true}))
	return err
}
