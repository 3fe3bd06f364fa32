package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// A Subject says whose jobs a limit counts: the kinds and names of attr.Limit, those that
// stand for everybody but attr.LimitAll excepted.
type Subject struct {
	Kind byte   `cbor:"1,keyasint,omitempty"`
	Name string `cbor:"2,keyasint,omitempty"`
}

// everybody is the subject of limits on all jobs together.
var everybody = Subject{'o', attr.LimitAll}

// A Tally is what the jobs of a subject amount to.
type Tally struct {
	Jobs    int64 // that are not finished; of an array each subjob
	Running int64 // of them
	amounts []amount
}

// amount is how much of a limited resource jobs ask for.
type amount struct {
	resource      string
	jobs, running int64
}

// Of returns how much of a resource that some limit names the jobs ask for, and how much
// of it the running ones.
func (t Tally) Of(res string) (jobs, running int64) {
	for _, a := range t.amounts {
		if a.resource == res {
			return a.jobs, a.running
		}
	}
	return 0, 0
}

// plus adds another tally, times by; no slice is changed in place.
func (t Tally) plus(o Tally, by int64) Tally {
	t.Jobs, t.Running = t.Jobs+by*o.Jobs, t.Running+by*o.Running
	if len(o.amounts) == 0 {
		return t
	}
	t.amounts = slices.Clone(t.amounts)
	for _, a := range o.amounts {
		i := slices.IndexFunc(t.amounts, func(b amount) bool { return a.resource == b.resource })
		if i < 0 {
			i = len(t.amounts)
			t.amounts = append(t.amounts, amount{resource: a.resource})
		}
		t.amounts[i].jobs += by * a.jobs
		t.amounts[i].running += by * a.running
	}
	return t
}

// tallied is the tally of a subject in one queue.
type tallied struct {
	subject Subject
	queue   pbs.QueueName
	Tally
}

func (a *tallied) compare(b *tallied) int {
	return cmp.Or(
		cmp.Compare(a.subject.Kind, b.subject.Kind), strings.Compare(a.subject.Name, b.subject.Name),
		strings.Compare(string(a.queue), string(b.queue)))
}

// TallyOf returns what the jobs of a subject in a queue amount to; in all queues together
// if it names none.
func (t *tables) TallyOf(s Subject, queue pbs.QueueName) Tally {
	if queue != "" {
		if found, ok := t.tallies.items.Get(&tallied{subject: s, queue: queue}); ok {
			return found.Tally
		}
		return Tally{}
	}
	var sum Tally
	t.tallies.items.Ascend(&tallied{subject: s}, func(i *tallied) bool {
		if i.subject == s {
			sum = sum.plus(i.Tally, 1)
		}
		return i.subject == s
	})
	return sum
}

// Subjects returns those whose jobs a job counts among: everybody, its user, group and
// project.
func (j *Job) Subjects() [4]Subject {
	user, group, project := string(j.Owner.Name), "", attr.DefaultProject
	for _, e := range j.Attrs {
		switch e.Name {
		case "euser":
			user = e.Value
		case "egroup":
			group = e.Value
		case "project":
			project = e.Value
		}
	}
	return [4]Subject{everybody, {'u', user}, {'g', group}, {'p', project}}
}

// Tally returns what a job itself counts for: an array for those of its subjobs that have
// no record of their own.
func (t *tables) Tally(j *Job) Tally {
	if j == nil || j.State == pbs.Finished {
		return Tally{}
	}
	var sum Tally
	running := int64(0)
	if sum.Jobs = j.Weight(); j.Array == nil && (j.State == pbs.Running && !j.Suspended() || j.State == pbs.Exiting) {
		running = 1
	}
	sum.Running = running
	for _, name := range t.limited {
		text, asked := j.Resources.Get(name)
		def, known := t.Resource(name)
		if asked && known {
			each := max(-mostCounted, min(def.Measure(text), mostCounted))
			sum.amounts = append(sum.amounts, amount{name, each * sum.Jobs, each * running})
		}
	}
	return sum
}

// mostCounted bounds what one job counts for, or gives, so that a million of them can be summed up.
// One that asks for more is over every limit by itself.
const mostCounted = 1 << 42

// same reports whether two tallies are equal.
func (t Tally) same(o Tally) bool {
	return t.Jobs == o.Jobs && t.Running == o.Running && slices.Equal(t.amounts, o.amounts)
}

// tally keeps the tallies of a job's subjects in step.
func (t *tables) tally(old, j *Job) {
	was, is := t.Tally(old), t.Tally(j)
	if old != nil && j != nil && old.Queue == j.Queue && was.same(is) && old.Subjects() == j.Subjects() {
		return
	}
	t.addTally(old, was, -1)
	t.addTally(j, is, 1)
}

