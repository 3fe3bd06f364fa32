package pbs

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/cli/script"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// A change asks the server for something to happen to one job.
type change func(ctx context.Context, s *session, job string) error

// eachJob does the same to every job of the command line, failures or not.
func eachJob(ctx context.Context, env *cli.Env, c *cli.Command, opts *cli.Options, do change) error {
	if len(opts.Operands) == 0 {
		return c.Misuse()
	}
	s, err := open(env, c, opts)
	if err != nil {
		return err
	}
	return s.eachJob(ctx, opts, do)
}

func (s *session) eachJob(ctx context.Context, opts *cli.Options, do change) error {
	for _, job := range opts.Operands {
		if s.changeJob(ctx, job, do) {
			break
		}
	}
	return s.end()
}

// changeJob tells of a failure, and whether it makes trying the others useless.
func (s *session) changeJob(ctx context.Context, job string, do change) (fatal bool) {
	call := s.next(ctx)
	if _, err := pbs.ParseJobID(job, "server"); err != nil {
		return s.fail(err, nil)
	}
	job, err := s.meanOf(job)
	if err == nil {
		err = do(call, s, job)
	}
	if err == nil {
		return false
	}
	return s.fail(err, func(text string) string { return s.about(ctx, err, text, job) })
}

// ofJob is a failure that is about another job than the one that was asked for.
type ofJob struct {
	error
	job string
}

// Unwrap returns the failure.
func (o *ofJob) Unwrap() error { return o.error }

// about adds the job to a message in PBS's form.
func (s *session) about(ctx context.Context, err error, text, job string) string {
	if other, ok := errors.AsType[*ofJob](err); ok {
		job = other.job
	}
	var r *pbs.Error
	switch {
	case errors.Is(err, pbs.Refuse(pbs.BadJobID)):
		return text
	case errors.As(err, &r) && r.Message == "":
		return text + " for job " + s.fullID(ctx, job)
	}
	return text + " " + s.fullID(ctx, job)
}

func qdel() *cli.Command {
	c := &cli.Command{
		Name: "qdel", Summary: "delete jobs", Grammar: own("W:x"), UsageStatus: 2,
		Usage: "usage:\n\tqdel [-W force|suppress_email=X] [-x] job_identifier...\n\tqdel --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		d, ok := parseDelete(opts.All("W"))
		if !ok {
			return c.Misuse("illegal -W value")
		}
		asked := 0
		return eachJob(ctx, env, c, opts.Only(distinct(opts.Operands)), func(ctx context.Context, s *session, job string) error {
			if asked == 0 && !d.said {
				d.mails = s.defaultMails(ctx, c, d.mails)
			}
			quiet := asked >= d.mails
			asked++
			_, err := s.batch.Delete(ctx, connect.NewRequest(&api.DeleteRequest{Job: job, Force: d.force, History: opts.Has("x"), Quiet: quiet}))
			return err
		})
	}
	return c
}

// A deletion is what qdel's -W asks for.
type deletion struct {
	force bool
	mails int  // so many jobs at most are told of by mail
	said  bool // which somebody has asked for
}

// defaultDeleteMails is PBS's limit for the mails of one qdel.
const defaultDeleteMails = 1000

// parseDelete reads qdel's -W. suppress_email=-1 sends no mail at all, 0 means the default.
func parseDelete(values []string) (d deletion, ok bool) {
	d.mails = defaultDeleteMails
	for _, v := range values {
		name, text, _ := strings.Cut(v, "=")
		n, err := strconv.ParseInt(text, 10, 31)
		switch {
		case v == "force":
			d.force = true
		case name == "suppress_email" && err == nil && n >= -1:
			d.mails, d.said = int(max(n, 0)), true
			if n == 0 {
				d.mails = defaultDeleteMails
			}
		default:
			return deletion{}, false
		}
	}
	return d, true
}

// defaultMails returns how many mails the server's default_qdel_arguments let a deletion send, of which a PBS takes
// suppress_email only; usual if they do not say, or cannot be read: what is to be deleted is asked for in any case.
func (s *session) defaultMails(ctx context.Context, c *cli.Command, usual int) int {
	_, servers, err := s.objects(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"default_qdel_arguments"}, Stale: true,
	})
	if err != nil || len(servers) == 0 {
		return usual
	}
	args, err := script.Split(value(servers[0], "default_qdel_arguments"))
	if err != nil {
		return usual
	}
	d, ok := parseDelete(cli.OptionsOf(c.Grammar.Parse(args)).All("W"))
	if !ok || !d.said {
		return usual
	}
	return d.mails
}

func qhold() *cli.Command {
	return holding("qhold", "hold jobs", func(ctx context.Context, s *session, job, holds string) error {
		_, err := s.batch.Hold(ctx, connect.NewRequest(&api.HoldRequest{Job: job, Holds: holds}))
		return err
	})
}

func qrls() *cli.Command {
	return holding("qrls", "release holds of jobs", func(ctx context.Context, s *session, job, holds string) error {
		_, err := s.batch.Release(ctx, connect.NewRequest(&api.ReleaseRequest{Job: job, Holds: holds}))
		return err
	})
}

// holding makes a command that does something about the holds of -h to each job.
func holding(name, summary string, do func(ctx context.Context, s *session, job, holds string) error) *cli.Command {
	c := &cli.Command{
		Name: name, Summary: summary, Grammar: own("h:"), UsageStatus: 2,
		Usage: "usage: " + name + " [-h hold_list] job_identifier...\n       " + name + " --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		holds, ok := parseHolds(opts)
		if !ok {
			return c.Misuse("illegal -h value")
		}
		return eachJob(ctx, env, c, opts, func(ctx context.Context, s *session, job string) error { return do(ctx, s, job, holds) })
	}
	return c
}

// parseHolds returns the letters of -h, "u" without it.
func parseHolds(opts *cli.Options) (string, bool) {
	if !opts.Has("h") {
		return "u", true
	}
	holds := opts.Last("h")
	_, err := pbs.ParseHolds(holds)
	return holds, err == nil
}

func qsig() *cli.Command {
	c := &cli.Command{
		Name: "qsig", Summary: "send signals to jobs", Grammar: own("s:"), UsageStatus: 2,
		Usage: "usage: qsig [-s signal] job_identifier...\n       qsig --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		signal := "SIGTERM"
		if opts.Has("s") {
			signal = opts.Last("s")
		}
		return eachJob(ctx, env, c, opts, func(ctx context.Context, s *session, job string) error {
			if signal == "" { // nobody means SIGTERM by it
				return pbs.Refuse(pbs.BadSignal)
			}
			_, err := s.batch.Signal(ctx, connect.NewRequest(&api.SignalRequest{Job: job, Signal: signal}))
			return err
		})
	}
	return c
}

func qrerun() *cli.Command {
	c := &cli.Command{
		Name: "qrerun", Summary: "put running jobs back into the queue", Grammar: own("W:"), UsageStatus: 2,
		Usage: "usage: qrerun [-W force] job_identifier...\n       qrerun --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		if opts.Has("W") && opts.Last("W") != "force" {
			return c.Misuse("illegal -W value")
		}
		return eachJob(ctx, env, c, opts, func(ctx context.Context, s *session, job string) error {
			_, err := s.batch.Rerun(ctx, connect.NewRequest(&api.RerunRequest{Job: job, Force: opts.Has("W")}))
			return err
		})
	}
	return c
}
