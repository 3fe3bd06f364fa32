package cluster_test

import (
	"testing"
	"time"

	"rampart/cluster/member"
	"rampart/transport/build"
)

// returned is how long a replica that hears its leader again may be without what that has
// committed: the leader notices at its next heartbeat.
const returned = 500 * time.Millisecond

// A replica that comes back after a long time takes part at once: raft itself asks it again
// after up to ten seconds, during which the next loss would stop the cluster.
func TestHeld_AReplicaThatComesBackCountsAtOnce(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	bubble(t, 3, func(t *testing.T, w *world) {
		l, back, other := w.leader(), w.followers()[0], w.followers()[1]
		for _, away := range []time.Duration{time.Second, 20 * time.Second, 3 * time.Minute} {
			back.kill()
			mustWrite(t, l, "while it was away "+away.String())
			<-time.After(away)
			back.restart()
			w.until("a follower", 5*time.Second, func() bool {
				return back.replica.Status().Role == member.Follower && back.replica.Age() < 100*time.Millisecond
			})
			other.kill()
			began := time.Now()
			mustWrite(t, l, "by two "+away.String())
			if took := time.Since(began); took > returned {
				t.Errorf("away for %s: the next write took %s", away, took)
			}
			other.restart()
			other.follows()
		}
	})
}
