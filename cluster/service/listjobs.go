package service

import (
	"slices"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// jobs lists jobs: the named ones, or all.
func (l *listing) jobs() error {
	if len(l.req.GetNames()) > 0 {
		return l.namedJobs()
	}
	if err := l.checkQueues(); err != nil {
		return err
	}
	next, more := uint64(0), true
	for more {
		var err error
		more, err = l.page(func(v *state.View, p *page) bool {
			for j := range v.JobsFrom(next) {
				if p.full() {
					return true
				}
				next = j.Seq + 1
				if l.wants(p.me, j) {
					p.add(string(j.ID), p.fields.ofJob(v, j))
				}
			}
			return false
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkQueues refuses a queue that is none.
func (l *listing) checkQueues() error {
	v, err := l.view()
	if err != nil {
		return err
	}
	for _, q := range l.req.GetQueues() {
		if _, ok := v.Queue(pbs.QueueName(q)); !ok {
			return pbs.Refuse(pbs.UnknownQueue)
		}
	}
	return nil
}

// wants tells whether an unnamed job belongs to the listing.
func (l *listing) wants(me person, j *state.Job) bool {
	if j.State == pbs.Finished && !l.req.GetHistory() {
		return false
	}
	if qs := l.req.GetQueues(); len(qs) > 0 && !slices.Contains(qs, string(j.Queue)) {
		return false
	}
	return maySee(me, j)
}

// maySee hides other people's jobs where the site says so.
func maySee(me person, j *state.Job) bool {
	return me.perm >= attr.Operator || me.view.Server().Bool("query_other_jobs") || me.owns(j)
}

// namedJobs lists the jobs asked for, each or the reason why not.
func (l *listing) namedJobs() error {
	names := l.req.GetNames()
	for more := true; more; {
		var err error
		more, err = l.page(func(v *state.View, p *page) bool {
			for len(names) > 0 && !p.full() {
				l.namedJob(v, p, names[0])
				names = names[1:]
			}
			return len(names) > 0
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) namedJob(v *state.View, p *page, name string) {
	j, err := jobOf(v, name)
	switch {
	case err != nil:
	case j.State == pbs.Finished && !l.req.GetHistory():
		err = pbs.Refuse(pbs.HasFinished)
	case !maySee(p.me, j):
		err = pbs.Refuse(pbs.Unauthorized)
	}
	if err != nil {
		p.refuse(name, err)
		return
	}
	p.add(string(j.ID), p.fields.ofJob(v, j))
}
