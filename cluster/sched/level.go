package sched

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Properties of a job that preempt_prio names; a job without any is normal.
const (
	isExpress uint8 = 1 << iota
	isStarving
	isOverShare
	isOverQueue  // over a soft limit of its queue
	isOverServer // over a soft limit of the server
	isNormal
)

var levelWords = map[string]uint8{
	"express_queue": isExpress, "starving_jobs": isStarving, "fairshare": isOverShare,
	"queue_softlimits": isOverQueue, "server_softlimits": isOverServer, "normal_jobs": isNormal,
}

// levelStep is between two entries of preempt_prio; Priorities of express queues lie between.
const levelStep = 4096

// levels are preempt_prio and preempt_queue_prio: which jobs may preempt which. Nil: all jobs
// are on one level, and none is preempted.
type levels struct {
	rows    []levelRow // those that ask for the most come first
	normal  int64
	express map[pbs.QueueName]int64 // Priority of those that are
	asked   uint8                   // what the rows ask for
}

type levelRow struct {
	is    uint8
	level int64
}

func newLevels(v *state.View, set settings) *levels {
	s := v.Server()
	if set.get("preemptive_sched") == "False" {
		return nil
	}
	l := &levels{express: map[pbs.QueueName]int64{}}
	entries := strings.Split(s.SchedGet("preempt_prio"), ",")
	for i, entry := range entries {
		row := levelRow{level: int64(len(entries)-i) * levelStep}
		for word := range strings.SplitSeq(entry, "+") {
			row.is |= levelWords[strings.TrimSpace(word)]
		}
		if row.is == isNormal {
			l.normal = row.level
		}
		l.asked |= row.is
		l.rows = append(l.rows, row)
	}
	slices.SortStableFunc(l.rows, func(a, b levelRow) int { return bits.OnesCount8(b.is) - bits.OnesCount8(a.is) })
	least, _ := strconv.ParseInt(s.SchedGet("preempt_queue_prio"), 10, 64)
	for q := range v.Queues() {
		if n, _ := strconv.ParseInt(q.Get("Priority"), 10, 64); n >= least && q.Get("Priority") != "" {
			l.express[q.Name] = n
		}
	}
	return l
}

// of returns the level of a job that is what is said, beside what its queue makes it: that
// of the first row all of whose words it is.
func (l *levels) of(queue pbs.QueueName, is uint8) int64 {
	if l == nil {
		return 0
	}
	priority, express := l.express[queue]
	if express {
		is |= isExpress
	}
	if is&l.asked == 0 {
		return l.normal
	}
	for _, row := range l.rows {
		if is&row.is != row.is {
			continue
		}
		if row.is&isExpress != 0 {
			return row.level + priority
		}
		return row.level
	}
	return l.normal
}

// least returns the lowest level that a job can have.
func (l *levels) least() int64 {
	least, lowest := l.normal, int64(0)
	for _, priority := range l.express {
		lowest = min(lowest, priority)
	}
	for _, row := range l.rows {
		least = min(least, row.level+lowest)
	}
	return least
}

// most returns the highest level that a job of a queue can have.
func (l *levels) most(queue pbs.QueueName) int64 {
	most := l.normal
	priority, express := l.express[queue]
	for _, row := range l.rows {
		switch {
		case row.is&isExpress == 0:
			most = max(most, row.level)
		case express:
			most = max(most, row.level+priority)
		}
	}
	return most
}

// asks reports whether it matters that a job is something.
func (l *levels) asks(is uint8) bool { return l != nil && l.asked&is != 0 }

// runningLevel returns the level of a job that runs; of one that is suspended that which it would have if it went on.
func (c *cycle) runningLevel(j *state.Job) int64 {
	if j.Suspended() || !c.order.levels.asks(isOverQueue|isOverServer) {
		return c.levelOf(j, nil)
	}
	return c.levelOf(j, c.counts(j))
}

// levelOf returns the level of a job that runs when some of what runs now, of which it is a part if it is not suspended,
// is gone.
func (c *cycle) levelOf(j *state.Job, gone map[limited]int64) int64 {
	l := c.order.levels
	var is uint8
	if l.asks(isOverQueue|isOverServer) && c.soft(j.Queue) {
		is |= c.overSoft(j, func(of limited) int64 { return -gone[of] })
	}
	if t := c.order.shares; t != nil && l.asks(isOverShare) && t.over(t.of(j)) {
		is |= isOverShare
	}
	return l.of(j.Queue, is)
}

// overSoft tells which soft limits a job would be over beside what runs now and what else is to count. The rule is one for jobs
// that wait, run and are suspended: each would preempt the other in turn if it was not.
func (c *cycle) overSoft(j *state.Job, more func(limited) int64) (is uint8) {
	for _, l := range c.view.SoftLimits(j) {
		left := l.Most - c.view.Used(l, true) - more(limited{l.Subject, l.Queue, l.Resource})
		if l.Need == 0 || left >= 0 && l.Need <= left { // no sum: it might overflow
			continue
		}
		if l.Queue == "" {
			is |= isOverServer
		} else {
			is |= isOverQueue
		}
	}
	return is
}
