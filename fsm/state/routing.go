package state

import "rampart/fsm/pbs"

// inRouting reports whether the job waits in a routing queue. The type of a queue does not
// change while it has jobs.
func (t *tables) inRouting(j *Job) bool {
	if j.State == pbs.Finished || j.IsSubjob() {
		return false
	}
	q, ok := t.Queue(j.Queue)
	return ok && q.Routes()
}

// RoutingJobs returns up to n jobs that wait in a routing queue, from the sequence number
// from on, and that of the one behind them, 0 if there is none.
func (t *tables) RoutingJobs(queue pbs.QueueName, from uint64, n int) (jobs []*Job, next uint64) {
	for j := range t.routing.from(&Job{Queue: queue, Seq: from}) {
		if j.Queue != queue {
			break
		}
		if len(jobs) == n {
			return jobs, j.Seq
		}
		jobs = append(jobs, j)
	}
	return jobs, 0
}
