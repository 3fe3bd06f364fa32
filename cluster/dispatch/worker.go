package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
	"rampart/transport/api"
	"rampart/transport/pause"
)

// A worker delivers the orders of one mom, one delivery at a time. It keeps no
// queue: the view is the queue.
type worker struct {
	opts   Options
	host   pbs.HostName
	orders chan struct{} // capacity 1: there may be something to do
	hooks  uint64        // the generation of hooks for which it has waited in vain
}

// run delivers whenever it is woken, until ctx ends or it has been idle for long
// and may go.
func (w *worker) run(ctx context.Context, mayGo func() bool) {
	idle := time.NewTimer(linger)
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-idle.C:
			if mayGo() {
				return
			}
		case <-w.orders:
			w.deliverAll(ctx)
		}
		idle.Reset(linger)
	}
}

// deliverAll delivers until nothing is open that could be.
func (w *worker) deliverAll(ctx context.Context) {
	backoff := firstBackoff
	for ctx.Err() == nil {
		done, err := w.deliverSome(ctx)
		if done {
			return
		}
		if err == nil {
			backoff = firstBackoff
			continue
		}
		w.opts.Logger.Warn("deliver orders", "host", w.host, "error", err, "again_in", backoff)
		if !w.pause(ctx, backoff) {
			return
		}
		backoff = min(2*backoff, maxBackoff)
	}
}

// pause waits out a backoff, less when the mom's record changes: it may have
// come up again.
func (w *worker) pause(ctx context.Context, d time.Duration) bool {
	before := w.modified()
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-w.orders:
		}
		if w.modified() != before {
			return pause.For(ctx, min(d, firstBackoff))
		}
	}
}

func (w *worker) modified() uint64 {
	h, ok := w.opts.Source.View().Host(w.host)
	if !ok {
		return 0
	}
	return h.Modified
}

// deliverSome delivers the oldest open orders and proposes the answers. It
// reports true when none are open, or the mom has no address yet.
func (w *worker) deliverSome(ctx context.Context) (bool, error) {
	v := w.opts.Source.View()
	h, ok := v.Host(w.host)
	req := request(v, w.host, w.opts.Term)
	if len(req.Orders) == 0 || !ok || h.Address == "" {
		return true, nil
	}
	w.awaitHooks(ctx, v, req)
	bounded, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	began := time.Now()
	reply, err := w.opts.Moms.Agent(h.Address).Deliver(bounded, connect.NewRequest(req))
	w.opts.Meter.took.Observe(time.Since(began).Seconds())
	w.opts.Meter.sent.Add(float64(len(req.GetOrders())))
	if err != nil {
		w.opts.Meter.failed.Inc()
		return false, fmt.Errorf("call %s: %w", h.Address, err)
	}
	return false, w.confirm(ctx, req, reply.Msg)
}

// confirm proposes what the mom answered, as one proposal. Until that is
// committed the orders stay open and would be delivered again.
func (w *worker) confirm(ctx context.Context, req *api.DeliverRequest, reply *api.DeliverReply) error {
	open := map[uint64]bool{}
	for _, o := range req.GetOrders() {
		open[o.GetId()] = true
	}
	var p command.Proposal
	for _, a := range reply.GetAnswers() {
		if open[a.GetOrder()] {
			delete(open, a.GetOrder())
			p.Commands = append(p.Commands, confirmed(w.host, a))
		}
	}
	if len(p.Commands) == 0 {
		return fmt.Errorf("%s answered none of %d orders", w.host, len(req.GetOrders()))
	}
	out, err := w.opts.Proposer.Propose(ctx, p)
	if err == nil {
		err = out.Err()
	}
	if err != nil {
		return fmt.Errorf("confirm orders: %w", err)
	}
	w.opts.Meter.confirmed(p.Commands)
	return nil
}

func confirmed(host pbs.HostName, a *api.Answer) *command.OrderConfirmed {
	c := &command.OrderConfirmed{
		Host: host, Order: pbs.OrderID(a.GetOrder()), Used: resource.Told(api.Usage(a.GetUsed())), Present: resource.Told(api.Usage(a.GetPresent())),
	}
	if r := a.GetRefusal(); r != nil {
		c.Refusal = &pbs.Error{Code: pbs.Code(r.GetCode()), Message: r.GetMessage()}
	}
	return c
}

// request writes the oldest open orders of a mom.
func request(v *state.View, host pbs.HostName, term uint64) *api.DeliverRequest {
	req := &api.DeliverRequest{Epoch: v.Cluster().Epoch, Term: term}
	for o := range v.Orders(host) {
		if len(req.Orders) == 0 {
			req.LowestOpen = uint64(o.ID)
		}
		if len(req.Orders) == batch {
			break
		}
		req.Orders = append(req.Orders, order(v, o))
	}
	return req
}

