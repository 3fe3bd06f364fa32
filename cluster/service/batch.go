package service

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/cluster/load"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// Batch implements the Batch service: the requests of PBS commands.
type Batch struct {
	base
	*serverHooks
	reservations
	Scheduler
	Agent func(host, address string) apiconnect.AgentClient
	Blobs BlobKeeper
	Loads *load.Table
	Home  string
	// Resolve asks the name service for the addresses of a host; nil: there is none.
	Resolve func(ctx context.Context, host string) ([]string, error)
	// OutputHost is where output goes of jobs that name no host; empty: where they were submitted.
	OutputHost string
}

// change carries out a request that changes the state: prepare parses and
// permits, and the commands that it returns are proposed. A repeat is answered as
// the first one was (L8).
func (c *base) change(ctx context.Context, r connect.AnyRequest, prepare func(p person) ([]command.Command, error)) (state.Result, error) {
	caller, _ := transport.CallerFrom(ctx)
	body, err := bodyHash(r)
	if err != nil {
		return state.Result{}, err
	}
	if number, known := requestTypes[r.Spec().Procedure]; known {
		c.received(ctx, r.Peer(), number)
	}
	id := requestID(r)
	result, err := c.requests.do(ctx, requestKey{command.Requester(caller.User), id}, body, func() (state.Result, error) {
		return c.attempt(ctx, id, body, prepare)
	})
	c.rejected(ctx, r, err)
	return result, err
}

// attempt proposes what prepare makes of the request. A refusal may come from a
// state that is behind, for a leader is asked before it has applied all that was
// committed: only a fresh view can refuse.
func (c *base) attempt(ctx context.Context, id pbs.RequestID, body uint64, prepare func(p person) ([]command.Command, error)) (state.Result, error) {
	var refused error
	for _, mode := range []cluster.Mode{cluster.Stale, cluster.Fresh} {
		v, err := c.Replica.Read(ctx, mode)
		if err != nil {
			return state.Result{}, err
		}
		p, err := c.person(ctx, v)
		if err != nil {
			refused = err
			continue
		}
		// What was done under this id may be refused now because it was done.
		if first, ok := v.Request(command.Requester(p.user), id); ok {
			out := command.Repeated(first, body)
			return out.Result, out.Err()
		}
		commands, err := prepare(p)
		if err == nil {
			return c.propose(ctx, command.Proposal{ID: id, Asker: p.user, Body: body, Commands: commands})
		}
		if _, final := errors.AsType[*hooked](err); final {
			return state.Result{}, err
		}
		refused = err
	}
	return state.Result{}, c.told(ctx, refused)
}

// changeJob is change for a request about one job.
func (c *base) changeJob(ctx context.Context, r connect.AnyRequest, job string,
	prepare func(p person, j *state.Job) (command.Command, error),
) error {
	_, err := c.change(ctx, r, func(p person) ([]command.Command, error) {
		j, err := jobOf(p.view, job)
		if err != nil {
			return nil, err
		}
		cmd, err := prepare(p, j)
		return []command.Command{cmd}, err
	})
	return err
}

// Alter changes attributes of a job: qalter, and bmod, whose rules are LSF's.
func (b *Batch) Alter(ctx context.Context, r *connect.Request[api.AlterRequest]) (*connect.Response[api.AlterReply], error) {
	err := b.changeJob(ctx, r, r.Msg.GetJob(), func(p person, j *state.Job) (command.Command, error) {
		asked, err := fromNodes(r.Msg.GetChanges(), p.view)
		if err != nil {
			return nil, err
		}
		changes, err := parseJobChanges(p, j, asked, r.Msg.GetLsf())
		if err != nil {
			return nil, err
		}
		if err := mayChange(p, j, typeAlter); err != nil {
			return nil, err
		}
		keep, err := keptHolds(p, j, changes)
		if err != nil {
			return nil, err
		}
		if changes, err = countedAgain(p.view, j, changes, r.Msg.GetLsf()); err != nil {
			return nil, err
		}
		direct := changes // but for what a requirement makes of itself
		if changes, err = requiredAgain(p.view, j, changes, r.Msg.GetLsf()); err != nil {
			return nil, err
		}
		if err := mayRaise(p, j, direct, r.Msg.GetLsf()); err != nil {
			return nil, err
		}
		if changes, err = p.boundEstimate(j, changes, r.Msg.GetLsf()); err != nil {
			return nil, err
		}
		if changes, err = b.alterJob(ctx, p, j, changes); err != nil {
			return nil, err
		}
		changes, err = b.regroup(ctx, p.view, j, changes)
		return &command.AlterJob{Job: j.ID, Changes: changes, Usage: changesUsage(j, direct), LSF: r.Msg.GetLsf(), Keep: keep}, err
	})
	return reply(&api.AlterReply{}, err)
}

