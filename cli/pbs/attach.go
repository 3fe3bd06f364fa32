package pbs

import (
	"context"
	"fmt"
	"strconv"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/transport/api"
)

func pbsAttach() *cli.Command {
	c := &cli.Command{
		Name: "pbs_attach", Summary: "make a session of this host the job's", UsageStatus: 1,
		Grammar: cli.Grammar{Letters: "+j:m:p:Ps"},
		Usage: "usage: pbs_attach [-j jobid] [-m port] -p pid\n" +
			"       pbs_attach [-j jobid] [-m port] [-P] [-s] command [args]\n       pbs_attach --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		pid, err := strconv.ParseInt(cli.First(opts.Last("p"), "0"), 10, 32)
		if err != nil || pid < 0 || (pid == 0) == (len(opts.Operands) == 0) {
			return c.Misuse()
		}
		job, socket := cli.First(opts.Last("j"), env.Getenv("PBS_JOBID")), env.Getenv(taskSocket)
		if job == "" || socket == "" || env.Tasks == nil {
			fmt.Fprintf(env.Stderr, notInJob, c.Name)
			return cli.Status(1)
		}
		t := &tasker{env: env, name: c.Name, mom: env.Tasks(socket), me: &api.Credential{Job: job}}
		if job == env.Getenv("PBS_JOBID") {
			t.me.Cookie = env.Getenv("PBS_JOBCOOKIE")
		}
		if pid != 0 {
			return t.attached(t.attach(ctx, pid))
		}
		return t.attachCommand(ctx, opts.Operands)
	}
	return c
}

func (t *tasker) attach(ctx context.Context, pid int64) error {
	_, err := insist(ctx, func() (*connect.Response[api.AttachReply], error) {
		return t.mom.Attach(ctx, connect.NewRequest(&api.AttachRequest{Credential: t.me, Pid: pid}))
	})
	return err
}

func (t *tasker) attached(err error) error {
	if err == nil {
		return nil
	}
	t.say("%v", err)
	return cli.Status(1)
}

// attachCommand starts a command in a session of its own, has that attached, and ends as the
// command does.
func (t *tasker) attachCommand(ctx context.Context, args []string) error {
	child, err := t.env.Start(args)
	if err != nil {
		return t.attached(err)
	}
	err = t.attach(ctx, int64(child.PID()))
	if err == nil {
		err = child.Begin()
	}
	if err != nil {
		child.Kill()
		_, _ = child.Wait()
		return t.attached(err)
	}
	status, err := child.Wait()
	if err != nil {
		return t.attached(err)
	}
	return exitAs(status)
}
