package mom

import (
	"context"
	"sync"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/transport/api"
)

// proofRounds is how often a host has to write, sync, fork and execute without a failure before it counts as
// well: what fails now and then fails jobs as well.
const proofRounds = 5

// A proof is how the mom of a host stands that the servers hold for sick.
type proof struct {
	mu      sync.Mutex
	asked   int64  // the number for which it is asked; 0: it is not
	done    int64  // the number for which it has succeeded
	failure string // why it has not; empty: it has, or was not asked
	busy    bool
}

// ask notes what the servers ask for, and reports whether a proof is to be begun.
func (p *proof) ask(number int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = number
	if number == 0 {
		p.failure = ""
	}
	if p.busy || number == 0 || p.done == number {
		return false
	}
	p.busy = true
	return true
}

// end notes how it went.
func (p *proof) end(number int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy, p.failure = false, ""
	if err != nil {
		p.failure = err.Error()
		return
	}
	p.done = number
}

// tell returns what a renewal says of it: the number that was proved, and the trouble, which is that of
// the proof if there is no other.
func (p *proof) tell(trouble string) (int64, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case trouble != "":
		return 0, trouble
	case p.failure != "":
		return 0, "the host cannot start jobs: " + p.failure
	}
	return p.done, ""
}

// prove finds out whether the host can start jobs, and has the servers hear of it.
func (m *Mom) prove(ctx context.Context, l *life) {
	l.proof.mu.Lock()
	number := l.proof.asked
	l.proof.mu.Unlock()
	var err error
	for range proofRounds {
		if err = l.spool.Prove(); err == nil {
			err = m.config.System.Prove(ctx, spool.TasksDir(m.config.Home))
		}
		if err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		m.lines.system(pbs.LogError, string(m.config.Host), "starts in a row have failed, and the host cannot start jobs: "+err.Error())
	} else {
		m.lines.system(pbs.LogSystem, string(m.config.Host), "starts in a row have failed, and the host can start jobs again")
	}
	l.proof.end(number, err)
	if err == nil {
		l.renewSoon()
	}
}

// renewSoon has the next renewal not wait for its time.
func (l *life) renewSoon() {
	select {
	case l.hurry <- struct{}{}:
	default:
	}
}

// untilDue waits until the lease is to be renewed, some time from now at the latest; false says that the context ended.
func (l *life) untilDue(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.hurry:
		return true
	case <-ctx.Done():
		return false
	}
}

// maxUnstarted bounds the runs that one renewal gives back.
const maxUnstarted = 100

// unstarted returns the runs that never began and whose facts the disk does not take.
func (l *life) unstarted() []*api.Unstarted {
	var all []*api.Unstarted
	for _, r := range l.all() {
		if why := r.Unstarted(); why != "" && len(all) < maxUnstarted {
			k := r.Task().Key
			all = append(all, &api.Unstarted{Job: string(k.Job), RunCount: uint32(k.Run), Reason: text(why)})
		}
	}
	return all
}
