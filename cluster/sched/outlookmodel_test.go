package sched_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// horizon is how many seconds the model looks ahead: all that has an end is over by then.
const horizon = 700

// modelled are the resources that the model counts.
var modelled = []string{"ncpus", "mem"}

// A naive is what is to come, in the simplest words: of every vnode who has what of it in every second. It reads runs, promises
// and top jobs from the state, and shares nothing with the calendar.
type naive struct {
	now    pbs.Time
	vnodes []*naiveVnode
}

type naiveVnode struct {
	name    pbs.VnodeName
	host    pbs.HostName
	sound   bool
	has     [2]int
	seconds [horizon]naiveSecond
}

// A naiveSecond is what is held of a vnode in a second.
type naiveSecond struct {
	held  [2]int
	users int  // suspended runs are none
	alone bool // one of them has the vnode for itself
	host  bool // or its host
}

// newNaive reads a view, without what a job that is asked about was promised, and without a run or reservation; "": with all.
func newNaive(v *state.View, now pbs.Time, about pbs.JobID, without string) *naive {
	n := &naive{now: now}
	for vn := range v.Vnodes() {
		m := &naiveVnode{name: vn.Name, host: vn.Host, sound: vn.Flags == 0 && !slices.ContainsFunc(vn.Jobs, func(held state.VnodeJob) bool { return held.Admin })}
		for i, name := range modelled {
			m.has[i] = whole(vn.Available(), name)
		}
		n.vnodes = append(n.vnodes, m)
		for _, held := range vn.Jobs {
			j, _ := v.Job(held.Job)
			until := j.Lasts(j.Started+j.LastRun().Stopped(now), now)
			if held.Suspended {
				until = now + secs(horizon)
			}
			if string(held.Job) == without {
				continue
			}
			place := j.Placement()
			n.hold(m, now, until, held.Items, !held.Suspended, held.Exclusive, held.Exclusive && place.Sharing == spec.ExclusiveHost)
		}
		for p := range v.PromisesOf(vn.Name) {
			if string(p.Reservation.ID) == without {
				continue
			}
			n.hold(m, p.From, p.Until, p.Items, true, p.AloneOn(vn), p.HostAloneOn(vn))
		}
	}
	for j := range v.Jobs() {
		text, _ := j.Attrs.Get("estimated", "exec_vnode")
		placed, err := spec.ParseExecVnode(text)
		at := j.EstimatedStart()
		if text == "" || err != nil || j.ID == about || !j.Startable() || !j.IsTop() || at <= now {
			continue
		}
		sharing := j.Placement().Sharing
		for _, m := range n.vnodes {
			for _, ch := range placed {
				for _, part := range ch.Parts {
					if part.Vnode == m.name {
						n.hold(m, at, j.Lasts(at, at), part.Items, true, sharing == spec.Exclusive || sharing == spec.ExclusiveHost, sharing == spec.ExclusiveHost)
					}
				}
			}
		}
	}
	return n
}

// whole returns how many cpus, or gigabytes, a list has, which assignments write in kilobytes.
func whole(list resource.List, name string) int {
	text, _ := list.Get(name)
	if kb, ok := strings.CutSuffix(text, "kb"); ok {
		n, _ := strconv.Atoi(kb)
		return n >> 20
	}
	return amount(list, name)
}

func (n *naive) hold(m *naiveVnode, from, until pbs.Time, items resource.List, uses, alone, host bool) {
	for t := max(0, (from-n.now)/secs(1)); t < min(horizon, (until-n.now)/secs(1)); t++ {
		s := &m.seconds[t]
		for i, name := range modelled {
			s.held[i] += whole(items, name)
		}
		if uses {
			s.users++
			s.alone, s.host = s.alone || alone, s.host || host
		}
	}
}

// An ask is what a job asks for: so many chunks, all alike.
type ask struct {
	chunks  int
	wants   [2]int // of each
	place   string
	seconds int // horizon: for ever
}

