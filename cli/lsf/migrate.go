package lsf

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

func bchkpnt() *cli.Command {
	g := cli.Grammar{Letters: "kfp:J:m:q:u:", Dashed: map[string]bool{"app": true}}
	usage := "bchkpnt [-h] [-V] -k | -p minutes\n             " + chosen
	return command("bchkpnt", "checkpoint jobs", usage, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "f", "app"); err != nil {
			return err
		}
		switch {
		case opts.Has("p"):
			minutes, err := strconv.Atoi(opts.Last("p"))
			if err != nil || minutes < 0 || minutes > 1<<20 {
				return told(fmt.Sprintf("-p %s: expected a number of minutes, 0 for no more checkpoints", opts.Last("p")))
			}
			every := "w=" + strconv.Itoa(minutes)
			if minutes == 0 {
				every = "u"
			}
			return s.tellEach(ctx, opts, "has its checkpoint period changed", func(ctx context.Context, j job) error {
				_, err := s.batch.Alter(ctx, connect.NewRequest(&api.AlterRequest{Job: j.Name, Lsf: true, Changes: []*api.Attribute{{Name: "Checkpoint", Value: every}}}))
				return err
			})
		case !opts.Has("k"):
			return told("bchkpnt: a job goes on from a checkpoint that ended its run: say -k to checkpoint it so, bresume to have it go on, or -p to have it checkpointed while it runs")
		}
		return s.each(ctx, opts, "checkpointed", func(ctx context.Context, j job) error {
			if !j.pending() && !j.finished() {
				_, err := s.batch.Hold(ctx, connect.NewRequest(&api.HoldRequest{Job: j.Name, Holds: "u"}))
				return err
			}
			return pbs.Refuse(pbs.BadState)
		})
	})
}

func bmig() *cli.Command {
	g := cli.Grammar{Letters: "fm:J:u:q:", Dashed: map[string]bool{"app": true}}
	usage := "bmig [-h] [-V] [-m \"host_name ...\"] [-J job_name] [-q queue_name]\n             [-u user_name | -u all] [job_ID | \"job_ID[index]\" | 0] ...\n"
	return command("bmig", "end the runs of jobs and have them run elsewhere", usage, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "f", "app"); err != nil {
			return err
		}
		var choosing []cli.Option
		for _, name := range []string{"J", "q", "u"} { // -m says where to, not which
			if opts.Has(name) {
				choosing = append(choosing, cli.Option{Name: name, Value: opts.Last(name)})
			}
		}
		picked := cli.OptionsOf(cli.Line{Options: choosing, Operands: opts.Operands})
		return s.tellEach(ctx, picked, "is being migrated", func(ctx context.Context, j job) error { return migrate(ctx, s, j, opts.Last("m")) })
	})
}

// migrate holds a job that runs, ends its run unless the hold has done so with a checkpoint, gives it the hosts that are wanted, and lets it go. Where that fails the
// job stays held, so that it does not run where it is not to.
func migrate(ctx context.Context, s *session, j job, hosts string) error {
	if j.pending() || j.finished() {
		return pbs.Refuse(pbs.BadState)
	}
	if _, err := s.batch.Hold(ctx, connect.NewRequest(&api.HoldRequest{Job: j.Name, Holds: "u"})); err != nil {
		return err
	}
	_, err := s.batch.Rerun(s.next(ctx), connect.NewRequest(&api.RerunRequest{Job: j.Name, Anyway: true}))
	if err != nil && !refusedWith(err, pbs.BadState) { // it waits already
		if _, again := s.batch.Release(s.next(ctx), connect.NewRequest(&api.ReleaseRequest{Job: j.Name, Holds: "u"})); again != nil {
			return again
		}
		return err
	}
	if strings.TrimSpace(hosts) != "" {
		now, err := s.jobsOf(ctx, j.id, nil)
		if err != nil || len(now) == 0 {
			return err
		}
		changes, err := s.modification(ctx, cli.OptionsOf(cli.Line{Options: []cli.Option{{Name: "m", Value: hosts}}}), now[0])
		if err != nil {
			return err
		}
		if _, err := s.batch.Alter(s.next(ctx), connect.NewRequest(&api.AlterRequest{Job: j.Name, Changes: changes, Lsf: true})); err != nil {
			return err
		}
	}
	_, err = s.batch.Release(s.next(ctx), connect.NewRequest(&api.ReleaseRequest{Job: j.Name, Holds: "u"}))
	return err
}
