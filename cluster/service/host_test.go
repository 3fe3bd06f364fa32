package service

import (
	"context"
	"strings"
	"testing"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// A mom whose disk is full says so in its renewals: its vnodes go out with the reason as
// their comment, and come back.
func TestLease_TroubleTakesTheVnodesOut(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta", "hosta[0]")
	b.host("hostb", "hostb")
	lease := func(text string) {
		t.Helper()
		_, err := b.Report.Lease(b.asMom("hosta"), request(&api.LeaseRequest{Host: "hosta", BootId: "b", SpoolId: "s", Trouble: text}, ""))
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct{ told, state, comment string }{
		{"", "free", ""},
		{"disk\nfull", "down", "disk full"},
		{"disk\nfull", "down", "disk full"},
		{strings.Repeat("é", 300), "down", strings.Repeat("é", 100)},
		{"", "free", ""},
	} {
		before := b.index
		lease(step.told)
		if step.told == "disk\nfull" {
			lease(step.told)
			if n := b.index - before; n > 1 {
				t.Errorf("%q was committed %d times", step.told, n)
			}
		}
		for _, v := range b.vnodes("hosta") {
			if v["state"] != step.state || v["comment"] != step.comment {
				t.Errorf("after %.20q: state %q, comment %q, want %q, %q", step.told, v["state"], v["comment"], step.state, step.comment)
			}
		}
		if v := b.vnodes("hostb")[0]; v["state"] != "free" {
			t.Errorf("after %.20q the other host is %s", step.told, v["state"])
		}
	}
}

// vnodes returns the attributes of a host's vnodes as they are shown.
func (b *bench) vnodes(host string) []map[string]string {
	v := b.store.View()
	var all []map[string]string
	for vn := range v.VnodesOf(pbs.HostName(host)) {
		attributes := map[string]string{}
		for _, e := range v.VnodeAttributes(vn) {
			attributes[e.Name] = e.Value
		}
		all = append(all, attributes)
	}
	return all
}

// Only a manager may take a host for dead, and only one that is down.
func TestForgetHost(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	id := pbs.JobID(b.mustSubmit("ann@h"))
	b.do(&command.StartJob{Job: id, ExecVnode: "(hosta:ncpus=1)"})
	forget := func(who, host string) (*api.ForgetHostReply, error) {
		r, err := b.Cluster.ForgetHost(b.as(who), request(&api.ForgetHostRequest{Host: host}, ""))
		if err != nil {
			return nil, err
		}
		return r.Msg, nil
	}
	refused := func(who, host string, want pbs.Code) {
		t.Helper()
		if _, err := forget(who, host); pbs.CodeOf(err) != want {
			t.Errorf("%s forgets %s: %v, want code %d", who, host, err, want)
		}
	}
	refused("boss@h", "hosta", pbs.BadNodeState)
	b.do(&command.HostDown{Host: "hosta"})
	refused("ann@h", "hosta", pbs.Unauthorized)
	refused("op@hosta", "hosta", pbs.Unauthorized)
	refused("boss@h", "nosuch", pbs.UnknownNode)
	if j := b.job(string(id)); j.State != pbs.Running {
		t.Errorf("the job is %s by a word that was refused", j.State)
	}
	if r, err := forget("boss@h", "hosta"); err != nil || r.GetRequeued() != 1 || r.GetEnded() != 0 {
		t.Errorf("forgotten: %v, %v", r, err)
	}
	if j := b.job(string(id)); j.State != pbs.Queued {
		t.Errorf("the job of the host is %s", j.State)
	}
	if r, err := forget("boss@h", "hosta"); err != nil || r.GetRequeued()+r.GetEnded() != 0 {
		t.Errorf("forgotten twice: %v, %v", r, err)
	}
}

// A repeat of the word is not a second one: the host may be up with other jobs by then.
func TestForgetHost_RepeatedIsAnsweredAlike(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	id := pbs.JobID(b.mustSubmit("ann@h"))
	b.do(&command.StartJob{Job: id, ExecVnode: "(hosta:ncpus=1)"}, &command.HostDown{Host: "hosta"})
	request := request(&api.ForgetHostRequest{Host: "hosta"}, transport.NewRequestID())
	ask := func(ctx context.Context) uint32 {
		t.Helper()
		r, err := b.Cluster.ForgetHost(ctx, request)
		if err != nil {
			t.Fatal(err)
		}
		return r.Msg.GetRequeued()
	}
	if n := ask(b.as("boss@h")); n != 1 {
		t.Errorf("%d jobs queued again", n)
	}
	b.host("hosta", "hosta")
	b.do(&command.StartJob{Job: id, ExecVnode: "(hosta:ncpus=1)"})
	if n := ask(b.as("boss@h")); n != 1 || b.job(string(id)).State != pbs.Running {
		t.Errorf("repeated: %d, the job is %s", n, b.job(string(id)).State)
	}
}
