package mom

import (
	"strings"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
)

// The servers are told of a job's usage at intervals that grow with it, whatever other jobs do.
func TestSamples_GrowingIntervals(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		begin := time.Now()
		w.deliver(w.run("1.srv", "sleep 400"))
		sleep(65 * time.Second)
		w.deliver(w.run("2.srv", "sleep 400"))
		sleep(235 * time.Second)
		told := map[string][]string{}
		w.servers.set(func(s *servers) {
			for _, r := range s.samples {
				for _, j := range r.GetJobs() {
					for _, u := range j.GetUsed() {
						if u.GetResource() == "walltime" {
							told[j.GetJob()] = append(told[j.GetJob()], u.GetValue())
						}
					}
				}
			}
		})
		if d := time.Since(begin); d != 300*time.Second {
			t.Fatalf("it took %s", d)
		}
		for job, want := range map[string]string{
			"1.srv": "00:00:10 00:00:20 00:00:30 00:00:50 00:01:30 00:02:30 00:03:30 00:04:30",
			"2.srv": "00:00:05 00:00:15 00:00:25 00:00:45 00:01:25 00:02:25 00:03:25",
		} {
			if got := strings.Join(told[job], " "); got != want {
				t.Errorf("%s: told of walltimes %s, want %s", job, got, want)
			}
		}
	})
}

// Jobs that are gone are forgotten; one that is back runs anew.
func TestPushes_Forget(t *testing.T) {
	p := pushes{}
	now := time.Unix(1_800_000_000, 0)
	for run := range 5 {
		if due := p.due([]task.Task{{Order: task.Order{Key: spool.TaskKey{Job: "1.srv", Run: pbs.RunCount(run)}}}}, now); len(due) != 1 || len(p) != 1 {
			t.Errorf("run %d: %d are due, %d are known", run, len(due), len(p))
		}
	}
}