func (a *ask) request() string {
	text := fmt.Sprintf("select=%d:ncpus=%d", a.chunks, a.wants[0])
	if a.wants[1] > 0 {
		text += fmt.Sprintf(":mem=%dgb", a.wants[1])
	}
	text += " place=" + a.place
	if a.seconds < horizon {
		text += fmt.Sprintf(" walltime=%d", a.seconds)
	}
	return text
}

// free returns what a job may have of a vnode from a second on for its whole length, false: nothing.
func (n *naive) free(m *naiveVnode, a *ask, from int) (free [2]int, ok bool) {
	if !m.sound {
		return free, false
	}
	free = m.has
	for t := from; t < min(horizon, from+a.seconds); t++ {
		s := &m.seconds[t]
		for i := range free {
			free[i] = min(free[i], m.has[i]-s.held[i])
		}
		if s.alone || s.users > 0 && strings.HasSuffix(a.place, "excl") {
			return free, false
		}
		for _, other := range n.vnodes {
			if o := &other.seconds[t]; other.host == m.host && (o.host || o.users > 0 && strings.HasSuffix(a.place, "exclhost")) {
				return free, false
			}
		}
	}
	return free, true
}

// fits reports whether the chunks fit from a second on. A chunk is on one host, over several of its vnodes if need be, which
// only those do that ask for cpus alone where there are several.
func (n *naive) fits(a *ask, from int) bool {
	most, sum, hosts := 0, 0, 0
	for i, m := range n.vnodes {
		if slices.ContainsFunc(n.vnodes[:i], func(o *naiveVnode) bool { return o.host == m.host }) {
			continue
		}
		cpus, chunks := 0, a.chunks
		for _, o := range n.vnodes {
			free, ok := n.free(o, a, from)
			if o.host != m.host || !ok {
				continue
			}
			cpus += max(0, free[0])
			if a.wants[1] > 0 {
				chunks = min(chunks, max(0, free[1])/a.wants[1])
			}
		}
		chunks = min(chunks, cpus/a.wants[0])
		most, sum, hosts = max(most, chunks), sum+chunks, hosts+min(1, chunks)
	}
	switch arrangement, _, _ := strings.Cut(a.place, ":"); arrangement {
	case "scatter":
		return hosts >= a.chunks
	case "pack":
		return most >= a.chunks
	default:
		return sum >= a.chunks
	}
}

// earliest tries one second after the other; -1: none of them.
func (n *naive) earliest(a *ask) int {
	for t := range horizon {
		if a.seconds == horizon || t+a.seconds <= horizon {
			if n.fits(a, t) {
				return t
			}
		}
	}
	return -1
}

// allows returns what is wrong with an assignment from a second on, "" if nothing is.
func (n *naive) allows(a *ask, placed spec.ExecVnode, from int) string {
	taken := map[pbs.VnodeName]*[2]int{}
	var hosts []pbs.HostName
	for _, ch := range placed {
		var of pbs.HostName
		var sum [2]int
		for _, part := range ch.Parts {
			at := slices.IndexFunc(n.vnodes, func(m *naiveVnode) bool { return m.name == part.Vnode })
			if of == "" {
				of = n.vnodes[at].host
			}
			if n.vnodes[at].host != of {
				return "a chunk on several hosts"
			}
			if taken[part.Vnode] == nil {
				taken[part.Vnode] = &[2]int{}
			}
			for i, name := range modelled {
				sum[i] += whole(part.Items, name)
				taken[part.Vnode][i] += whole(part.Items, name)
			}
		}
		if sum != a.wants {
			return "a chunk of something else"
		}
		hosts = append(hosts, of)
	}
	slices.Sort(hosts)
	different := len(slices.Compact(slices.Clone(hosts)))
	if len(placed) != a.chunks || strings.HasPrefix(a.place, "scatter") && different < a.chunks || a.place == "pack" && different > 1 {
		return "other chunks"
	}
	for _, m := range n.vnodes {
		if of := taken[m.name]; of != nil {
			if free, ok := n.free(m, a, from); !ok || of[0] > max(0, free[0]) || of[1] > max(0, free[1]) {
				return fmt.Sprintf("%s has %v, %v", m.name, free, ok)
			}
		}
	}
	return ""
}
