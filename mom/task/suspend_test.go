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
	do(Kill{Killing: Killing{Delay: time.Second}}, Ending, "send terminated; send continued; allow a grace of 1s")
	do(Exited{Exit: proc.Exit{Wall: 301 * time.Second}}, Delivering, "deliver the output")
	if got := job.Peak.Wall; got != 29*time.Second {
		t.Errorf("walltime %s at the end", got)
	}
}

// Hooks before a resumption do not let go on what was suspended again meanwhile.
func TestStep_Suspension(t *testing.T) {
	halted := func(t *Task) { t.Halted = true }
	for _, c := range []struct {
		name  string
		task  Task
		event Event
		want  string
	}{
		{"suspended", in(Running), Signal{Name: "suspend"}, suspends},
		{"resumed", in(Running, halted), Signal{Name: "admin-resume"}, resumes},
		{"stopped", in(Running), Signal{Name: "STOP"}, ""},
		{"the hooks have run", in(Running), Proceed{}, resumed},
		{"a sister is suspended", in(Running, sister), Signal{Name: "suspend"}, suspends},
		{"a sister's hooks have run", in(Running, sister), Proceed{}, resumed},
	} {
		_, actions, err := step(c.task, c.event)
		if err != nil || len(actions) != 1 || actions[0].Do != Send || actions[0].Text != c.want {
			t.Errorf("%s: %+v, %v; want %q", c.name, actions, err, c.want)
		}
	}
	for _, task := range []Task{in(Running, halted), in(Running, sister, halted), in(Ended)} {
		if _, actions, err := step(task, Proceed{}); err != nil || actions != nil {
			t.Errorf("%s: %+v, %v", task.State, actions, err)
		}
	}
	if next, _, _ := step(in(Running, sister), Signal{Name: "suspend"}); !next.Halted {
		t.Error("a sister that is suspended does not know it")
	}
}