func (t *tables) addTally(j *Job, by Tally, sign int64) {
	if j == nil || by.Jobs == 0 {
		return
	}
	for _, s := range j.Subjects() {
		next := &tallied{subject: s, queue: j.Queue}
		if old, ok := t.tallies.items.Get(next); ok {
			next.Tally = old.Tally
		}
		if next.Tally = next.plus(by, sign); next.Jobs == 0 {
			t.tallies.drop(next)
			continue
		}
		t.tallies.set(next)
	}
}

// relimit follows the limits of server and queues: which resources are counted, and
// whether it matters to the scheduler whose a job is. It looks at every job when that
// changes: a site limits a resource for the first time now and then.
func (t *tables) relimit() {
	t.repart()
	t.reclass()
	limited := t.limitedResources()
	if slices.Equal(limited, t.limited) {
		return
	}
	t.limited = limited
	for i := range t.tallies.all() {
		t.tallies.drop(i)
	}
	for j := range t.Jobs() {
		t.addTally(j, t.Tally(j), 1)
	}
}

// reclass makes the classes of the waiting jobs anew when it begins or ceases to matter
// whose they are.
func (t *tables) reclass() {
	whose := t.limitsSomebody()
	if whose == t.whose {
		return
	}
	t.whose = whose
	var jobs []*Job
	for w := range t.queued.all() {
		jobs = append(jobs, w.job)
		t.queued.drop(w)
	}
	for w := range t.firsts.all() {
		t.firsts.drop(w)
	}
	for _, j := range jobs {
		t.queue(nil, j)
	}
}

// limitsSomebody reports whether a limit on running jobs counts by user, group or project, or
// shares do.
func (t *tables) limitsSomebody() bool {
	if t.server.sharesFairly() || limitsOne(t.server.Attrs) || t.LSF().LimitsSlots() {
		return true
	}
	for q := range t.Queues() {
		if limitsOne(q.Attrs) {
			return true
		}
	}
	return false
}

func limitsOne(list attr.List) bool {
	return slices.ContainsFunc(list, func(e attr.Entry) bool {
		switch e.Name {
		case "max_user_run", "max_group_run", "max_user_res", "max_group_res",
			"max_user_run_soft", "max_group_run_soft", "max_user_res_soft", "max_group_res_soft":
			return true
		case "max_run", "max_run_res", "max_run_soft", "max_run_res_soft":
			return strings.Contains(e.Value, "[u:") || strings.Contains(e.Value, "[g:") || strings.Contains(e.Value, "[p:")
		}
		return false
	})
}

// limitedResources returns the names of the resources that a limit of server or queues is
// about, or that they have an amount of, sorted.
func (t *tables) limitedResources() []string {
	var names []string
	add := func(list attr.List) {
		for _, e := range list {
			if e.Resource != "" && limiting(e.Name) && !slices.Contains(names, e.Resource) {
				names = append(names, e.Resource)
			}
		}
	}
	add(t.server.Attrs)
	for q := range t.Queues() {
		add(q.Attrs)
	}
	slices.Sort(names)
	return names
}

// limiting reports whether amounts of an attribute's resources are compared with what jobs
// ask for together.
func limiting(name string) bool {
	return name == "resources_available" || strings.HasPrefix(name, "max_") && strings.Contains(name, "_res") ||
		name == "queued_jobs_threshold_res"
}

// checkTallies compares the tallies with those that were counted anew.
func (t *tables) checkTallies(fresh *tables) error {
	if n, want := t.tallies.items.Len(), fresh.tallies.items.Len(); n != want {
		return fmt.Errorf("%d tallies, want %d", n, want)
	}
	for want := range fresh.tallies.all() {
		got, ok := t.tallies.items.Get(want)
		if !ok || got.Jobs != want.Jobs || got.Running != want.Running || !sameAmounts(got.Tally, want.Tally) {
			return fmt.Errorf("tally of %c:%s in %s is %+v, want %+v", want.subject.Kind, want.subject.Name, want.queue, got, want)
		}
	}
	return nil
}

// sameAmounts compares in any order; nothing of a resource is as good as no word of it.
func sameAmounts(a, b Tally) bool {
	for _, x := range append(slices.Clone(a.amounts), b.amounts...) {
		ja, ra := a.Of(x.resource)
		if jb, rb := b.Of(x.resource); ja != jb || ra != rb {
			return false
		}
	}
	return true
}

// checkClasses verifies that each job that waits stands in the class of which it is, and that the first of each class is known.
func (t *tables) checkClasses(fresh *tables) error {
	for want := range fresh.queued.all() {
		if _, ok := t.queued.items.Get(want); !ok {
			return fmt.Errorf("job %s does not stand in its class %+v", want.job.ID, *want.class)
		}
	}
	for want := range fresh.firsts.all() {
		if got, ok := t.firsts.items.Get(want); !ok || got.job != want.job {
			return fmt.Errorf("job %s is not the first of its class %+v", want.job.ID, *want.class)
		}
	}
	return nil
}
