package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// OrderConfirmed is a mom's answer to an order: it is on the mom's disk, or refused.
type OrderConfirmed struct {
	Host    pbs.HostName `cbor:"1,keyasint"`
	Order   pbs.OrderID  `cbor:"2,keyasint"`
	Refusal *pbs.Error   `cbor:"3,keyasint,omitempty"`
	// Of an order that asks for a release: resources_used by now, and what of it is the hosts'
	// that were not released before.
	Used    resource.List `cbor:"4,keyasint,omitempty"`
	Present resource.List `cbor:"5,keyasint,omitempty"`
}

// Apply closes the order. A refused order to run means that the run never was.
func (c *OrderConfirmed) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	o, ok := tx.OpenOrder(c.Host, c.Order)
	if !ok {
		return nil
	}
	tx.DeleteOrder(c.Host, c.Order)
	if o.Kind == state.OrderRelease {
		return c.releaseAnswered(tx, o)
	}
	if c.Refusal == nil && suspends(o) {
		return suspended(tx, o)
	}
	if c.Refusal != nil && suspends(o) {
		notPreempted(tx, o.Job, o.RunCount, PreemptSuspend)
		notStopped(tx, o.Job, o.RunCount)
		return nil
	}
	if c.Refusal != nil && o.Kind == state.OrderCheckpoint {
		checkpointRefused(tx, o.Job, o.RunCount)
		return nil
	}
	if c.Refusal == nil || o.Kind != state.OrderRun {
		return nil
	}
	j, ok := tx.Job(o.Job)
	if !ok || !j.Is(o.RunCount) || j.State != pbs.Running {
		return nil
	}
	next := *j
	fault := pbs.HostName("")
	if c.Refusal.Code == pbs.SystemError { // it cannot be saved there
		fault = c.Host
	}
	notStarted(tx, m, &next, fault, c.Refusal.Message)
	return requeue(tx, m, &next, state.JobRequeuedUnrun, c.Refusal.Message)
}
