package state

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"rampart/fsm/alloc"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// ReleaseStep says what an OrderRelease is about (design section 6).
type ReleaseStep uint8

// The steps. The numbers are in every log and snapshot: append only.
const (
	ReleaseAsked     ReleaseStep = iota + 1 // the mother superior saves the new assignment
	ReleaseDone                             // it counts, and sisters may be told
	ReleaseWithdrawn                        // the one before counts
)

// Grant returns what the job has at present, and what it asks for.
func (j *Job) Grant() alloc.Grant {
	return alloc.Grant{Assignment: j.LastRun().Assignment, SchedSelect: j.SchedSelect, Resources: j.Resources}
}

// A Release is a smaller assignment that was asked for and that the mother superior has not
// yet on its disk: the job's attributes stay until it has.
type Release struct {
	Number   uint64         `cbor:"1,keyasint"`
	To       alloc.Grant    `cbor:"2,keyasint"`
	Hosts    []pbs.HostName `cbor:"3,keyasint,omitempty"` // that keep vnodes, the mother superior first
	Released []Holding      `cbor:"4,keyasint,omitempty"`
	By       pbs.User       `cbor:"5,keyasint,omitempty"`
	At       pbs.Time       `cbor:"6,keyasint,omitempty"`
	Prune    bool           `cbor:"7,keyasint,omitempty"` // of a run that is being started: nothing is held
	Lost     string         `cbor:"8,keyasint,omitempty"` // why a host that it leaves is lost: the run ends if it comes to nothing
}

// Leaves reports whether the job has no vnode of the host any more once the release is done; a nil one
// leaves none.
func (r *Release) Leaves(host pbs.HostName) bool {
	return r != nil && slices.ContainsFunc(r.Released, func(h Holding) bool { return h.Host == host && h.Left })
}

// A Holding is what a release has taken from a job on one host, and what stays assigned until
// the mom says that the job has left the host (specification: ramp-down section 8).
type Holding struct {
	Host   pbs.HostName   `cbor:"1,keyasint"`
	Chunks spec.ExecVnode `cbor:"2,keyasint"`
	Left   bool           `cbor:"3,keyasint,omitempty"` // the job has no vnode of the host any more
}

// Phases is what a job keeps that has released vnodes.
type Phases struct {
	Orig     alloc.Grant   `cbor:"1,keyasint"`           // before the first release
	Acct     alloc.Grant   `cbor:"2,keyasint"`           // of the phase before the present one
	UsedAcct resource.List `cbor:"3,keyasint,omitempty"` // resources_used at the last u
	Present  resource.List `cbor:"4,keyasint,omitempty"` // resources_used of the hosts that are still the job's
	Held     []Holding     `cbor:"5,keyasint,omitempty"` // the latest release first
	Charged  resource.List `cbor:"6,keyasint,omitempty"` // consumables that are taken of the server's and the queue's
}

// Refused is a release that came to nothing.
type Refused struct {
	Number uint64   `cbor:"1,keyasint"`
	Code   pbs.Code `cbor:"2,keyasint"`
	ByMom  bool     `cbor:"3,keyasint,omitempty"` // the mother superior's word
}

// Releasing yields the jobs that have a release open.
func (t *tables) Releasing() iter.Seq[*Job] { return t.releasing.all() }

// ReleaseOutcome returns what became of a release of the job: nil if it is done, its refusal
// in the words of the specification (ramp-down section 4), or true if it is open.
func (j *Job) ReleaseOutcome(number uint64) (open bool, err error) {
	if r := j.LastRun().Release; r != nil && r.Number == number {
		return true, nil
	}
	for _, r := range j.Refused {
		switch {
		case r.Number != number:
		case r.ByMom:
			return false, pbs.Errorf(r.Code, "MOM rejected modify request, error: %d", r.Code)
		case r.Code == pbs.NoMom:
			return false, pbs.Errorf(pbs.NoMom, "Server could not connect to MOM")
		default:
			return false, pbs.Refuse(r.Code)
		}
	}
	return false, nil
}

