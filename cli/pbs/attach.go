package pbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

func pbsAttach() *cli.Command {
	c := &cli.Command{
		Name: "pbs_attach", Summary: "make a session of this host the job's", UsageStatus: 1,
		Grammar: cli.Grammar{Letters: "+j:m:p:Ps"},
		Usage: "usage: pbs_attach [-j jobid] [-m port] -p pid\n" +
			"       pbs_attach [-j jobid] [-m port] [-P] [-s] command [args]\n       pbs_attach --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		pid, err := strconv.ParseInt(cmp.Or(opts.Last("p"), "0"), 10, 32)
		if err != nil || pid < 0 || (pid == 0) == (len(opts.Operands) == 0) {
			return c.Misuse()
		}
		job := cmp.Or(opts.Last("j"), env.Getenv("PBS_JOBID"))
		if job == "" || env.Tasks == nil {
			return errNotInJob
		}
		if _, err := pbs.ParseJobID(job, "server"); err != nil {
			return err
		}
		moms, err := momsHere(env, opts.Has("j"))
		if err != nil {
			return err
		}
		job, _, _ = strings.Cut(job, "@")
		t := &tasker{env: env, name: c.Name, me: &api.Credential{Job: job}}
		if job == env.Getenv("PBS_JOBID") {
			t.me.Cookie = env.Getenv("PBS_JOBCOOKIE")
		}
		if pid != 0 {
			return t.attached(t.attach(ctx, moms, pid))
		}
		return t.attachCommand(ctx, moms, opts.Operands)
	}
	return c
}

var errNotInJob = errors.New("not executing under PBS")

// momsHere returns the mom of the job that asks. Somebody who names his job may ask from
// outside of it: there may be several moms then, of which one knows it.
func momsHere(env *cli.Env, named bool) ([]apiconnect.TaskManagerClient, error) {
	if socket := env.Getenv(taskSocket); socket != "" {
		return []apiconnect.TaskManagerClient{env.Tasks(socket)}, nil
	}
	if !named {
		return nil, errNotInJob
	}
	dir, sockets := env.TaskSockets()
	if len(sockets) == 0 {
		return nil, fmt.Errorf("no mom has its socket in %s: is this an execution host, and PBS_HOME that of its mom?", dir)
	}
	var moms []apiconnect.TaskManagerClient
	for _, socket := range sockets {
		moms = append(moms, env.Tasks(socket))
	}
	return moms, nil
}

// attach asks the moms of this host, until one knows the job.
func (t *tasker) attach(ctx context.Context, moms []apiconnect.TaskManagerClient, pid int64) error {
	var err error
	for _, mom := range moms {
		_, err = insist(ctx, func() (*connect.Response[api.AttachReply], error) {
			return mom.Attach(ctx, connect.NewRequest(&api.AttachRequest{Credential: t.me, Pid: pid}))
		})
		if !errors.Is(err, pbs.Refuse(pbs.UnknownJob)) {
			return err
		}
	}
	return err
}

func (t *tasker) attached(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pbs.Refuse(pbs.UnknownJob)):
		t.say("%v %s", err, t.me.GetJob())
	default:
		t.say("%v", err)
	}
	return cli.Status(1)
}

// attachCommand starts a command in a session of its own, has that attached, and ends as the
// command does.
func (t *tasker) attachCommand(ctx context.Context, moms []apiconnect.TaskManagerClient, args []string) error {
	child, err := t.env.Start(args)
	if err != nil {
		return t.attached(err)
	}
	err = t.attach(ctx, moms, int64(child.PID()))
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
