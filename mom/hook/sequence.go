package hook

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// An Outcome is what came of all hooks of an event.
type Outcome struct {
	Answer            // what all of them changed; Accept is false if one of them has rejected
	Rejected *Hook    // which one that was
	Done     []Hook   // those that have come to their end
	Restarts []string // names of those that want a scheduling cycle
	Edits    []Edited // changes of vnodes by each of them, and by the one that has rejected
	Notes    []Note   // for the log
}

// Edited are the vnodes that one hook changed.
type Edited struct {
	Hook   string
	Own    bool // it has run as the owner of the job: who that is decides
	Vnodes map[string]*Edits
}

// Sequence runs hooks one after the other at one event: each sees the changes of those
// before, and the first rejection or failure ends it; where the event goes on regardless, a failure does not.
// What hooks wanted of the action and its job before a rejection is dropped. What they found out
// of vnodes stands, also when it was the reason to reject; of a hook that fails nothing counts.
func (r *Runtime) Sequence(ctx context.Context, runs []Run, e *Event, regardless bool) *Outcome {
	return sequence(ctx, r.Do, runs, e, regardless)
}

func sequence(ctx context.Context, do func(context.Context, Run) (*Answer, error), runs []Run, e *Event, regardless bool) *Outcome {
	out := &Outcome{Answer: Answer{Accept: true}}
	for i := range runs {
		run := runs[i]
		run.Event = e
		a, err := (*Answer)(nil), run.Broken
		began := time.Now()
		if err == nil {
			run.mark("started")
			a, err = do(ctx, run)
			run.mark("finished")
		}
		if err != nil {
			a = &Answer{Failure: err.Error()}
		}
		out.timed(&run.Hook, e, time.Since(began), a.Took)
		a.bound(run.Hook.Attrs["user"] == pbsUser)
		if a.Restart {
			out.Restart, out.Restarts = true, append(out.Restarts, run.Hook.Name)
		}
		if a.Reboot != "" {
			out.Reboot = a.Reboot
		}
		if a.Failure != "" {
			a.Accept, a.Message = false, failureText(&run.Hook, a)
		}
		out.noted(&run.Hook, e, a)
		if a.Accept {
			e.apply(a)
			out.merge(&run.Hook, a)
			continue
		}
		if a.Failure == "" {
			out.edited(&run.Hook, a)
		}
		if regardless && a.Failure != "" {
			continue
		}
		if regardless { // nothing is refused: the job is over
			return out
		}
		rejected := run.Hook
		restart, reboot := out.Restart, out.Reboot
		out.Answer, out.Rejected = *a, &rejected
		out.Restart, out.Reboot = restart, reboot
		return out
	}
	return out
}

// mark says in PBS's word how far the hook is.
func (r *Run) mark(text string) {
	if r.Mark != nil {
		r.Mark(r.Hook.Name, text)
	}
}

// pbsUser is the user of hooks that run as the owner of the job.
const pbsUser = "pbsuser"

// maxReason bounds what a hook says of a rejection, in bytes: it goes into comments, which all replicas keep.
const maxReason = 3 << 10

// bound takes from an answer what the rest could not bear, and what a hook may not have that
// runs as the owner of a job: the scheduler and the host are the site's. Of vnodes the servers
// judge, who know Managers and Operators.
func (a *Answer) bound(own bool) {
	if own {
		a.Restart, a.Reboot = false, ""
	}
	if len(a.Message) > maxReason {
		a.Message = strings.ToValidUTF8(a.Message[:maxReason], "")
	}
	for _, all := range []map[string]*Edits{{"": a.Job}, {"": a.Resv}, a.Jobs, a.Vnodes} {
		for name, edits := range all {
			switch {
			case edits == nil:
				delete(all, name)
			case edits.Set == nil:
				edits.Set = map[string]*string{}
			}
		}
	}
}

// failureText returns what a client is told (specification: hooks section 5).
func failureText(h *Hook, a *Answer) string {
	what := "encountered an exception"
	if a.TimedOut {
		what = "got an alarm call"
	}
	return fmt.Sprintf("request rejected as filter hook '%s' %s. Please inform Admin", h.Name, what)
}

// merge adds the changes of one hook to those of the ones before.
func (o *Outcome) merge(h *Hook, a *Answer) {
	o.Done = append(o.Done, *h)
	o.Job, o.Resv = merged(o.Job, a.Job), merged(o.Resv, a.Resv)
	for id, edits := range a.Jobs {
		if o.Jobs == nil {
			o.Jobs = map[string]*Edits{}
		}
		o.Jobs[id] = merged(o.Jobs[id], edits)
	}
	o.edited(h, a)
	if a.Program != nil {
		o.Program, o.Args, o.Env = a.Program, a.Args, a.Env
	}
}

func (o *Outcome) edited(h *Hook, a *Answer) {
	if len(a.Vnodes) > 0 {
		o.Edits = append(o.Edits, Edited{Hook: h.Name, Own: h.Attrs["user"] == pbsUser, Vnodes: a.Vnodes})
	}
}

func merged(before, after *Edits) *Edits {
	switch {
	case after == nil:
		return before
	case before == nil:
		return after
	}
	for name, value := range after.Set {
		before.Set[name] = value
	}
	for name, kind := range after.Types {
		if before.Types == nil {
			before.Types = map[string]string{}
		}
		before.Types[name] = kind
	}
	if after.Wish != "" {
		before.Wish = after.Wish
	}
	before.Release = append(before.Release, after.Release...)
	if len(after.Assignment) > 0 {
		before.Assignment = after.Assignment
	}
	return before
}