func order(v *state.View, o *state.Order) *api.Order {
	out := &api.Order{Id: uint64(o.ID), Job: string(o.Job), RunCount: uint32(o.RunCount)}
	switch o.Kind {
	case state.OrderRun:
		out.What = &api.Order_Run{Run: runJob(v, o)}
	case state.OrderSignal:
		out.What = &api.Order_Signal{Signal: &api.SignalJob{Signal: o.Signal}}
	case state.OrderKill:
		delay := time.Duration(o.Delay) * time.Second
		out.What = &api.Order_Kill{Kill: &api.KillJob{DelayMs: delay.Milliseconds(), Requeue: o.Requeue, Left: o.Left}}
	case state.OrderForget:
		out.What = &api.Order_Forget{Forget: &api.ForgetJob{}}
	case state.OrderAlter:
		out.What = &api.Order_Alter{Alter: &api.AlterJob{Attributes: attributes(o.Changes)}}
	case state.OrderCheckpoint, state.OrderDiscard:
		out.What = &api.Order_Checkpoint{Checkpoint: &api.CheckpointJob{Discard: o.Kind == state.OrderDiscard}}
	case state.OrderRelease:
		out.What = &api.Order_Release{Release: releaseNodes(v, o)}
	case state.OrderMessage:
		out.What = &api.Order_Message{Message: &api.MessageJob{Text: o.Text, Output: o.Output, Error: o.Error}}
	}
	return out
}

// runJob writes the order to start a job. A job that is gone by now has no
// attributes: the mom refuses such an order, and nothing was run.
func runJob(v *state.View, o *state.Order) *api.RunJob {
	j, ok := v.Job(o.Job)
	if !ok || !o.Of(j) {
		return &api.RunJob{}
	}
	run := &api.RunJob{Attributes: attributes(withKillDelay(v, j)), Hosts: runHosts(v, j), Account: ownerOf(v, j)}
	if h, ok := v.Host(j.Output); ok && h.Up && j.Output != o.Host {
		run.OutputAt = string(j.Output)
	}
	if j.Checkpointed() {
		run.Restart = &api.Restart{Session: j.Checkpoint.Session}
	}
	if s, ok := v.Script(j.ID); ok {
		run.ScriptBytes = uint64(s.Size())
	}
	return run
}

// ownerOf returns what the directory has told of the job's owner; nil: nothing.
func ownerOf(v *state.View, j *state.Job) *api.Account {
	user, _ := j.Attrs.Get("euser", "")
	a, ok := v.Account(user)
	if !ok || a.Told == 0 {
		return nil
	}
	return &api.Account{Name: a.Name, Uid: a.UID, Gid: a.GID, Home: a.Home, Shell: a.Shell, Groups: a.Groups, Gids: a.GIDs}
}

// runHosts returns where the moms of a run over several hosts are.
func runHosts(v *state.View, j *state.Job) []*api.RunHost {
	if len(j.LastRun().Sisters) == 0 {
		return nil
	}
	var all []*api.RunHost
	for _, name := range j.Hosts() {
		host := &api.RunHost{Name: string(name)}
		if h, ok := v.Host(name); ok {
			host.Address = h.Address
		}
		all = append(all, host)
	}
	return all
}

// withKillDelay adds to the job's attributes what the mom does by itself: the queue's
// kill_delay, periodic checkpoints, and the server's prune_at_job_start. Moms know each other by the names of their hosts,
// whatever those of their natural vnodes are.
func withKillDelay(v *state.View, j *state.Job) attr.List {
	list := v.JobAttributes(j)
	if i := slices.IndexFunc(list, func(e attr.Entry) bool { return e.Name == "exec_host" }); i >= 0 {
		list[i].Value = j.LastRun().ExecHost.String()
	}
	if q, ok := v.Queue(j.Queue); ok {
		if delay, set := q.Attrs.Get("kill_delay", ""); set {
			list = append(list, attr.Entry{Name: "kill_delay", Value: delay})
		}
	}
	if text, _ := j.Attrs.Get("Checkpoint", ""); strings.Contains(text, "=") {
		list = append(list, attr.Entry{Name: command.PeriodicCheckpoints, Value: "True"})
	}
	if v.Server().Bool("prune_at_job_start") {
		list = append(list, attr.Entry{Name: "prune_at_job_start", Value: "True"})
	}
	return list
}

func attributes(list attr.List) []*api.Attribute {
	out := make([]*api.Attribute, len(list))
	for i, e := range list {
		out[i] = &api.Attribute{Name: e.Name, Resource: e.Resource, Value: e.Value}
	}
	return out
}
