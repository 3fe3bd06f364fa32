package pbs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/pause"
)

const qtermUsage = `usage: qterm [-f|-F|-i] [-m] [-s] [-t immediate|delay|quick] [server | replica...]
       qterm --version
`

// How long qterm waits for the ends of jobs that it ordered, and how often it looks.
const (
	qtermPatience = 30 * time.Second
	qtermLooks    = time.Second
	// qtermEnds bounds the wait for the ends of servers, which qtermDials asks for.
	qtermEnds  = 30 * time.Second
	qtermDials = 100 * time.Millisecond
)

func qterm() *cli.Command {
	c := &cli.Command{
		Name: "qterm", Summary: "end the servers", Grammar: own("fFimst:"), Usage: qtermUsage, UsageStatus: 2,
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		kind := cmp.Or(opts.Last("t"), "quick")
		if kind != "quick" && kind != "immediate" && kind != "delay" {
			return c.Misuse("illegal -t value")
		}
		if opts.Has("F") { // only the secondary server, which PBS does not miss either when there is none
			return nil
		}
		s, err := open(env, c, opts)
		if err != nil {
			return err
		}
		halt, err := env.Halt(s.target)
		if err != nil {
			return err
		}
		t := &termination{session: s, halt: halt, kind: kind, moms: opts.Has("m"), scheds: opts.Has("s")}
		if err := t.run(ctx, opts.Operands); err != nil {
			s.fail(err, nil)
		}
		return s.end()
	}
	return c
}

// A termination is the planned end of servers.
type termination struct {
	*session
	halt apiconnect.HaltClient
	kind string
	moms bool // they are to end, too
	// scheds are the processes of schedulers on the hosts of the replicas that end: they are to end, too.
	scheds bool
}

// run ends all replicas, or those named; the server's own name stands for all.
func (t *termination) run(ctx context.Context, names []string) error {
	server := t.serverName(ctx)
	if len(names) == 0 || slices.Contains(names, server) || slices.Contains(names, "default") {
		return t.all(ctx)
	}
	if t.moms {
		return pbs.Errorf(pbs.NotSupported, "%s: -m: moms serve all replicas, and end with all of them", pbs.NotSupported.Text())
	}
	var ending []*api.EndingReplica
	for _, name := range names {
		r, err := t.halt.Stop(ctx, connect.NewRequest(&api.StopRequest{Replica: name, Scheds: t.scheds}))
		switch {
		case errors.Is(err, pbs.Refuse(pbs.NoServer)):
			t.fail(&cli.Unreachable{Server: name, Err: err}, nil) // the others are there
		case err != nil:
			return err
		default:
			ending = append(ending, r.Msg.GetEnding()...)
		}
	}
	return t.await(ctx, ending)
}

func (t *termination) all(ctx context.Context) error {
	last := &api.StopRequest{Lift: t.kind == "quick", End: true, Moms: t.moms, Scheds: t.scheds}
	if t.kind != "quick" {
		if err := t.drain(ctx); err != nil {
			return err
		}
	}
	r, err := t.halt.Stop(ctx, connect.NewRequest(last))
	if err != nil {
		return err
	}
	for _, host := range r.Msg.GetUnheard() {
		t.fail(pbs.Errorf(pbs.NoMom, "the mom of %s could not be told to end", host), nil)
	}
	return t.await(ctx, r.Msg.GetEnding())
}

// await returns when the servers are gone, or names those that are not in time: one that cannot be
// reached may well be there.
func (t *termination) await(ctx context.Context, ending []*api.EndingReplica) error {
	deadline := t.env.Now().Add(qtermEnds)
	for {
		ending = slices.DeleteFunc(ending, func(r *api.EndingReplica) bool { return t.env.Gone(ctx, r.GetAddress()) })
		if len(ending) == 0 {
			return nil
		}
		if t.env.Now().After(deadline) {
			break
		}
		if !pause.For(ctx, qtermDials) {
			return context.Cause(ctx)
		}
	}
	for _, r := range ending {
		t.fail(pbs.Errorf(pbs.SystemError, "server %s at %s has not ended in %s, or cannot be reached", r.GetName(), r.GetAddress(), qtermEnds), nil)
	}
	return nil
}

// drain waits until no job runs. No new one starts as long as the servers are told so. With -t delay
// those run to their ends that can neither be checkpointed nor run again, however long it takes; the ends
// that -t immediate has ordered are waited for a while.
func (t *termination) drain(ctx context.Context) error {
	deadline := t.env.Now().Add(qtermPatience)
	for first := true; ; first = false {
		r := &api.StopRequest{Requeue: first && t.kind == "immediate", Spare: first && t.kind == "delay"}
		if _, err := t.halt.Stop(ctx, connect.NewRequest(r)); err != nil {
			return err
		}
		running, err := t.running(ctx)
		if err != nil || !running || t.kind == "immediate" && t.env.Now().After(deadline) {
			return err
		}
		if !pause.For(ctx, qtermLooks) {
			return context.Cause(ctx)
		}
	}
}

func (t *termination) running(ctx context.Context) (bool, error) {
	_, found, err := t.objects(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"job_state"}, Subjobs: true,
		Where: []*api.Criterion{{Name: "job_state", Value: "RSE"}},
	})
	return len(found) > 0, err
}
