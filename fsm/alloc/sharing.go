package alloc

import "rampart/fsm/spec"

// Sharing is the sharing attribute of a vnode; empty: default_shared.
type Sharing string

// AloneFor reports whether a job with the place has the vnode to itself: the attribute may force or forbid it, else the place
// says.
func (s Sharing) AloneFor(p spec.Place) bool {
	switch s {
	case "force_excl", "force_exclhost":
		return true
	case "ignore_excl":
		return false
	case "default_excl", "default_exclhost":
		return p.Sharing != spec.Shared
	}
	return p.Sharing == spec.Exclusive || p.Sharing == spec.ExclusiveHost
}

// HostAloneFor reports whether a job with the place has the whole host of the vnode to itself.
func (s Sharing) HostAloneFor(p spec.Place) bool {
	switch s {
	case "force_exclhost":
		return true
	case "ignore_excl", "force_excl":
		return false
	case "default_exclhost":
		return p.Sharing == "" || p.Sharing == spec.ExclusiveHost
	}
	return p.Sharing == spec.ExclusiveHost
}

// Use says who uses a vnode and its host, now or in a time to come.
type Use struct {
	Here, OnHost int  // users of the vnode, and of its host: those of the vnode may be among them
	Alone        bool // one of them has the vnode for itself
	HostAlone    bool // one of them has the host for itself
}

// Lets reports whether a job with the place may use the vnode beside those who do.
func (s Sharing) Lets(u Use, p spec.Place) bool {
	return u.Lets(u.Here > 0 && s.AloneFor(p), u.OnHost > 0 && s.HostAloneFor(p))
}

// Lets reports whether another run may use the vnode together with its present users, if it wants the vnode, or its host, alone or not.
func (u Use) Lets(alone, host bool) bool {
	return !u.Alone && !u.HostAlone && (u.Here == 0 || !alone) && (u.OnHost == 0 || !host)
}