// Release removes holds from a job: qrls.
func (b *Batch) Release(ctx context.Context, r *connect.Request[api.ReleaseRequest]) (*connect.Response[api.ReleaseReply], error) {
	err := b.changeJob(ctx, r, r.Msg.GetJob(), func(p person, j *state.Job) (command.Command, error) {
		holds, err := pbs.ParseHolds(r.Msg.GetHolds())
		if err != nil {
			return nil, err
		}
		return &command.ReleaseJob{Job: j.ID, Holds: holds}, mayHold(p, j, holds, typeRelease)
	})
	return reply(&api.ReleaseReply{}, err)
}

// Signal sends a signal to a running job: qsig.
func (b *Batch) Signal(ctx context.Context, r *connect.Request[api.SignalRequest]) (*connect.Response[api.SignalReply], error) {
	if command.Suspends(r.Msg.GetSignal()) {
		return reply(&api.SignalReply{}, b.suspend(ctx, r))
	}
	err := b.changeJob(ctx, r, r.Msg.GetJob(), func(p person, j *state.Job) (command.Command, error) {
		signal, err := parseSignal(r.Msg.GetSignal())
		if err != nil {
			return nil, err
		}
		return &command.SignalJob{Job: j.ID, Signal: signal}, mayChange(p, j, typeSignal)
	})
	return reply(&api.SignalReply{}, err)
}

// Delete ends a job: qdel. Where hooks may refuse the end of what runs, it waits for them.
func (b *Batch) Delete(ctx context.Context, r *connect.Request[api.DeleteRequest]) (*connect.Response[api.DeleteReply], error) {
	var hooked []preterm
	first := false
	err := b.changeJob(ctx, r, r.Msg.GetJob(), func(p person, j *state.Job) (command.Command, error) {
		first, hooked = true, pretermsOf(p.view, j, r.Msg.GetForce())
		cmd := &command.DeleteJob{Job: j.ID, Force: r.Msg.GetForce(), History: r.Msg.GetHistory()}
		cmd.Quiet = r.Msg.GetQuiet()
		return cmd, mayChange(p, j, typeDelete)
	})
	if err == nil && !first {
		hooked = b.pretermsAgain(ctx, r.Msg.GetJob(), r.Msg.GetForce())
	}
	if err == nil && len(hooked) > 0 {
		err = b.awaitPreterms(ctx, hooked)
	}
	return reply(&api.DeleteReply{}, err)
}

// Rerun ends the run of a job and queues it again: qrerun, and brequeue, which LSF lets owners do with any of
// their jobs: the command that submitted the job does not matter. It answers when the job is queued.
func (b *Batch) Rerun(ctx context.Context, r *connect.Request[api.RerunRequest]) (*connect.Response[api.RerunReply], error) {
	err := b.changeJob(ctx, r, r.Msg.GetJob(), func(p person, j *state.Job) (command.Command, error) {
		anyway := r.Msg.GetAnyway()
		if p.perm < attr.Operator && !(anyway && p.owns(j)) {
			return nil, denyJob(p, j, typeRerun)
		}
		return &command.RerunJob{Job: j.ID, Force: r.Msg.GetForce(), Anyway: anyway}, nil
	})
	if err == nil && !r.Msg.GetForce() {
		err = b.awaitRequeue(ctx, r.Msg.GetJob())
	}
	return reply(&api.RerunReply{}, err)
}

func reply[T any](msg *T, err error) (*connect.Response[T], error) {
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(msg), nil
}
