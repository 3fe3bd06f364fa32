package server

import (
	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// place finds vnodes for a job that an operator starts.
func (s *Server) place(v *state.View, j *state.Job) (execVnode string, makeWay []*command.PreemptJob, why string) {
	return sched.PlaceOne(v.ForQueue(j.Queue), j, s.heardLoads())
}

// explain says in messages what the scheduler knows of a job that it is to start.
func (s *Server) explain(v *state.View, j *state.Job) *api.Obstacle {
	e := sched.Explain(v.ForQueue(j.Queue), j, s.heardLoads())
	o := &api.Obstacle{
		Reason: e.Reason, Never: e.Never, Start: second(e.Start), Promised: e.Promised, ExecVnode: e.ExecVnode,
		Chunk: e.Chunk, Chunks: uint32(e.Chunks), Room: e.Room, More: uint32(e.More), Ineligible: uint32(e.Ineligible),
	}
	if e.Shut != nil {
		o.Shut = hold(*e.Shut)
	}
	o.CountedMore = uint32(e.CountedMore)
	for _, h := range e.Counted {
		o.Counted = append(o.Counted, hold(h))
	}
	for _, n := range e.Near {
		near := &api.Obstacle_Nearest{Vnodes: n.Vnodes, Closed: n.Closed, At: second(n.At), Others: uint32(n.Others)}
		for _, l := range n.Lacks {
			near.Lacks = append(near.Lacks, &api.Obstacle_Lack{Resource: l.Resource, Wants: l.Wants, Free: l.Free, Total: l.Total})
		}
		for _, h := range n.Holds {
			near.Holds = append(near.Holds, hold(h))
		}
		o.Nearest = append(o.Nearest, near)
	}
	return o
}

func hold(h sched.InTheWay) *api.Obstacle_Hold {
	return &api.Obstacle_Hold{
		Kind: h.Kind, By: h.By, Vnode: h.Vnode, What: h.What, From: second(h.From), Until: second(h.Until), Without: second(h.Without),
	}
}

// second returns a time in seconds; 0 stays what it is.
func second(t pbs.Time) int64 {
	if t == 0 {
		return 0
	}
	return t.Unix()
}
