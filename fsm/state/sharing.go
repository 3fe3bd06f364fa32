package state

import (
	"slices"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
)

// Placement returns how the job wants to be placed: its Resource_List.place.
func (j *Job) Placement() spec.Place {
	text, _ := j.Resources.Get("place")
	p, err := spec.ParsePlace(text)
	if err != nil {
		return spec.Place{}
	}
	return p
}

// AloneFor reports whether a job with the place has the vnode to itself.
func (v *Vnode) AloneFor(p spec.Place) bool { return alloc.Sharing(v.Sharing).AloneFor(p) }

// HostAloneFor reports whether a job with the place has the whole host of the vnode to itself.
func (v *Vnode) HostAloneFor(p spec.Place) bool { return alloc.Sharing(v.Sharing).HostAloneFor(p) }

// Lets reports whether a job with the place may use the vnode beside those who do.
func (v *Vnode) Lets(u alloc.Use, p spec.Place) bool { return alloc.Sharing(v.Sharing).Lets(u, p) }

// A Claim tells which vnodes a reservation has to itself while it runs: those that a job of its place would. A maintenance has all
// of its vnodes, whatever they say.
type Claim struct {
	place       spec.Place
	maintenance bool
}

// Claim returns the reservation's claim on its vnodes.
func (r *Reservation) Claim() Claim { return Claim{r.Placement(), r.Maintenance()} }

// AloneOn reports whether the vnode is for nobody else.
func (c Claim) AloneOn(v *Vnode) bool { return c.maintenance || v.AloneFor(c.place) }

// HostAloneOn reports whether the whole host of the vnode is.
func (c Claim) HostAloneOn(v *Vnode) bool { return c.maintenance || v.HostAloneFor(c.place) }

// TakesHost reports whether a run that is not suspended has the vnode and its whole host to itself.
func (t *tables) TakesHost(v *Vnode) bool {
	for _, held := range v.Jobs {
		if !held.Exclusive || held.Suspended {
			continue
		}
		if j, ok := t.Job(held.Job); ok && v.HostAloneFor(j.Placement()) {
			return true
		}
	}
	return false
}

// takerOfHost returns the run that has the host of a vnode to itself by another vnode of it: as in PBS it shows among the jobs of each of
// them, unless that ignores exclusive use.
func (t *tables) takerOfHost(v *Vnode) (pbs.JobID, bool) {
	if v.Exclusive() || v.SharingText() == "ignore_excl" || !t.sharesHost(v) {
		return "", false
	}
	for o := range t.takersOf(v.Host) {
		if o.HostWord() == v.HostWord() && t.TakesHost(o) {
			at := slices.IndexFunc(o.Jobs, func(held VnodeJob) bool { return held.Exclusive && !held.Suspended })
			return o.Jobs[at].Job, true
		}
	}
	return "", false
}

// A Stake is what a run holds of a vnode.
type Stake struct {
	Vnode *Vnode
	At    int // in Vnode.Jobs
}

// Held returns the stake itself.
func (s Stake) Held() VnodeJob { return s.Vnode.Jobs[s.At] }

// Stakes returns what the present run of a job holds of its vnodes.
func (t *tables) Stakes(j *Job) []Stake {
	var all []Stake
	for _, name := range j.LastRun().AllVnodes().Vnodes() {
		v, ok := t.Vnode(name)
		if !ok {
			continue
		}
		for i, held := range v.Jobs {
			if held.Of(j) {
				all = append(all, Stake{v, i})
			}
		}
	}
	return all
}

// Beside reports whether the run may use its stake beside the runs of others on the vnode and on its host, those that are
// not suspended.
func (t *tables) Beside(s Stake) bool {
	held := s.Held()
	j, ok := t.Job(held.Job)
	wantsHost := ok && held.Exclusive && s.Vnode.HostAloneFor(j.Placement())
	word := s.Vnode.HostWord()
	var use alloc.Use
	for v := range t.VnodesOf(s.Vnode.Host) {
		if v.HostWord() != word {
			continue
		}
		if !slices.ContainsFunc(v.Jobs, func(o VnodeJob) bool { return o.Job != held.Job && !o.Suspended }) {
			continue
		}
		use.OnHost++
		use.HostAlone = use.HostAlone || t.TakesHost(v)
		if v.Name == s.Vnode.Name {
			use.Here, use.Alone = 1, v.Exclusive()
		}
	}
	return use.Lets(held.Exclusive, wantsHost)
}
