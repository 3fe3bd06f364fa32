package state

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"rampart/fsm/pbs"
)

// A Class is what jobs that wait have in common for whom the scheduler has one
// answer: the same request, queue, and reason why they wait.
type Class struct {
	Partition string // of the queue; empty: it is in none
	Select    string // Job.SchedSelect
	Place     string // Resource_List.place
	Queue     pbs.QueueName
	Whose     Whose  // whose jobs a limit may hold back, and not those of others; empty while there is none
	Asked     string // of Resource_List beside the select
	More      string // of what LSF's requirements ask of hosts beside the select: Job.More
	Wait      Wait   // why they wait, without the amounts; nothing while a comment says something else
}

func (c *Class) compare(o *Class) int {
	if c == o {
		return 0
	}
	if c.Partition != o.Partition {
		return strings.Compare(c.Partition, o.Partition)
	}
	if d := strings.Compare(c.Select, o.Select); d != 0 {
		return d // most differ in this: the rest is not worth a look
	}
	return cmp.Or(
		strings.Compare(c.Place, o.Place), strings.Compare(string(c.Queue), string(o.Queue)), c.Whose.compare(o.Whose),
		strings.Compare(c.Asked, o.Asked), strings.Compare(c.More, o.More), c.Wait.compare(&o.Wait))
}

// Whose is the user, group, project and account of a job.
type Whose [4]string

func (w Whose) compare(o Whose) int { return slices.Compare(w[:], o[:]) }

// waiting is a job that may start and its class.
type waiting struct {
	class *Class
	job   *Job // nil is before all jobs of the class
}

func (w waiting) less(o waiting) bool {
	if c := w.class.compare(o.class); c != 0 {
		return c < 0
	}
	if w.job == nil || o.job == nil {
		return w.job == nil && o.job != nil
	}
	return Before(w.job, o.job)
}

// Before reports whether the scheduler considers a before b: by priority, then in
// the order of submission. A subjob that is to start again comes before those of its
// array that were never started.
func Before(a, b *Job) bool { return a.Standing().Before(b.Standing()) }

// A Standing is where a job stands among others that wait.
type Standing struct {
	priority   int32
	index      uint32
	place, seq uint64
}

// Standing returns where the job stands.
func (j *Job) Standing() Standing { return Standing{j.Priority, j.Index(), j.Place(), j.Seq} }

// Before reports whether it is Before of their jobs.
func (a Standing) Before(b Standing) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	if a.place != b.place {
		return a.place < b.place
	}
	return a.seq < b.seq || a.seq == b.seq && a.index < b.index // an array wraps around
}

// Place returns the job's place in the order of submission: its own, or the one that
// qorder gave it.
func (j *Job) Place() uint64 {
	if j.Rank != 0 {
		return j.Rank - 1
	}
	return j.Seq
}

// queue moves a job in the indexes of those that may start.
func (t *tables) queue(old, j *Job) {
	w := waiting{job: j}
	if j != nil && j.Startable() {
		w.class = t.classOf(j)
	}
	if old != nil && old.Startable() {
		was := waiting{t.newClass(old), old}
		if w.class == nil || !t.queued.same(was, w) {
			t.queued.drop(was)
			t.replaceFirst(was)
		}
	}
	if w.class == nil {
		return
	}
	t.queued.set(w)
	if first, ok := t.firsts.items.Get(w); !ok || !Before(first.job, w.job) {
		t.firsts.set(w)
	}
}

// replaceFirst makes the next job of a class its first one if the first one has left.
func (t *tables) replaceFirst(was waiting) {
	if first, ok := t.firsts.items.Get(was); !ok || Before(first.job, was.job) {
		return
	}
	next, ok := t.queued.at(waiting{class: was.class})
	if ok && next.class.compare(was.class) == 0 {
		t.firsts.set(next)
		return
	}
	t.firsts.drop(was)
}

// classOf returns the class of a job, one copy for all its jobs.
func (t *tables) classOf(j *Job) *Class {
	c := t.newClass(j)
	if first, ok := t.firsts.items.Get(waiting{class: c}); ok {
		return first.class
	}
	return c
}

func (t *tables) newClass(j *Job) *Class {
	place, _ := j.Resources.Get("place")
	c := &Class{Partition: t.partitionOf[j.Queue], Select: j.SchedSelect, Place: place, Queue: j.Queue, Asked: ofSite(j.Resources), More: j.More(), Wait: j.WaitKind()}
	if t.whose {
		s := j.Subjects()
		account, _ := j.Attrs.Get("Account_Name", "")
		c.Whose = Whose{s[1].Name, s[2].Name, s[3].Name, account}
	}
	return c
}

// ClassOf returns the class of a job, whatever it waits for.
func (t *tables) ClassOf(j *Job) Class {
	c := *t.newClass(j)
	c.Wait = Wait{}
	return c
}

// Classes yields the classes of the jobs that may start with the first job of each, in
// the order of their names.
func (t *tables) Classes() iter.Seq2[*Class, *Job] {
	if t.scope != nil {
		return t.scopedClasses
	}
	return func(yield func(*Class, *Job) bool) {
		for w := range t.firsts.all() {
			if !yield(w.class, w.job) {
				return
			}
		}
	}
}

// JobsOf yields the jobs of a class in the order in which they are considered.
func (t *tables) JobsOf(c *Class) iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		t.queued.items.Ascend(waiting{class: c}, func(w waiting) bool { return w.class.compare(c) == 0 && yield(w.job) })
	}
}

// NextOf returns the job of the class that is considered after j.
func (t *tables) NextOf(c *Class, j *Job) (*Job, bool) {
	var next *Job
	t.queued.items.Ascend(waiting{c, j}, func(w waiting) bool {
		if w.class.compare(c) == 0 && Before(j, w.job) {
			next = w.job
		}
		return next == nil && w.class.compare(c) == 0
	})
	return next, next != nil
}

// QueuedCount returns the number of jobs that may start; an array is one.
func (t *tables) QueuedCount() int { return t.queued.items.Len() }
