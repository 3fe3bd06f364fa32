package state

import (
	"cmp"
	"iter"
	"strings"

	"rampart/fsm/pbs"
)

// A Class is what queued jobs have in common for whom the scheduler has one
// answer: the same request, queue, and reason why they wait.
type Class struct {
	Select string // Job.SchedSelect
	Place  string // Resource_List.place
	Queue  pbs.QueueName
	Reason string // CommentReason of the comment
}

func (c *Class) compare(o *Class) int {
	if c == o {
		return 0
	}
	return cmp.Or(
		strings.Compare(c.Select, o.Select), strings.Compare(c.Place, o.Place),
		strings.Compare(string(c.Queue), string(o.Queue)), strings.Compare(c.Reason, o.Reason))
}

// CommentReason returns a comment without the numbers that follow a reason.
func CommentReason(comment string) string {
	words, _, _ := strings.Cut(comment, " (R:")
	return words
}

// waiting is a queued job and its class.
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
// the order of submission.
func Before(a, b *Job) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.Seq < b.Seq
}

// queue moves a job in the index of the queued ones.
func (t *tables) queue(old, j *Job) {
	w := waiting{job: j}
	if j != nil && j.State == pbs.Queued {
		w.class = t.classOf(j)
	}
	if old != nil && old.State == pbs.Queued {
		was := waiting{newClass(old), old}
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
	c := newClass(j)
	if other, ok := t.queued.at(waiting{class: c}); ok && other.class.compare(c) == 0 {
		return other.class
	}
	return c
}

func newClass(j *Job) *Class {
	place, _ := j.Resources.Get("place")
	return &Class{Select: j.SchedSelect, Place: place, Queue: j.Queue, Reason: CommentReason(j.Comment)}
}

// Classes yields the classes of the jobs in state Q with the first job of each, in
// the order of their names.
func (t *tables) Classes() iter.Seq2[*Class, *Job] {
	return func(yield func(*Class, *Job) bool) {
		w, ok := t.queued.items.Min()
		for ok && yield(w.class, w.job) {
			w, ok = t.queued.at(waiting{w.class, lastJob})
		}
	}
}

// lastJob is after all jobs of a class.
var lastJob = &Job{Priority: -1 << 31, Seq: 1<<64 - 1}

// NextOf returns the job of the class that is considered after j.
func (t *tables) NextOf(c *Class, j *Job) (*Job, bool) {
	after := Job{Priority: j.Priority, Seq: j.Seq + 1}
	w, ok := t.queued.at(waiting{c, &after})
	if !ok || w.class.compare(c) != 0 {
		return nil, false
	}
	return w.job, true
}

// QueuedCount returns the number of jobs in state Q.
func (t *tables) QueuedCount() int { return t.queued.items.Len() }
