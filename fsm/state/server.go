package state

import (
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Get returns an attribute of the server, its default if it is not set.
func (s *Server) Get(name string) string { return attrValue(attr.Server, s.Attrs, name) }

// SchedGet returns an attribute of the scheduler, its default if it is not set.
func (s *Server) SchedGet(name string) string { return attrValue(attr.Sched, s.Sched, name) }

// SchedGetOf is SchedGet of any scheduler.
func (s *Server) SchedGetOf(sched, name string) string { return s.policy(sched).get(name) }

// Bool returns a boolean attribute of the server.
func (s *Server) Bool(name string) bool { return s.Get(name) == "True" }

// Int returns a numeric attribute of the server, 0 if it is not set.
func (s *Server) Int(name string) int64 {
	n, _ := strconv.ParseInt(s.Get(name), 10, 64)
	return n
}

// List returns the items of an attribute that is a list.
func (s *Server) List(name string) []string {
	return commaList(s.Get(name))
}

func commaList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// Scheduling reports whether the scheduler runs.
func (s *Server) Scheduling() bool { return s.Bool("scheduling") }

// TakesScript reports whether jobscript_max_size lets a script of that many bytes pass.
func (s *Server) TakesScript(length int64) bool {
	limit, errLimit := resource.Parse(resource.Size, s.Get("jobscript_max_size"))
	size, errSize := resource.Parse(resource.Size, strconv.FormatInt(length, 10))
	return errLimit == nil && errSize == nil && size.Cmp(limit) <= 0
}

// DefaultQueue returns the queue of jobs that name none, "" if there is none.
func (s *Server) DefaultQueue() pbs.QueueName { return pbs.QueueName(s.Get("default_queue")) }

// Resources returns the entries of a resource list attribute such as default_chunk.
func (s *Server) Resources(name string) resource.List { return itemsOf(s.Attrs, name) }

// Get returns an attribute of the queue, its default if it is not set; not enabled and
// started, which are its fields.
func (q *Queue) Get(name string) string { return attrValue(attr.Queue, q.Attrs, name) }

// Bool returns a boolean attribute of the queue.
func (q *Queue) Bool(name string) bool { return q.Get(name) == "True" }

// Int returns a numeric attribute of the queue, 0 if it is not set.
func (q *Queue) Int(name string) int64 {
	n, _ := strconv.ParseInt(q.Get(name), 10, 64)
	return n
}

// List returns the items of an attribute that is a list.
func (q *Queue) List(name string) []string {
	return commaList(q.Get(name))
}

// Routes reports whether the queue is a routing one: jobs do not run from it, but go on to
// one of its destinations.
func (q *Queue) Routes() bool { return q.Get("queue_type") == "Route" }

// Resources returns the entries of a resource list attribute such as default_chunk.
func (q *Queue) Resources(name string) resource.List { return itemsOf(q.Attrs, name) }

func itemsOf(list attr.List, name string) resource.List {
	var out resource.List
	for _, e := range list {
		if e.Name == name {
			out = out.Set(e.Resource, e.Value)
		}
	}
	return out
}

// KeepsHistory reports whether finished jobs stay visible.
func (s *Server) KeepsHistory() bool { return s.Bool("job_history_enable") }

// Seconds returns an attribute of the server that is a duration, in seconds.
func (s *Server) Seconds(name string) int64 {
	q, err := resource.Parse(resource.Time, s.Get(name))
	if err != nil {
		return 0
	}
	return q.Int()
}

// leastFence is what smaller values of node_fail_requeue act as, in seconds: of three renewals, one each 5 s, one may hang and
// another come late before jobs end.
const leastFence = 15

// Fence returns how many seconds after the sending of a renewal a mom's jobs may run on:
// node_fail_requeue. 0 means for ever, also when it was unset (specification: ramp-down
// section 18).
func (s *Server) Fence() int64 {
	if s.LiftedAt != 0 {
		return 0
	}
	text, ok := s.Attrs.Get("node_fail_requeue", "")
	n, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil || n <= 0 {
		return 0
	}
	return max(n, leastFence)
}

// LongerFence returns the longer one of two fences; 0 is for ever.
func LongerFence(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}
