package service

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// Staging implements the Staging service: it tells the daemons that move files of jobs what they may touch.
type Staging struct{ base }

// Locate tells which daemon moves files on a host: its mom, else that of a login host, else
// the replica. A short name that several hosts could go by finds none.
func (s *Staging) Locate(ctx context.Context, r *connect.Request[api.LocateRequest]) (*connect.Response[api.LocateReply], error) {
	v, err := s.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return nil, err
	}
	name := r.Msg.GetHost()
	if h, ok := v.Host(pbs.HostName(name)); ok && h.Address != "" { // as a rule, and without a look at all others
		return connect.NewResponse(&api.LocateReply{Address: h.Address, Host: name, Role: string(transport.RoleMom)}), nil
	}
	at := locate(v, func(host string) bool { return host == name })
	if at.GetAddress() == "" {
		at = locate(v, func(host string) bool { return pbs.SameHost(host, name) })
	}
	return connect.NewResponse(at), nil
}

// locate returns the one daemon whose host is meant, of the first role that has any.
func locate(v *state.View, meant func(host string) bool) *api.LocateReply {
	for _, role := range []iter.Seq[*api.LocateReply]{momsOf(v), loginsOf(v), replicaHosts(v)} {
		var found []*api.LocateReply
		for at := range role {
			if at.GetAddress() != "" && meant(at.GetHost()) {
				found = append(found, at)
			}
		}
		if len(found) > 0 {
			if len(found) > 1 {
				return &api.LocateReply{}
			}
			return found[0]
		}
	}
	return &api.LocateReply{}
}

func momsOf(v *state.View) iter.Seq[*api.LocateReply] {
	return func(yield func(*api.LocateReply) bool) {
		for h := range v.Hosts() {
			if !yield(&api.LocateReply{Address: h.Address, Host: string(h.Name), Role: string(transport.RoleMom)}) {
				return
			}
		}
	}
}

func loginsOf(v *state.View) iter.Seq[*api.LocateReply] {
	return func(yield func(*api.LocateReply) bool) {
		for id := range v.Identities() {
			if id.Role != string(transport.RoleSubmit) || id.Revoked != 0 {
				continue
			}
			if !yield(&api.LocateReply{Address: id.Address, Host: string(id.Host), Role: id.Role}) {
				return
			}
		}
	}
}

func replicaHosts(v *state.View) iter.Seq[*api.LocateReply] {
	return func(yield func(*api.LocateReply) bool) {
		for r := range v.Replicas() {
			if !yield(&api.LocateReply{Address: r.Address, Host: string(r.Host), Role: string(transport.RoleReplica)}) {
				return
			}
		}
	}
}

// Permit tells a daemon whether a run may touch a path on its host, and whose it is. The mom
// of the run must ask for it, the job must name that very path, and the job's owner must be
// known by name there: it is an execution host, or that of the submission, or flatuid is
// set (cli-contract section 1). What an earlier run has written the mom of the present one may read
// where that was sent back to the queue. So a broken mom reaches no more than what its jobs name.
func (s *Staging) Permit(ctx context.Context, r *connect.Request[api.PermitRequest]) (*connect.Response[api.PermitReply], error) {
	caller, _ := transport.CallerFrom(ctx)
	v, err := s.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return nil, err
	}
	q := r.Msg
	j, ok := v.Job(pbs.JobID(q.GetJob()))
	if !ok {
		return nil, pbs.Refuse(pbs.UnknownJob)
	}
	here := pbs.User{Name: j.Owner.Name, Host: caller.Host}
	switch {
	case !j.Is(pbs.RunCount(q.GetRunCount())) || string(j.Run.MS) != q.GetMom():
		err = fmt.Errorf("run %d of %s is not at %s", q.GetRunCount(), j.ID, q.GetMom())
	case q.GetOutput() && (q.GetOut() || caller.Role != transport.RoleMom || caller.Host != j.Output):
		err = fmt.Errorf("job %s has no output on %s", j.ID, caller.Host)
	case !q.GetOutput() && !touches(j, caller.Host, q.GetPath(), q.GetOut()):
		err = fmt.Errorf("job %s names no file %s of %s", j.ID, q.GetPath(), caller.Host)
	case caller.Role != transport.RoleMom && j.Owner.Host != caller.Host && !v.Server().Bool("flatuid"):
		err = fmt.Errorf("job %s was not submitted on %s, and flatuid is not set", j.ID, caller.Host)
	}
	if err != nil {
		return nil, pbs.Errorf(pbs.Unauthorized, "%s: %v", pbs.Unauthorized.Text(), err)
	}
	return connect.NewResponse(&api.PermitReply{User: here.Name, Root: listed(v.Server().List("acl_roots"), here, false), Account: recorded(v, here.Name)}), nil
}

// touches reports whether the job names a path of the host, to be read or written.
func touches(j *state.Job, host pbs.HostName, path string, out bool) bool {
	value := func(name string) string {
		text, _ := j.Attrs.Get(name, "")
		return text
	}
	meant := func(s pbs.Staged) bool { return pbs.SameHost(s.Host, string(host)) && s.Remote == path }
	if !out {
		return slices.ContainsFunc(pbs.ParseStagedList(value("stagein")), meant)
	}
	if slices.ContainsFunc(pbs.ParseStagedList(value("stageout")), meant) {
		return true
	}
	return slices.ContainsFunc([]string{"Output_Path", "Error_Path"}, func(name string) bool {
		there, rest, named := strings.Cut(value(name), ":")
		return named && meant(pbs.Staged{Host: there, Remote: rest})
	})
}
