package task

import (
	"testing"
	"time"

	"rampart/mom/proc"
)

// Time for which a job is suspended is no walltime: neither what is told nor what is
// limited, and a restart of the mom changes nothing about it.
func TestSuspend_Walltime(t *testing.T) {
	job := in(Running, announced, limited("walltime", "00:00:30"))
	do := func(ev Event, want State, what string) {
		t.Helper()
		next, actions, err := step(job, ev)
		if err != nil || next.State != want || words(actions) != what {
			t.Fatalf("%T: %s, %q, %v", ev, next.State, words(actions), err)
		}
		job = next
	}
	wall := func(d time.Duration) Event { return Sampled{Usage: proc.Usage{Wall: d}} }
	do(Signal{Name: "suspend", Elapsed: 10 * time.Second}, Running, "send stopped (signal)")
	do(wall(60*time.Second), Running, "")
	do(Resume{BootID: "boot", Adopt: true}, Running, "watch the shim")
	do(Signal{Name: "suspend", Elapsed: 80 * time.Second}, Running, "send stopped (signal)") // repeated
	do(Signal{Name: "resume", Elapsed: 100 * time.Second}, Running, "send continued")
	do(wall(119*time.Second), Running, "")
	if got := job.Peak.Wall; got != 29*time.Second {
		t.Errorf("walltime %s", got)
	}
	do(Signal{Name: "admin-suspend", Elapsed: 119 * time.Second}, Running, "send stopped (signal)")
	do(wall(300*time.Second), Running, "")
	do(Kill{Killing{Delay: time.Second}}, Ending, "send terminated; send continued; allow a grace of 1s")
	do(Exited{Exit: proc.Exit{Wall: 301 * time.Second}}, Delivering, "deliver the output")
	if got := job.Peak.Wall; got != 29*time.Second {
		t.Errorf("walltime %s at the end", got)
	}
}
