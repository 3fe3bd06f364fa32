package service

import (
	"slices"
	"strings"

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
	var seq uint64
	var sub uint32
	for more := true; more; {
		var err error
		more, err = l.page(func(v *state.View, p *page) bool {
			from := v.JobsFrom
			if l.req.GetSubjobs() {
				from = v.AllFrom
			}
			for j := range from(seq, sub) {
				if p.full() {
					return true
				}
				seq, sub = j.Seq, j.Sub+1
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

// wants reports whether an unnamed job belongs to the listing.
func (l *listing) wants(me person, j *state.Job) bool {
	if !l.chooses(j) || j.State == pbs.Finished && !l.req.GetHistory() && !me.view.Expired(j) {
		return false
	}
	if qs := l.req.GetQueues(); len(qs) > 0 && !slices.Contains(qs, string(j.Queue)) {
		return false
	}
	return meet(l.where, me.view, j) && maySee(me, j)
}

// chooses reports whether a job is of the kind that is listed: subjobs are only if asked for.
func (l *listing) chooses(j *state.Job) bool {
	switch {
	case l.req.GetArrays() && l.req.GetSubjobs():
		return j.IsSubjob()
	case l.req.GetArrays():
		return j.Array != nil
	}
	return l.req.GetSubjobs() || !j.IsSubjob()
}

// maySee hides other people's jobs where the site says so.
func maySee(me person, j *state.Job) bool {
	return me.perm >= attr.Operator || me.view.Server().Bool("query_other_jobs") || me.owns(j)
}

// namedJobs lists the jobs asked for, each or the reason why not.
func (l *listing) namedJobs() error {
	names, err := l.expanded()
	if err != nil {
		return err
	}
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

// expanded returns the names asked for, with one for each subjob of a range, and of an
// array if its subjobs are wanted.
func (l *listing) expanded() ([]string, error) {
	v, err := l.view()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range l.req.GetNames() {
		names = append(names, l.expand(v, name)...)
	}
	return names, nil
}

func (l *listing) expand(v *state.View, name string) []string {
	id, err := jobID(v, name)
	set, ranged := id.Indices()
	if err != nil || id.Sub() > 0 || !ranged && !(id.IsArray() && l.req.GetSubjobs()) {
		return []string{name}
	}
	parent, ok := v.Job(id.Parent())
	if !ok || parent.Array == nil {
		return []string{name}
	}
	var names []string
	if !ranged {
		set = parent.Array.Indices
		if !l.req.GetArrays() {
			names = append(names, name)
		}
	}
	_, at, _ := strings.Cut(name, "@")
	for index := range parent.Array.Indices.Both(set).From(0) {
		names = append(names, strings.TrimSuffix(string(parent.ID.Subjob(index))+"@"+at, "@"))
	}
	if len(names) == 0 {
		return []string{name}
	}
	return names
}

func (l *listing) namedJob(v *state.View, p *page, name string) {
	j, err := jobOf(v, name)
	switch {
	case err != nil:
	case j.State == pbs.Finished && !l.req.GetHistory() && !v.Expired(j):
		err = pbs.Refuse(pbs.HasFinished)
	case !maySee(p.me, j):
		err = pbs.Refuse(pbs.Unauthorized)
	}
	if err != nil {
		p.refuse(name, err)
		return
	}
	if meet(l.where, v, j) && (!l.req.GetArrays() || j.Array != nil || j.IsSubjob()) {
		p.add(string(j.ID), p.fields.ofJob(v, j))
	}
}
