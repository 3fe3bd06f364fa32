package mom

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
	"rampart/transport/pause"
)

// A teller has the servers hear what becomes of jobs, and what these use.
type teller struct {
	mom  *Mom
	life *life
}

// keepFacts sends the oldest facts until they are acknowledged, for ever.
func (s teller) keepFacts(ctx context.Context) {
	if !s.life.untilKnown(ctx) {
		return
	}
	for {
		facts, more := s.life.spool.Pending(factsAtOnce)
		if len(facts) == 0 {
			select {
			case <-more:
				continue
			case <-ctx.Done():
				return
			}
		}
		acked, err := s.sendSome(ctx, facts)
		if err != nil && ctx.Err() == nil {
			s.mom.config.Logger.Warn("facts not acknowledged", "first", facts[0].Seq, "err", err)
		}
		if (err != nil || !acked) && !pause.For(ctx, factsAgainAfter) {
			return
		}
	}
}

// sendSome reports whether the oldest fact was acknowledged.
func (s teller) sendSome(ctx context.Context, facts []spool.Fact) (bool, error) {
	req := &api.FactsRequest{Host: string(s.mom.config.Host), SpoolId: s.life.spool.ID()}
	for _, f := range facts {
		req.Facts = append(req.Facts, fact(f))
	}
	ctx, cancel := context.WithTimeout(ctx, callFor)
	defer cancel()
	reply, err := s.mom.config.Reporter.Facts(ctx, connect.NewRequest(req))
	if err != nil {
		if errors.Is(err, pbs.Refuse(pbs.UnknownNode)) {
			s.mom.registerAgain()
		}
		return false, err
	}
	acked := reply.Msg.GetAckedSeq()
	return acked >= facts[0].Seq, s.life.spool.Acknowledge(acked)
}

func fact(f spool.Fact) *api.Fact {
	out := &api.Fact{Seq: f.Seq, Job: string(f.Task.Job), RunCount: uint32(f.Task.Run)}
	switch {
	case f.Started != nil:
		out.What = &api.Fact_Started{Started: &api.Started{
			Session: int64(f.Started.Session), Jobdir: text(f.Started.JobDir), UnixNano: f.Started.At,
		}}
	case f.Hook != nil:
		out.What = &api.Fact_Hooks{Hooks: wishes(f.Hook)}
	case f.NotCheckpointed != nil:
		out.What = &api.Fact_NotCheckpointed{NotCheckpointed: &api.NotCheckpointed{Reason: text(f.NotCheckpointed.Reason)}}
	case f.CheckpointMade != nil:
		out.What = &api.Fact_CheckpointMade{CheckpointMade: &api.CheckpointMade{}}
	case f.Exiting != nil:
		out.What = &api.Fact_Exiting{Exiting: &api.Exiting{Hooks: f.Exiting.Hooks}}
	case f.Ended != nil:
		e := f.Ended
		out.What = &api.Fact_Ended{Ended: &api.Ended{
			ExitStatus: int32(e.ExitStatus), Used: used(e.Used), Comment: text(e.Comment),
			NeverStarted: e.NeverStarted, Lost: e.Lost, StageoutStatus: int32(e.StageOut),
			StageinFailed: e.StageInFailed, Checkpointed: e.Checkpointed, Present: used(e.Present), Fault: string(e.Fault),
		}}
		for _, host := range e.Keepers {
			out.GetEnded().Keepers = append(out.GetEnded().Keepers, string(host))
		}
	}
	return out
}

// keepSamples measures the jobs, and pushes the figures of those that are due.
func (s teller) keepSamples(ctx context.Context) {
	told := pushes{}
	for pause.For(ctx, pollEvery) {
		if due := told.due(s.sample(ctx), time.Now()); len(due) > 0 {
			s.push(ctx, due)
		}
	}
}

// sample measures all running tasks by one look at the host, and returns them.
func (s teller) sample(ctx context.Context) []task.Task {
	var runners []*task.Runner
	var handles []proc.Handle
	var counts []int // of the handles of each
	for _, r := range s.life.all() {
		if t := r.Task(); t.State() == task.Running || t.State() == task.Ending {
			own := t.Handles()
			runners, counts, handles = append(runners, r), append(counts, len(own)), append(handles, own...)
		}
	}
	if len(handles) == 0 {
		return nil
	}
	usage, err := s.mom.config.System.Usage(handles...)
	if err != nil {
		s.mom.config.Logger.Error("usage not measured", "err", err)
		return nil
	}
	var live []task.Task
	for i, r := range runners {
		var own proc.Usage
		own, usage = sum(usage[:counts[i]]), usage[counts[i]:]
		own = s.mom.measured(r.Task(), own)
		ev := task.Sampled{Usage: own, Enforce: s.mom.enforced(r.Task().Key)}
		if err := r.Tell(ctx, ev); err == nil && !r.Task().Sister() {
			live = append(live, r.Task())
		}
	}
	return live
}

func (s teller) push(ctx context.Context, due []task.Task) {
	req := &api.SamplesRequest{Host: string(s.mom.config.Host)}
	for _, t := range due {
		sample := &api.JobSample{Job: string(t.Key.Job), RunCount: uint32(t.Key.Run), Used: used(t.Used())}
		if t.Assignment.Released() {
			sample.Present = used(t.Present())
		}
		req.Jobs = append(req.Jobs, sample)
	}
	ctx, cancel := context.WithTimeout(ctx, callFor)
	defer cancel()
	if _, err := s.mom.config.Reporter.Samples(ctx, connect.NewRequest(req)); err != nil && ctx.Err() == nil {
		s.mom.config.Logger.Warn("samples not taken", "err", err)
	}
}
