package task

import (
	"errors"

	"rampart/fsm/spec"
)

// A Placement is which vnodes and hosts a run has: exec_vnode and exec_host of its attributes, whose entries stand in the same
// order, one for each chunk.
type Placement struct {
	Vnodes spec.ExecVnode
	Hosts  spec.ExecHost
}

// Placement reads where the run is. The attributes are what is kept, since releases and hooks replace them one by one.
func (o Order) Placement() (Placement, error) {
	vnodes, err := spec.ParseExecVnode(o.Attrs.Get("exec_vnode"))
	hosts, hostErr := spec.ParseExecHost(o.Attrs.Get("exec_host"))
	if err := errors.Join(err, hostErr); err != nil {
		return Placement{}, err
	}
	return Placement{vnodes, hosts}, nil
}

// Host returns the host of a chunk: own where exec_host has no entry for it.
func (p Placement) Host(chunk int, own string) string {
	if chunk < len(p.Hosts) {
		return p.Hosts[chunk].Host
	}
	return own
}
