package service

import (
	"context"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// Lease answers a mom's renewal after it was made sure that this replica leads. A
// mom that the state has down, under another boot or disk is told to register; one that
// it does not have at all gets no lease.
func (s *Report) Lease(ctx context.Context, r *connect.Request[api.LeaseRequest]) (*connect.Response[api.LeaseReply], error) {
	host, err := mom(ctx, r.Msg.GetHost())
	if err != nil {
		return nil, err
	}
	_, term, err := s.Replica.ReadIndex(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	h, ok := v.Host(host)
	if !ok {
		return nil, pbs.Refuse(pbs.UnknownNode)
	}
	s.heard(ctx, v, h, r.Msg)
	fence := v.Server().Fence()
	s.deadlines.note(host, max(r.Msg.GetFenceSeconds(), fence))
	s.renewed(host)
	wish := s.loaded(v, term, host, r.Msg.Load)
	return connect.NewResponse(&api.LeaseReply{
		Epoch: v.Cluster().Epoch, Term: term, FenceSeconds: fence,
		Prove:    s.toProve(v, host, r.Msg.GetProved()),
		Register: !h.Up || h.BootID != r.Msg.GetBootId() || h.SpoolID != r.Msg.GetSpoolId() || unreported(v, host),
		Load:     wish,
	}), nil
}

// heard commits what is new in a renewal. What was not taken comes with the next one.
func (s *Report) heard(ctx context.Context, v *state.View, h *state.Host, r *api.LeaseRequest) {
	var news []command.Command
	if held := r.GetFenceSeconds(); held > 0 {
		if now := state.LongerFence(held, v.Server().Fence()); now != h.Fence && state.LongerFence(now, h.Fence) == h.Fence {
			news = append(news, &command.ShortenFence{Host: h.Name, Held: held, Changed: v.Server().FenceChanged})
		}
	}
	if now := ailment(v, h, r); now != nil {
		news = append(news, now)
	}
	if len(news) == 0 {
		return
	}
	if _, err := s.commit(ctx, pbs.User{}, news...); err != nil {
		s.Logger.Warn("commit what a mom says of itself", "host", h.Name, "error", err)
	}
}

// ailment returns what a renewal changes in what keeps a host from taking jobs; nil: nothing.
func ailment(v *state.View, h *state.Host, r *api.LeaseRequest) *command.HostTrouble {
	now := &command.HostTrouble{Host: h.Name, Text: trouble(r.GetTrouble()), Busy: r.GetBusy()}
	if h.Sick != "" && r.GetProved() == int64(h.SickSince) {
		now.Proved = h.SickSince
	}
	for _, u := range r.GetUnstarted() {
		run := command.UnstartedRun{Job: pbs.JobID(u.GetJob()), RunCount: pbs.RunCount(u.GetRunCount()), Reason: trouble(u.GetReason())}
		if j, ok := v.Job(run.Job); ok && run.Waits(j, h.Name) && len(now.Unstarted) < maxUnstarted {
			now.Unstarted = append(now.Unstarted, run)
		}
	}
	if now.Text == h.Trouble && now.Busy == h.Busy && now.Proved == 0 && len(now.Unstarted) == 0 {
		return nil
	}
	return now
}

// maxUnstarted bounds the runs that one command gives back; others come with the next renewal.
const maxUnstarted = 100

// toProve returns the number for which a sick host's mom is to prove that it is well, 0 for none. One
// that was found sick again and again is asked later each time: what fails there its proof does not see.
func (s *Report) toProve(v *state.View, host pbs.HostName, proved int64) int64 {
	const step, longest = 5 * pbs.Time(time.Second), 6
	h, ok := v.Host(host)
	if !ok || h.Sick == "" || int64(h.SickSince) == proved {
		return 0
	}
	if n := h.Relapses; n > 1 && v.Now() < h.SickSince+step<<min(n-2, longest) {
		return 0
	}
	return int64(h.SickSince)
}

// trouble returns a mom's words as they may be shown: one line that is not too long.
func trouble(text string) string {
	const most = 200
	line := strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "?")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "")
	}
	return line
}

// unreported reports whether the host has a vnode that was made by qmgr since its mom
// registered: what it offers, only the mom knows.
func unreported(v *state.View, host pbs.HostName) bool {
	for vn := range v.VnodesOf(host) {
		if vn.Flags&state.VnodeUnknown != 0 {
			return true
		}
	}
	return false
}

// renewed is called before the answer to a renewal is given.
func (s *Report) renewed(host pbs.HostName) {
	if l := s.Leases(); l != nil {
		l.Renewed(host)
	}
}

// lowestOpen returns the id below which no order for the host is open any more.
func lowestOpen(v *state.View, host pbs.HostName) pbs.OrderID {
	for o := range v.Orders(host) {
		return o.ID
	}
	if h, ok := v.Host(host); ok {
		return h.NextOrder + 1
	}
	return 0
}
