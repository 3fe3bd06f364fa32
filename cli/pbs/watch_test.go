package pbs

import (
	"context"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// An airing is one stream of the fake server: what it tells to who has come so far.
type airing struct {
	from     uint64
	messages []*api.WatchReply
	err      error
}

func beginning(m *api.WatchReply) *api.WatchReply {
	m.Header, m.Epoch = &api.ListHeader{Server: "hosta", Version: "23.06.06", Timestamp: 1795242350}, 7
	return m
}

func job(name, state string, more ...string) *api.Object {
	o := &api.Object{Name: name, Attributes: []*api.Attribute{
		{Name: "Job_Name", Value: "j"},
		{Name: "Job_Owner", Value: "ann@hosta"},
		{Name: "job_state", Value: state},
		{Name: "queue", Value: "workq"},
	}}
	for i := 0; i < len(more); i += 2 {
		o.Attributes = append(o.Attributes, &api.Attribute{Name: more[i], Value: more[i+1]})
	}
	return o
}

func jobs(index uint64, all ...*api.Object) *api.WatchReply {
	return &api.WatchReply{Objects: all, Index: index}
}

func goneBy(index uint64, all ...*api.Gone) *api.WatchReply {
	return &api.WatchReply{Gone: all, Index: index}
}

// airings are what the fake server tells, by the first name that it is asked for.
var airings = map[string][]airing{
	// It runs, a replica dies, and its end is told by another one.
	"12.hosta": {
		{0, []*api.WatchReply{beginning(jobs(5, job("12.hosta", "Q"))), jobs(6, job("12.hosta", "R"))}, pbs.Refuse(pbs.NoQuorum)},
		{6, []*api.WatchReply{beginning(jobs(9, job("12.hosta", "F", "Exit_status", "7")))}, nil},
	},
	"13.hosta": {{0, []*api.WatchReply{beginning(jobs(5, job("13.hosta", "Q"))), goneBy(6, &api.Gone{Name: "13.hosta"})}, nil}},
	"14.hosta": {{0, []*api.WatchReply{beginning(goneBy(6, &api.Gone{Name: "14.hosta", Exited: true, ExitStatus: 271}))}, nil}},
	"15.hosta": {{0, []*api.WatchReply{beginning(jobs(5, job("15.hosta", "F", "Exit_status", "0")))}, nil}},
	"16.hosta": {
		{0, nil, pbs.Refuse(pbs.NoQuorum)},
		{0, []*api.WatchReply{beginning(jobs(5, job("16.hosta", "F", "Exit_status", "4")))}, nil},
	},
	// All jobs: what was told is forgotten after the replica has died, and so is the end of 3.
	"": {
		{0, []*api.WatchReply{
			beginning(jobs(0, job("10.hosta", "Q"), job("3.hosta", "R"))), jobs(5, job("2.hosta", "R")),
			jobs(6, job("10.hosta", "R")), goneBy(7, &api.Gone{Name: "2.hosta"}),
		}, pbs.Refuse(pbs.UnknownResult)},
		{7, []*api.WatchReply{beginning(&api.WatchReply{Resync: true})}, nil},
		{0, []*api.WatchReply{beginning(jobs(20, job("10.hosta", "R"), job("11.hosta", "Q"))), jobs(21, job("10.hosta", "F"))}, pbs.Refuse(pbs.Unauthorized)},
	},
	"10": {{0, []*api.WatchReply{
		beginning(jobs(5, &api.Object{Name: "99.hosta", Refusal: &api.Refusal{Code: uint32(pbs.UnknownJob), Message: "Unknown Job Id"}}, job("10.hosta", "Q"))),
		jobs(6, job("10.hosta", "F")),
	}, nil}},
}

// Watch airs what comes next for the name.
func (f *fakeServer) Watch(_ context.Context, r *connect.Request[api.WatchRequest], stream *connect.ServerStream[api.WatchReply]) error {
	name := ""
	if len(r.Msg.Names) > 0 {
		name = r.Msg.Names[0]
	}
	if f.aired >= len(airings[name]) {
		f.t.Errorf("asked once more to watch %q from %d", name, r.Msg.From)
		return pbs.Refuse(pbs.InvalidRequest)
	}
	a := airings[name][f.aired]
	f.aired++
	if r.Msg.From != a.from || a.from > 0 && r.Msg.Epoch != 7 {
		f.t.Errorf("asked to watch %q from %d of epoch %d, want %d", name, r.Msg.From, r.Msg.Epoch, a.from)
	}
	for _, m := range a.messages {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	return a.err
}
