package sched_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/build"
)

// Nobody starves who reserves: while jobs come all the time that are content with less, each of which is over before what is kept has to
// be given back for a turn, a job that keeps what it needs starts before long.
func TestReserving_NobodyStarves(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("one goroutine does all of it, and slowly under the race detector: make test plays it without")
	}
	rapid.Check(t, func(r *rapid.T) {
		c := newTurning(r)
		c.byTime(rapid.IntRange(0, 2).Draw(r, "by time"))
		hosts := rapid.IntRange(1, 2).Draw(r, "hosts")
		for i := range hosts {
			name := string(rune('A' + i))
			c.host(name, name+":ncpus=4,mem=4gb")
		}
		s := &stream{turning: c, least: hosts, next: func() (pbs.QueueName, string) {
			return rapid.SampledFrom([]pbs.QueueName{"normal", "backfill"}).Draw(r, "of"),
				fmt.Sprintf("select=1:ncpus=1:mem=%dgb walltime=0:%02d:%02d", rapid.IntRange(0, 1).Draw(r, "gb"), rapid.IntRange(0, 5).Draw(r, "minutes"), rapid.IntRange(1, 59).Draw(r, "seconds"))
		}}
		s.flow(5 * time.Minute)
		reserve := rapid.IntRange(1, 2).Draw(r, "jobs that reserve")
		for i := range reserve {
			queue := rapid.SampledFrom([]pbs.QueueName{"reservation", "slots", "slotsbf"}).Draw(r, "queue")
			memory := 0
			if queue == "reservation" {
				memory = rapid.IntRange(0, 4).Draw(r, "memory")
			}
			request := fmt.Sprintf("select=1:ncpus=%d:mem=%dgb walltime=0:10:00", rapid.IntRange(2, 4).Draw(r, "slots"), memory)
			if rapid.Bool().Draw(r, "wide") {
				request = fmt.Sprintf("select=%d:ncpus=1 walltime=0:10:00", rapid.IntRange(2, 4*hosts).Draw(r, "wide slots"))
			}
			c.job(fmt.Sprint(i), queue, request)
		}
		for end := c.now + pbs.Time(time.Duration(reserve)*30*time.Minute); c.now < end && len(s.waiting(false)) > 0; { // each after the others, and a pause
			s.flow(30 * time.Second)
		}
		for _, j := range s.waiting(false) {
			r.Errorf("job %s of queue %s has not started: %v %+v", j.ID, j.Queue, j.Resources, j.Pending)
		}
	})
}

// A job that keeps nothing waits on meanwhile.
func TestReserving_OthersStarve(t *testing.T) {
	for queue, starts := range map[pbs.QueueName]bool{"normal": false, "slots": true, "reservation": true} {
		c := newTurning(t)
		c.host("A", "A:ncpus=4,mem=4gb")
		n := 0
		s := &stream{turning: c, least: 2, next: func() (pbs.QueueName, string) {
			n++
			return "normal", fmt.Sprintf("select=1:ncpus=1 walltime=0:04:%02d", n*17%60)
		}}
		s.flow(5 * time.Minute)
		c.job("big", queue, "select=1:ncpus=4 walltime=0:10:00")
		c.making(queue, "Priority=50")
		s.flow(30 * time.Minute)
		if j, ok := c.store.View().Job(c.names["big"]); (!ok || j.RunCount > 0) != starts {
			t.Errorf("a job of queue %s has started: %v, want %v", queue, !starts, starts)
		}
	}
}

// A stream has small jobs come all the time, so that some always wait.
type stream struct {
	*turning
	least int // that many
	next  func() (pbs.QueueName, string)
	count int
}

func (s *stream) flow(during time.Duration) {
	s.t.Helper()
	for end := s.now + pbs.Time(during); s.now < end; {
		for range s.least - len(s.waiting(true)) {
			s.count++
			queue, request := s.next()
			s.submit("small", fmt.Sprint("small ", s.count), queue, request)
		}
		s.cycle()
		s.until(time.Duration(s.now-half) + 30*time.Second)
	}
}

// waiting returns the jobs that have not started, small ones or others.
func (s *stream) waiting(small bool) (all []*state.Job) {
	for j := range s.store.View().Jobs() {
		if j.RunCount == 0 && (j.Owner.Name == "small") == small {
			all = append(all, j)
		}
	}
	return all
}
