package state

import (
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// The end of a run moves on by as long as it is suspended; what has had its time ends in a minute.
func TestJob_Ends(t *testing.T) {
	const second = pbs.Time(time.Second)
	for _, c := range []struct {
		name           string
		stopped, since pbs.Time // seconds of earlier suspensions, and when the present one began
		now, want      pbs.Time
	}{
		{"never suspended", 0, 0, 300, 1000},
		{"suspended once", 200, 0, 500, 1200},
		{"suspended now", 0, 300, 500, 1200},
		{"suspended again", 200, 600, 700, 1300},
		{"over", 200, 0, 1200, 1260},
	} {
		j := &Job{State: pbs.Running, Started: 100 * second, Resources: resource.List{{Name: "walltime", Value: "900"}}, Run: &Run{StoppedFor: c.stopped * second, StoppedAt: c.since * second}}
		if got := j.Ends(c.now * second); got != c.want*second {
			t.Errorf("%s: at %d it ends at %d, want %d", c.name, c.now, got/second, c.want)
		}
	}
}
