package state

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// counted is how many jobs of a queue are in which state.
type counted struct {
	queue    pbs.QueueName
	counts   Counts
	assigned resource.List // consumables of the jobs in states R and E
}

// Counts is how many jobs there are by state; finished ones count in no total.
type Counts [8]int32

// Of returns the number of jobs in the state.
func (c *Counts) Of(s pbs.JobState) int { return int(c[s]) }

// Total returns the number of jobs that are not finished.
func (c *Counts) Total() int {
	n := 0
	for _, s := range pbs.JobStates() {
		if s != pbs.Finished {
			n += int(c[s])
		}
	}
	return n
}

// CountsOf returns how many jobs of a queue are in which state.
func (t *tables) CountsOf(queue pbs.QueueName) Counts {
	c, ok := t.counts.get(&counted{queue: queue})
	if !ok {
		return Counts{}
	}
	return c.counts
}

// AllCounts returns how many jobs are in which state, over all queues.
func (t *tables) AllCounts() Counts {
	var sum Counts
	for c := range t.counts.all() {
		for i, n := range c.counts {
			sum[i] += n
		}
	}
	return sum
}
