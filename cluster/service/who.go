package service

import (
	"context"
	"fmt"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
)

// A person is the user who makes a request, as one view knows that user.
type person struct {
	user pbs.User
	perm attr.Perm
	home bool // on a replica's host
	view *state.View
}

// person returns who asks. A mom that was not enrolled to vouch for anybody
// vouches for owners of jobs on it only.
func (c *base) person(ctx context.Context, v *state.View) (person, error) {
	caller, ok := transport.CallerFrom(ctx)
	if !ok || !caller.Person() {
		return person{}, pbs.Refuse(pbs.Unauthorized)
	}
	if onlyReads(v, caller) {
		return person{}, pbs.Refuse(pbs.Unauthorized)
	}
	return c.identified(ctx, v, caller)
}

// onlyReads reports whether the word of a mom is good for reading alone.
func onlyReads(v *state.View, caller transport.Caller) bool {
	return caller.Vouched && caller.Role == transport.RoleMom && !mayVouch(v, caller)
}

// identified returns who asks, for whom the host's word is good.
func (c *base) identified(ctx context.Context, v *state.View, caller transport.Caller) (person, error) {
	if err := admitted(v, caller); err != nil {
		return person{}, err
	}
	if err := c.known(ctx, v, caller.User); err != nil {
		return person{}, err
	}
	perm := permOf(v, caller)
	if perm < attr.Manager && v.Cluster().ID == "" { // the cluster is being founded: who may be a Manager is not known yet
		return person{}, fmt.Errorf("the replica has no state yet: %w", pbs.Refuse(pbs.NoQuorum))
	}
	return person{user: caller.User, perm: perm, home: onReplica(v, caller), view: v}, nil
}

// reader returns who reads: a daemon reads like a Manager, and people of an execution host, for
// whom its mom may not vouch otherwise, as ordinary users.
func (c *base) reader(ctx context.Context, v *state.View) (person, error) {
	caller, ok := transport.CallerFrom(ctx)
	switch {
	case ok && !caller.Person() && caller.Role.Valid():
		return person{perm: attr.Manager, view: v}, nil
	case ok && caller.Person() && onlyReads(v, caller):
		p, err := c.identified(ctx, v, caller)
		p.perm, p.home = attr.User, false
		return p, err
	}
	return c.person(ctx, v)
}

// vouchesForAll reports whether a mom was enrolled to vouch for any user.
func vouchesForAll(v *state.View, caller transport.Caller) bool {
	id, ok := v.Identity(caller.Key)
	return ok && id.Submit
}

func mayVouch(v *state.View, caller transport.Caller) bool {
	if vouchesForAll(v, caller) {
		return true
	}
	for vn := range v.VnodesOf(caller.Host) {
		for _, held := range vn.Jobs {
			if j, ok := v.Job(held.Job); ok && j.Owner.Name == caller.User.Name {
				return true
			}
		}
	}
	return false
}

// permOf judges whether somebody is a Manager or an Operator. root and those who
// are named count from replica hosts, and from hosts that their own pattern names
// (specification: cli-contract section 1).
func permOf(v *state.View, caller transport.Caller) attr.Perm {
	home := onReplica(v, caller)
	switch {
	case caller.User.Name == "root" && home, listed(v.Server().List("managers"), caller.User, home):
		return attr.Manager
	case listed(v.Server().List("operators"), caller.User, home):
		return attr.Operator
	default:
		return attr.User
	}
}

func onReplica(v *state.View, caller transport.Caller) bool {
	if caller.Role == transport.RoleReplica {
		return true
	}
	for r := range v.Replicas() {
		if caller.User.Host != "" && r.Host == caller.User.Host {
			return true
		}
	}
	return false
}

// listed reports whether a list of user@host patterns names the user.
func listed(patterns []string, u pbs.User, home bool) bool {
	for _, p := range patterns {
		name, host, hosted := strings.Cut(p, "@")
		if !command.Matches(name, u.Name) {
			continue
		}
		if home || !hosted || command.Matches(host, string(u.Host)) {
			return true
		}
	}
	return false
}

// owns reports whether the job is the person's own: by name, and by a host that
// vouches for the name.
func (p person) owns(j *state.Job) bool {
	if p.user.Name == "" || p.user.Name != j.Owner.Name {
		return false
	}
	return p.user.Host == j.Owner.Host || p.view.Server().Bool("flatuid") || runsOn(p.view, j, p.user.Host)
}

// runsOn reports whether the job has a vnode on the host.
func runsOn(v *state.View, j *state.Job, host pbs.HostName) bool {
	if !j.Live() || host == "" {
		return false
	}
	for vn := range v.VnodesOf(host) {
		for _, held := range vn.Jobs {
			if held.Job == j.ID {
				return true
			}
		}
	}
	return false
}

// mayRaise refuses to an owner more of a resource than the running job was to have: others were placed by that.
func mayRaise(p person, j *state.Job, changes []command.AttrChange, bmod bool) error {
	if p.perm >= attr.Operator || !j.Live() {
		return nil
	}
	for _, ch := range changes {
		def, known := p.view.Resource(ch.Entry.Resource)
		had, limited := j.Resources.Get(ch.Entry.Resource)
		if bmod {
			had, limited = saidBefore(p.view, j, changes, ch.Entry.Resource)
		}
		if ch.Entry.Name != "Resource_List" || !known || !limited {
			continue
		}
		if ch.Op == command.OpUnset || ch.Entry.Value == "" || def.Measure(ch.Entry.Value) > def.Measure(had) {
			return denyJob(p, j, typeAlter)
		}
	}
	return nil
}

// mayChange permits the owner of a job, Operators and Managers.
func mayChange(p person, j *state.Job, request int) error {
	if p.perm >= attr.Operator || p.owns(j) {
		return nil
	}
	return denyJob(p, j, request)
}
