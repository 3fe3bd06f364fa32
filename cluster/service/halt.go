package service

import (
	"context"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sync/errgroup"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// Halt implements the Halt service, which ends replicas on purpose.
type Halt struct {
	base
	EndReplica func(ctx context.Context, r *state.Replica, scheds bool) error
	EndSelf    func(after time.Duration)
	EndScheds  func() // those of this host
	EndMom     func(ctx context.Context, h *state.Host, r *api.EndMomRequest) error
	deadlines  *deadlines // that moms hold
}

const (
	// A mom renews every 5 s; with the next renewal it says that it holds no deadline.
	liftWithin = 12 * time.Second
	endWithin  = 3 * time.Second
	// A replica ends when its answers have gone out; the leader when the others are gone.
	endSoon = 500 * time.Millisecond
	endLast = 3 * time.Second
	// requeueAtOnce is how many orders may wait for one commit together.
	requeueAtOnce = 128
	// endAtOnce is how many moms are told to end at a time.
	endAtOnce = 64
)

// Stop prepares the end of all replicas, and ends them: qterm.
func (h *Halt) Stop(ctx context.Context, r *connect.Request[api.StopRequest]) (*connect.Response[api.StopReply], error) {
	out, err := h.stop(ctx, r)
	h.rejectedAs(ctx, typeTerm, err)
	return out, err
}

func (h *Halt) stop(ctx context.Context, r *connect.Request[api.StopRequest]) (*connect.Response[api.StopReply], error) {
	v, err := h.present(ctx)
	if err != nil {
		return nil, err
	}
	p, err := h.person(ctx, v)
	if err != nil {
		return nil, err
	}
	if p.perm < attr.Operator {
		return nil, h.told(ctx, deny(p, "Req", "Server", v.Cluster().Name, typeTerm))
	}
	if name := r.Msg.GetReplica(); name != "" {
		ending, err := h.endOne(ctx, v, name, r.Msg.GetScheds())
		return reply(&api.StopReply{Ending: ending}, err)
	}
	return reply(h.stopAll(ctx, p, r.Msg))
}

// stopAll prepares the end of all replicas, and returns those that end, if that is wanted.
func (h *Halt) stopAll(ctx context.Context, p person, r *api.StopRequest) (*api.StopReply, error) {
	out := new(api.StopReply)
	if r.GetMoms() && h.EndMom == nil {
		return nil, pbs.Refuse(pbs.NotSupported)
	}
	if _, err := h.commit(ctx, p.user, &command.HaltServers{Lift: r.GetLift()}); err != nil {
		return nil, err
	}
	if r.GetRequeue() || r.GetSpare() {
		if err := h.requeue(ctx, p, r.GetSpare()); err != nil {
			return nil, err
		}
	}
	if r.GetLift() {
		h.deadlines.forget() // what was said before may be true no more
		h.awaitLifted(ctx)
	}
	if !r.GetEnd() {
		return out, nil
	}
	if r.GetMoms() {
		unheard, err := h.endMoms(ctx)
		if err != nil {
			return nil, err
		}
		out.Unheard = unheard
	}
	if _, err := h.commit(ctx, p.user, &command.HaltServers{Lift: r.GetLift(), End: true}); err != nil {
		return nil, err
	}
	out.Ending = h.endAll(ctx, r.GetScheds())
	return out, nil
}

// endMoms tells the moms of all hosts that are up to end, and returns the hosts that could not be told. Jobs run on there.
func (h *Halt) endMoms(ctx context.Context) ([]string, error) {
	_, term, err := h.Replica.ReadIndex(ctx)
	if err != nil {
		return nil, err
	}
	v, err := h.present(ctx)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var unheard []string
	var moms errgroup.Group
	moms.SetLimit(endAtOnce)
	for host := range v.Hosts() {
		if !host.Up {
			continue
		}
		moms.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, endWithin)
			defer cancel()
			if err := h.EndMom(ctx, host, &api.EndMomRequest{Epoch: v.Cluster().Epoch, Term: term}); err != nil {
				h.Logger.Warn("end a mom", "host", host.Name, "error", err)
				mu.Lock()
				defer mu.Unlock()
				unheard = append(unheard, string(host.Name))
			}
			return nil
		})
	}
	_ = moms.Wait() // each tells its own failure
	slices.Sort(unheard)
	return unheard, nil
}

