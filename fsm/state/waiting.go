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
	Select string // Job.SchedSelect
	Place  string // Resource_List.place
	Queue  pbs.QueueName
	Whose  Whose  // whose jobs a limit may hold back, and not those of others; empty while there is none
	Asked  string // of Resource_List beside the select
	Wait   Wait   // why they wait, without the amounts; nothing while a comment says something else
}

func (c *Class) compare(o *Class) int {
	if c == o {
		return 0
	}
	if d := strings.Compare(c.Select, o.Select); d != 0 {
		return d // most differ in this: the rest is not worth a look
	}
	return cmp.Or(
		strings.Compare(c.Place, o.Place), strings.Compare(string(c.Queue), string(o.Queue)), c.Whose.compare(o.Whose),
		strings.Compare(c.Asked, o.Asked), c.Wait.compare(&o.Wait))
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

// Before tells whether the scheduler considers a before b: by priority, then in
// the order of submission. A subjob that is to start again comes before those of its
// array that were never started.
func Before(a, b *Job) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	if a.Place() != b.Place() {
		return a.Place() < b.Place()
	}
	return a.Seq < b.Seq || a.Seq == b.Seq && a.Index() < b.Index() // an array wraps around
}

// Place returns the job's place in the order of submission: its own, or the one that
// qorder gave it.
func (j *Job) Place() uint64 {
	if j.Rank != 0 {
		return j.Rank - 1
	}
	return j.Seq
}

// queue moves a job in the index of those that may start.
func (t *tables) queue(old, j *Job) {
	w := waiting{job: j}
	if j != nil && j.Startable() {
		w.class = t.classOf(j)
	}
	if old != nil && old.Startable() {
		was := waiting{t.newClass(old), old}
		if w.class == nil || !t.queued.same(was, w) {
			t.queued.drop(was)
		}
	}
	if w.class != nil {
		t.queued.set(w)
	}
}

// classOf returns the class of a job, one copy for all its jobs.
func (t *tables) classOf(j *Job) *Class {
	c := t.newClass(j)
	if other, ok := t.queued.at(waiting{class: c}); ok && other.class.compare(c) == 0 {
		return other.class
	}
	return c
}

func (t *tables) newClass(j *Job) *Class {
	place, _ := j.Resources.Get("place")
	c := &Class{Select: j.SchedSelect, Place: place, Queue: j.Queue, Asked: j.asked(), Wait: j.WaitKind()}
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
	return func(yield func(*Class, *Job) bool) {
		at := t.queued.items.Iter()
		defer at.Release()
		for ok := at.First(); ok; {
			w := at.Item()
			if !yield(w.class, w.job) {
				return
			}
			ok = at.Next()
			for n := 0; ok && at.Item().class.compare(w.class) == 0; n++ {
				if n == fewJobs { // a search costs as much as so many steps
					ok = at.Seek(waiting{w.class, lastJob})
					break
				}
				ok = at.Next()
			}
		}
	}
}

// fewJobs is of how many jobs of a class Classes passes each.
const fewJobs = 32

// JobsOf yields the jobs of a class in the order in which they are considered.
func (t *tables) JobsOf(c *Class) iter.Seq[*Job] {
	return func(yield func(*Job) bool) {
		t.queued.items.Ascend(waiting{class: c}, func(w waiting) bool { return w.class.compare(c) == 0 && yield(w.job) })
	}
}

// lastJob is after all jobs of a class.
var lastJob = &Job{Priority: -1 << 31, Seq: 1<<64 - 1}

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
