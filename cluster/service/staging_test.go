package service

import (
	"context"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// stagingBench has a job of ann@login that runs on hosta and names files of others.
func stagingBench(t *testing.T) (b *bench, job string) {
	t.Helper()
	b = newBench(t)
	b.host("hosta", "hosta")
	b.host("hostb", "hostb")
	b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "flatuid", Value: "False"}}}})
	job = b.mustSubmit("ann@login", &api.Attribute{Name: "stagein", Value: "a@hostb:/in,b@login:/in"},
		&api.Attribute{Name: "stageout", Value: "a@hostb:out,b@s1:/out"}, &api.Attribute{Name: "Output_Path", Value: "login.example.org:/home/ann/o"})
	b.do(&command.StartJob{Job: pbs.JobID(job), ExecVnode: "(hosta:ncpus=1)"})
	return b, job
}

func daemon(role transport.Role, host pbs.HostName) context.Context {
	return transport.WithCaller(context.Background(), transport.Caller{Role: role, Host: host})
}

func TestPermit(t *testing.T) {
	b, job := stagingBench(t)
	mom, login, replica := daemon(transport.RoleMom, "hostb"), daemon(transport.RoleSubmit, "login"), daemon(transport.RoleReplica, "s1")
	for _, c := range []struct {
		name string
		ctx  context.Context
		q    *api.PermitRequest
		code pbs.Code
	}{
		{"reads what it names", mom, &api.PermitRequest{Job: job, RunCount: 1, Mom: "hosta", Path: "/in"}, 0},
		{"writes what it names", mom, &api.PermitRequest{Job: job, RunCount: 1, Mom: "hosta", Path: "out", Out: true}, 0},
		{"output where it was submitted", login, &api.PermitRequest{Job: job, RunCount: 1, Mom: "hosta", Path: "/home/ann/o", Out: true}, 0},
		{"reads where it was submitted", login, &api.PermitRequest{Job: job, RunCount: 1, Mom: "hosta", Path: "/in"}, 0},
		{"writes what it may read", mom, &api.PermitRequest{Job: job, RunCount: 1, Mom: "hosta", Path: "/in", Out: true}, pbs.Unauthorized},
		{"reads what it may write", mom, &api.PermitRequest{Job: job, RunCount: 1, Mom: "hosta", Path: "out"}, pbs.Unauthorized},
		{"another path", mom, &api.PermitRequest{Job: job, RunCount: 1, Mom: "hosta", Path: "/etc/passwd"}, pbs.Unauthorized},
		{"another host's path", mom, &api.PermitRequest{Job: job, RunCount: 1, Mom: "hosta", Path: "/home/ann/o", Out: true}, pbs.Unauthorized},
		{"another mom", mom, &api.PermitRequest{Job: job, RunCount: 1, Mom: "hostb", Path: "/in"}, pbs.Unauthorized},
		{"another run", mom, &api.PermitRequest{Job: job, RunCount: 2, Mom: "hosta", Path: "/in"}, pbs.Unauthorized},
		{"no job", mom, &api.PermitRequest{Job: "99.srv", RunCount: 1, Mom: "hosta", Path: "/in"}, pbs.UnknownJob},
		{"a host where the owner may be another", replica, &api.PermitRequest{Job: job, RunCount: 1, Mom: "hosta", Path: "/out", Out: true}, pbs.Unauthorized},
	} {
		reply, err := b.Staging.Permit(c.ctx, request(c.q, ""))
		if pbs.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %d", c.name, err, c.code)
		}
		if err == nil && (reply.Msg.GetUser() != "ann" || reply.Msg.GetRoot()) {
			t.Errorf("%s: %v", c.name, reply.Msg)
		}
	}
	b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "flatuid", Value: "True"}}}})
	if _, err := b.Staging.Permit(replica, request(&api.PermitRequest{Job: job, RunCount: 1, Mom: "hosta", Path: "/out", Out: true}, "")); err != nil {
		t.Errorf("with flatuid: %v", err)
	}
	// The next run may read what this one has written, when it was sent back to the queue.
	output := &api.PermitRequest{Job: job, RunCount: 2, Mom: "hostb", Path: "OU", Output: true}
	b.do(&command.RerunJob{Job: pbs.JobID(job)})
	b.do(&command.JobEnded{Source: command.Source{Host: "hosta", Spool: "s", Seq: 1}, Job: pbs.JobID(job), RunCount: 1, ExitStatus: pbs.ExitRerun})
	b.do(&command.StartJob{Job: pbs.JobID(job), ExecVnode: "(hostb:ncpus=1)"})
	first := daemon(transport.RoleMom, "hosta")
	if _, err := b.Staging.Permit(first, request(output, "")); err != nil {
		t.Errorf("output of the run before: %v", err)
	}
	for name, ctx := range map[string]context.Context{"another host": daemon(transport.RoleMom, "hostc"), "a replica there": daemon(transport.RoleReplica, "hosta")} {
		if _, err := b.Staging.Permit(ctx, request(output, "")); pbs.CodeOf(err) != pbs.Unauthorized {
			t.Errorf("output on %s: %v", name, err)
		}
	}
	if _, err := b.Staging.Permit(first, request(&api.PermitRequest{Job: job, RunCount: 2, Mom: "hostb", Path: "OU", Output: true, Out: true}, "")); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("it may be written: %v", err)
	}
	b.do(&command.DeleteJob{Job: pbs.JobID(job), Force: true})
	if _, err := b.Staging.Permit(mom, request(&api.PermitRequest{Job: job, RunCount: 1, Mom: "hosta", Path: "/in"}, "")); err == nil {
		t.Error("a job that has ended may still read")
	}
}

func TestLocate(t *testing.T) {
	b, _ := stagingBench(t)
	tx := b.store.Tx()
	tx.PutIdentity(&state.Identity{KeyHash: "k1", Role: "submit", Host: "login1.example.org", Address: "10.0.0.9:15002"})
	tx.PutIdentity(&state.Identity{KeyHash: "k2", Role: "submit", Host: "login2.a.org", Address: "10.0.0.7:15002"})
	tx.PutIdentity(&state.Identity{KeyHash: "k3", Role: "submit", Host: "login2.b.org", Address: "10.0.0.8:15002"})
	tx.PutIdentity(&state.Identity{KeyHash: "k4", Role: "submit", Host: "gone", Address: "10.0.0.8:15002", Revoked: 1})
	tx.PutIdentity(&state.Identity{KeyHash: "k5", Role: "submit", Host: "closed"})
	b.store.Commit(tx)
	b.store.Publish()
	for name, want := range map[string]string{
		"hosta": "mom hosta", "hosta.example.org": "mom hosta", "HOSTA": "mom hosta", "login1": "submit login1.example.org",
		"login2": " ", "login2.a.org": "submit login2.a.org", "gone": " ", "closed": " ", "nosuch": " ",
	} {
		reply, err := b.Staging.Locate(daemon(transport.RoleMom, "hosta"), request(&api.LocateRequest{Host: name}, ""))
		if err != nil || reply.Msg.GetRole()+" "+reply.Msg.GetHost() != want || (reply.Msg.GetAddress() == "") != (want == " ") {
			t.Errorf("%s: %v, %v, want %s", name, reply, err, want)
		}
	}
}
