package load

import (
	"context"
	"strings"

	"rampart/chaos/check"
	"rampart/fsm/spec"
	"rampart/transport/api"
)

// divide chooses one of the jobs that run on several hosts, and what it is to give back: names joined
// with +, -a or -k. Not ok if there is no such job.
func (c *Client) divide(ctx context.Context, s Step) (job known, what string, ok bool) {
	type running struct {
		known
		on spec.ExecVnode
	}
	var all []running
	err := c.list(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"Job_Name", "job_state", "exec_vnode"},
	}, func(o *api.Object) {
		on, err := spec.ParseExecVnode(valueOf(o, "exec_vnode"))
		if err == nil && len(on) > 1 && valueOf(o, "job_state") == "R" {
			all = append(all, running{known{valueOf(o, "Job_Name"), o.GetName(), true}, on})
		}
	})
	if err != nil || len(all) == 0 {
		return known{}, "", false
	}
	n := s.Victim / len(ways)
	r := all[n%len(all)]
	host := r.on[1+n%(len(r.on)-1)].Parts
	switch s.Value {
	case "host":
		names := make([]string, len(host))
		for i, p := range host {
			names[i] = string(p.Vnode)
		}
		return r.known, strings.Join(names, "+"), true
	case "vnode":
		return r.known, string(host[len(host)-1].Vnode), true
	}
	return r.known, s.Value, true
}

// released returns the request for what an operation says.
func released(op *check.Op) *api.ReleaseNodesRequest {
	r := &api.ReleaseNodesRequest{Job: op.Job}
	keep, keeps := strings.CutPrefix(op.Value, "-k ")
	switch {
	case keeps:
		r.Keep = keep
	case op.Value != "-a":
		r.Vnodes = op.Value
	}
	return r
}