// HasLeft reports whether the run has released every vnode of a host that has not confirmed it
// yet.
func (r *Run) HasLeft(host pbs.HostName) bool {
	p := r.Phases
	return p != nil && slices.ContainsFunc(p.Held, func(h Holding) bool { return h.Host == host && h.Left })
}

// GivesUp reports whether the run has released all that it has of a vnode, and has not left it yet.
func (r *Run) GivesUp(vnode pbs.VnodeName) bool {
	return r.Held().Has(vnode) && !r.ExecVnode.Has(vnode)
}

// Held returns what is held of the vnodes that the run has released.
func (r *Run) Held() spec.ExecVnode {
	p := r.Phases
	if p == nil {
		return nil
	}
	var all spec.ExecVnode
	for _, h := range p.Held {
		all = append(all, h.Chunks...)
	}
	return all
}

// AllVnodes is exec_vnode and behind it what is held: all that the run has of vnodes.
func (r *Run) AllVnodes() spec.ExecVnode {
	return append(slices.Clip(r.ExecVnode), r.Held()...)
}

// heldItems returns what is held of the vnodes that the run has released, each by itself.
func (r *Run) heldItems() (items []resource.Item) {
	for _, c := range r.Held() {
		for _, p := range c.Parts {
			items = append(items, p.Items...)
		}
	}
	return items
}

// phaseAttributes returns the hidden attributes of a run that has released vnodes.
func (r *Run) phaseAttributes(name string) attr.List {
	p := r.Phases
	if p == nil {
		return nil
	}
	one := func(text string) attr.List { return appendValue(nil, name, text) }
	items := func(l resource.List) attr.List { return appendItems(nil, name, l) }
	switch name {
	case "exec_host_orig":
		return one(p.Orig.ExecHost.String())
	case "exec_vnode_orig":
		return one(p.Orig.ExecVnode.String())
	case "schedselect_orig":
		return one(p.Orig.SchedSelect)
	case "Resource_List_orig":
		return items(p.Orig.Resources)
	case "exec_host_acct":
		return one(p.Acct.ExecHost.String())
	case "exec_vnode_acct":
		return one(p.Acct.ExecVnode.String())
	case "Resource_List_acct":
		return items(p.Acct.Resources)
	case "resources_used_acct":
		return items(p.UsedAcct)
	case "resources_used_update":
		return items(p.Present)
	case "exec_vnode_deallocated":
		return one(r.Held().String())
	}
	return nil
}

// checkRelease verifies that what a run has of each vnode is what its exec_vnode and its
// held vnodes come to.
func (t *tables) checkRelease(j *Job) error {
	r := j.LastRun()
	if r.Phases == nil && r.Release == nil {
		return nil
	}
	switch {
	case !j.Live() && (r.Release != nil || len(r.Phases.Held) > 0):
		return fmt.Errorf("job %s in state %s has vnodes to release", j.ID, j.State)
	case !j.Live() || j.Suspended():
		return nil
	case r.Release != nil && r.Release.Number > j.Releases:
		return fmt.Errorf("job %s has release %d open, and counts %d", j.ID, r.Release.Number, j.Releases)
	}
	has, err := alloc.ByVnode(j.LastRun().AllVnodes(), t)
	if err != nil {
		return fmt.Errorf("job %s: %w", j.ID, err)
	}
	var errs []error
	for _, s := range has {
		v, ok := t.Vnode(s.Vnode)
		if !ok {
			continue
		}
		at := slices.IndexFunc(v.Jobs, func(h VnodeJob) bool { return h.Of(j) })
		if at >= 0 && v.Jobs[at].Suspended { // it ends so, and has what it did not give back
			continue
		}
		if at < 0 || !resource.Equal(v.Jobs[at].Items, s.Items, t) {
			errs = append(errs, fmt.Errorf("job %s has %v of vnode %s, which counts otherwise (L3)", j.ID, s.Items, s.Vnode))
		}
	}
	return errors.Join(errs...)
}

// KeptSlots are the indices of exec_host that a run keeps on a host that it has released.
type KeptSlots struct {
	Job      pbs.JobID    `cbor:"1,keyasint"`
	RunCount pbs.RunCount `cbor:"2,keyasint"`
	Slots    []uint32     `cbor:"3,keyasint,omitempty"`
}
