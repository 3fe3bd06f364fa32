package mom

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/cgroup"
	"rampart/mom/proc"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
	"rampart/transport/pause"
)

const (
	registerAgainAfter = time.Second // a failed attempt; the client has spent its budget before
	factsAgainAfter    = time.Second
	factsAtOnce        = 256
	leaseEvery         = 5 * time.Second
	leaseAgain         = time.Second
	shortFence         = 30               // seconds
	pollEvery          = 10 * time.Second // of the usage of jobs
	pushEvery          = time.Minute      // of samples to the servers, of a job that is older
	callFor            = 20 * time.Second // bounds one call
)

// keepRegistered registers until it succeeds, and again whenever something asks for it.
func (m *Mom) keepRegistered(ctx context.Context, l *life) {
	for {
		err := m.register(ctx, l)
		if err != nil && ctx.Err() == nil {
			m.config.Logger.Warn("not registered", "err", err)
			m.lines.system(pbs.LogSystem, "register", err.Error())
		}
		if err != nil {
			if !pause.For(ctx, registerAgainAfter) {
				return
			}
			continue
		}
		select {
		case <-m.again:
		case <-ctx.Done():
			return
		}
	}
}

// register reports host, vnodes and all tasks; only then are orders of the epoch obeyed,
// and of them those that are open by then.
func (m *Mom) register(ctx context.Context, l *life) error {
	next, err := l.alone(ctx)
	if err != nil {
		return err
	}
	defer next()
	ctx, cancel := context.WithTimeout(ctx, callFor)
	defer cancel()
	reply, sent, err := m.callRegister(ctx, l)
	if err != nil {
		return err
	}
	if err := m.renewed(ctx, l, sent, reply.Msg.GetFenceSeconds()); err != nil {
		return err
	}
	if err := l.enter(reply.Msg); err != nil {
		return err
	}
	l.lapsed.Store(false)
	l.hooks.greeted.Store(false)
	l.once.Do(func() {
		m.lines.system(pbs.LogSystem, string(m.config.Host), "registered with the servers")
		close(l.registered)
	})
	return nil
}

// callRegister registers, at the time of this host that it returns, and once more when the servers are in another epoch than the
// tasks were listed for: what was accepted between the list and the epoch must be in it.
func (m *Mom) callRegister(ctx context.Context, l *life) (*connect.Response[api.RegisterReply], time.Duration, error) {
	for {
		req, err := m.registration(l)
		if err != nil {
			return nil, 0, err
		}
		sent := m.config.System.Now()
		reply, err := m.config.Reporter.Register(ctx, connect.NewRequest(req))
		if err != nil || req.GetForEpoch() == 0 || req.GetForEpoch() == reply.Msg.GetEpoch() {
			return reply, sent, err
		}
		m.leaveEpoch(l, reply.Msg.GetEpoch())
	}
}

// leaveEpoch makes the mom obey nobody before it has entered the next epoch.
func (m *Mom) leaveEpoch(l *life, next uint64) {
	m.delivery.Lock() // what was being accepted is in the next list
	defer m.delivery.Unlock()
	l.entering.Store(next)
}

// betweenEpochs reports whether the mom has left one epoch and not entered the next.
func (l *life) betweenEpochs() bool {
	next := l.entering.Load()
	return next != 0 && next != l.spool.Epoch()
}

// enter makes the spool agree with what the servers have of it.
func (l *life) enter(r *api.RegisterReply) error {
	if err := l.spool.Acknowledge(r.GetAckedSeq()); err != nil {
		return err
	}
	if err := l.spool.EnterEpoch(r.GetEpoch()); err != nil {
		return err
	}
	err := l.spool.Orders(r.GetEpoch(), r.GetTerm(), r.GetLowestOpen())
	if errors.Is(err, spool.ErrOldTerm) { // a later leader was heard of since
		return nil
	}
	return err
}

func (m *Mom) registration(l *life) (*api.RegisterRequest, error) {
	vnodes, err := m.config.vnodes()
	if err != nil {
		return nil, err
	}
	c := &m.config
	req := &api.RegisterRequest{
		Host: string(c.Host), Address: c.Address, GossipAddress: c.GossipAddress,
		BootId: c.System.BootID(), SpoolId: l.spool.ID(), Version: pbs.Version, Vnodes: m.amounts.addTo(vnodes),
		FenceSeconds: l.fence.held(), Trouble: l.trouble(), Epoch: l.spool.Epoch(), NodeName: string(c.NodeName),
	}
	req.Busy, req.JudgesLoad = l.busy.Load(), m.settings.Load().load.most > 0
	req.ForEpoch = cmp.Or(l.entering.Load(), req.GetEpoch())
	if c.Probe != nil {
		req.Pcpus = uint32(max(c.Probe().CPUs, 0))
	}
	var tasks []task.Task
	for _, r := range l.all() {
		if r.Unstarted() == "" { // else it was given back
			tasks = append(tasks, r.Task())
		}
	}
	told, untold := l.spool.Told() // after the tasks: their facts are in it by now
	req.ToldSeq = told
	for _, t := range tasks {
		req.Tasks = append(req.Tasks, &api.TaskReport{
			Job: string(t.Key.Job), RunCount: uint32(t.Key.Run), Ended: t.State() == task.Ended, Told: t.Reports.Told() && !untold[t.Key],
		})
	}
	return req, nil
}

// untilKnown waits for the registration; false says that the context ended.
func (l *life) untilKnown(ctx context.Context) bool {
	select {
	case <-l.registered:
		return true
	case <-ctx.Done():
		return false
	}
}

// text returns what a message can hold of words with the names of files in them, as the journal has it on disk.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func used(list []spool.Used) []*api.Attribute {
	all := make([]*api.Attribute, len(list))
	for i, u := range list {
		all[i] = &api.Attribute{Name: "resources_used", Resource: u.Resource, Value: u.Value}
	}
	return all
}

// enforced returns which limits the mom sees to for a job: those of memory to which the job's cgroup does not, unless
// the site says otherwise.
func (m *Mom) enforced(k spool.TaskKey) task.Enforce {
	s := m.settings.Load()
	e := s.Enforce
	if !s.memSet {
		var room cgroup.Room
		if m.config.keeper != nil {
			room = m.config.keeper.Room(string(k.Job), uint32(k.Run))
		}
		e.Mem, e.VMem, e.PMem = !room.Mem, !room.Vmem, true // a cgroup does not count single processes
	}
	return e
}

// sum adds up what the parts of a job use; it has been there as long as the oldest of them.
func sum(parts []proc.Usage) (all proc.Usage) {
	for _, u := range parts {
		all.CPU += u.CPU
		all.RSS += u.RSS
		all.VSize += u.VSize
		all.Largest = max(all.Largest, u.Largest)
		all.Processes += u.Processes
		all.Wall = max(all.Wall, u.Wall)
	}
	return all
}