// requeue orders the end of all that runs; what can be checkpointed is, and what cannot run again is
// aborted, or spared.
func (h *Halt) requeue(ctx context.Context, p person, spare bool) error {
	if err := h.checkpoint(ctx, p); err != nil {
		return err
	}
	v, err := h.present(ctx)
	if err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(requeueAtOnce)
	for j := range v.Running() {
		if j.LastRun().Checkpointing() || spare && j.NotRerunnable {
			continue // it takes long, and stays an order; or it runs to its end
		}
		var end command.Command = &command.RerunJob{Job: j.ID}
		if j.NotRerunnable {
			end = &command.DeleteJob{Job: j.ID}
		}
		all.Go(func() error {
			_, err := h.commit(ctx, p.user, end)
			switch pbs.CodeOf(err) {
			case pbs.BadState, pbs.HasFinished, pbs.UnknownJob: // it ends, or has ended, without an order
				return nil
			}
			return err
		})
	}
	return all.Wait()
}

// awaitLifted waits until every host that is up has said that it holds no deadline; what
// is silent for so long ends its jobs by itself.
func (h *Halt) awaitLifted(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, liftWithin)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		v, err := h.present(ctx)
		if err == nil && h.deadlines.lifted(v) {
			return
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// endAll ends the others, and this replica when they are gone: none of them is to lead,
// and start jobs, in between. Those that it could not ask are among those that it returns.
func (h *Halt) endAll(ctx context.Context, scheds bool) (ending []*api.EndingReplica) {
	v, err := h.present(ctx)
	if err != nil || h.EndReplica == nil {
		return nil
	}
	defer h.EndSelf(endLast)
	if scheds {
		h.endScheds()
	}
	var others errgroup.Group
	for r := range v.Replicas() {
		ending = append(ending, endingReplica(r))
		if r.Name == v.Cluster().Leader {
			continue
		}
		others.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, endWithin)
			defer cancel()
			if err := h.EndReplica(ctx, r, scheds); err != nil {
				h.Logger.Warn("end a replica", "replica", r.Name, "error", err)
			}
			return nil
		})
	}
	_ = others.Wait() // each tells its own failure
	return ending
}

func (h *Halt) endOne(ctx context.Context, v *state.View, name string, scheds bool) ([]*api.EndingReplica, error) {
	for r := range v.Replicas() {
		if string(r.Name) == name && h.EndReplica != nil {
			return []*api.EndingReplica{endingReplica(r)}, h.EndReplica(ctx, r, scheds)
		}
	}
	return nil, pbs.Refuse(pbs.NoServer)
}

func endingReplica(r *state.Replica) *api.EndingReplica {
	return &api.EndingReplica{Name: string(r.Name), Address: r.Address}
}

// End ends this replica when the answer has gone out.
func (h *Halt) End(_ context.Context, r *connect.Request[api.EndRequest]) (*connect.Response[api.EndReply], error) {
	if h.EndSelf == nil {
		return nil, pbs.Refuse(pbs.NotSupported)
	}
	if r.Msg.GetScheds() {
		h.endScheds()
	}
	h.EndSelf(endSoon)
	return connect.NewResponse(&api.EndReply{}), nil
}

// endScheds ends the schedulers of this host before its replica: they may have to say that they plan no more.
func (h *Halt) endScheds() {
	if h.EndScheds != nil {
		h.EndScheds()
	}
}

// deadlines are the deadlines that moms hold as of their last renewals, in seconds by host: what
// they said, or the answer to it if that is longer. No deadline is 0.
type deadlines struct {
	mu   sync.Mutex
	held map[pbs.HostName]int64
}

func (d *deadlines) note(host pbs.HostName, seconds int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held[host] = seconds
}

func (d *deadlines) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.held)
}

// lifted reports whether no host that is up holds a deadline.
func (d *deadlines) lifted(v *state.View) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for h := range v.Hosts() {
		if seconds, known := d.held[h.Name]; h.Up && (!known || seconds != 0) {
			return false
		}
	}
	return true
}
