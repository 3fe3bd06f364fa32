package state

import (
	"time"

	"rampart/fsm/pbs"
)

// RequestMost bounds the outcomes that are remembered, whatever their age: of some 300 bytes each.
const RequestMost = 1_000_000

// How long outcomes of requests are remembered (L8): this long by the log's
// clock, and this many at least.
const (
	requestTTL  = pbs.Time(15 * time.Minute)
	requestKeep = 100_000
	// expireAtOnce bounds the work of one entry.
	expireAtOnce = 512
)

// tombstoneTTL is how long a deleted job can be told from one that never was.
const tombstoneTTL = pbs.Time(10 * time.Minute)

// Remember keeps the outcome of a request and drops some that are old enough.
func (tx *Tx) Remember(r *Request) {
	r.Seq, r.At = tx.NextSeq(), tx.Now()
	tx.putRequest(r)
	for range 2 { // two out for one in, so that a backlog shrinks
		oldest, ok := tx.requestAge.items.Min()
		if !ok || !forgettable(tx.requests.count(), tx.Now()-oldest.At) {
			return
		}
		if tx.awaited(oldest) {
			again := *oldest
			again.Seq, again.At = tx.NextSeq(), tx.Now()
			tx.deleteRequest(oldest)
			tx.putRequest(&again)
			continue
		}
		tx.forget(oldest)
	}
}

// awaited reports whether somebody may still wait for what becomes of a request, and ask again after a change of leader, however
// long ago it was made: for the decision of a reservation or of its alteration.
func (tx *Tx) awaited(r *Request) bool {
	if r.Refusal != nil || r.Result.Reservation == "" {
		return false
	}
	resv, ok := tx.Reservation(r.Result.Reservation)
	return ok && (resv.State == pbs.ResvUnconfirmed || resv.State == pbs.ResvBeingAltered)
}

// forget drops an outcome. If somebody may still repeat the request, ids that are no younger
// are refused from now on, for they cannot be told from it (L8).
func (tx *Tx) forget(r *Request) {
	tx.deleteRequest(r)
	if made, ok := r.ID.Made(); ok && tx.Now()-r.At < requestTTL && made >= tx.cluster.RequestFloor {
		tx.EditCluster().RequestFloor = made + 1
	}
}

// forgettable reports whether the oldest of so many outcomes need not be remembered.
func forgettable(outcomes int, age pbs.Time) bool {
	return outcomes > requestKeep && age >= requestTTL || outcomes > RequestMost
}

// Expire drops tombstones and finished jobs whose time is over: finished jobs
// after keep nanoseconds (job_history_duration). It does a bounded amount of work.
func (tx *Tx) Expire(keep pbs.Time) {
	tx.expireTombstones(expireAtOnce)
	tx.expireHistory(keep, expireAtOnce)
}

// ExpireHistory makes room for a job that has just ended: two out for one in.
func (tx *Tx) ExpireHistory(keep pbs.Time) { tx.expireHistory(keep, 2) }

func (tx *Tx) expireTombstones(most int) {
	for range most {
		t, ok := tx.tombstones.first()
		if !ok || t.At > tx.Now()-tombstoneTTL {
			return
		}
		tx.exhume(t)
		tx.EditCluster().Forgotten = t.Index
	}
}

func (tx *Tx) expireHistory(keep pbs.Time, most int) {
	for range most {
		j, ok := tx.history.items.Min()
		if !ok || j.Ended > tx.Now()-keep {
			return
		}
		tx.DeleteJob(j.ID)
	}
}
