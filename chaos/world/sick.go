package world

import (
	"context"
	"fmt"
	"strconv"
	"syscall"

	"rampart/chaos/check"
	"rampart/chaos/fault"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// sicken makes the host of a mom fall ill.
func (k striker) sicken(s fault.Step) (string, bool) {
	m := k.mom(s.Target)
	m.system.mu.Lock()
	defer m.system.mu.Unlock()
	m.system.illness = s.Value
	k.book.hurt(pbs.HostName(m.name))
	return s.String() + ": " + m.name, true
}

// cure makes all hosts well; not ok if all were.
func (w *World) cure() bool {
	any := false
	for _, m := range w.moms {
		m.system.mu.Lock()
		any = any || m.system.illness != ""
		m.system.illness = ""
		m.system.mu.Unlock()
	}
	return any
}

// hurt notes that jobs may fail on a host from now on.
func (k *book) hurt(host pbs.HostName) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.harmed[host] = true
}

// forks reports whether the host has processes for new programs.
func (p *programs) forks() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.illness == fault.Forkless {
		return fmt.Errorf("fork: %w", syscall.EAGAIN)
	}
	return nil
}

// Prove implements proc.System.
func (p *programs) Prove(ctx context.Context, dir string) error {
	if err := p.forks(); err != nil {
		return err
	}
	return p.Fake.Prove(ctx, dir)
}

// disk fails what an illness does not let the mom write.
func (p *programs) disk(step, _ string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if step != "write" {
		return nil
	}
	p.writes++
	if p.illness == fault.Full || p.illness == fault.Flaky && p.writes%3 != 0 {
		return syscall.ENOSPC
	}
	return nil
}

// noteWaits writes down which jobs wait from now on although a host that was fit and well all the time has room, and which do
// not any more. The lock is held.
func (k *book) noteWaits(v *state.View) {
	if len(k.harmed) == 0 {
		return
	}
	now := make(map[pbs.JobID]bool)
	for j := range v.Jobs() {
		if k.waits(v, j) && k.hasRoom(v, j) {
			now[j.ID] = true
			if _, known := k.waitingNow[j.ID]; !known {
				k.waitingNow[j.ID] = len(k.waited)
				k.waited = append(k.waited, check.Wait{Job: string(j.ID), Span: check.Span{From: k.since(), To: check.Never}})
			}
			k.waited[k.waitingNow[j.ID]].Avoids = k.waited[k.waitingNow[j.ID]].Avoids || len(j.Avoid) > 0
		}
	}
	for id, n := range k.waitingNow {
		if !now[id] {
			k.waited[n].To = k.since()
			delete(k.waitingNow, id)
		}
	}
}

// waits reports whether nothing but room is lacking to a job over one host, or whether it was given to a host that is not fit and its
// program has not been started there.
func (k *book) waits(v *state.View, j *state.Job) bool {
	if nodes, _ := j.Resources.Get("nodect"); nodes != "1" || j.Array != nil || len(j.Unconfirmed) > 0 {
		return false
	}
	if j.State == pbs.Queued {
		q, ok := v.Queue(j.Queue)
		return ok && q.Started
	}
	if j.State != pbs.Running || j.Run.Session != 0 || !k.harmed[j.Run.MS] {
		return false
	}
	for _, r := range k.runs {
		if r.Job == string(j.ID) && r.Count == uint32(j.RunCount) {
			return false
		}
	}
	return true
}

// hasRoom reports whether a host that was fit all the time has the cpus that a job wants.
func (k *book) hasRoom(v *state.View, j *state.Job) bool {
	cpus := func(text string) int {
		n, _ := strconv.Atoi(text)
		return n
	}
	wants, _ := j.Resources.Get("ncpus")
	for _, host := range k.hosts {
		if k.harmed[host] {
			continue
		}
		for vn := range v.VnodesOf(host) {
			all, _ := vn.Available().Get("ncpus")
			used, _ := vn.Assigned.Get("ncpus")
			if cpus(all)-cpus(used) >= cpus(wants) {
				return true
			}
		}
	}
	return false
}
