package mom

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/transport/api"
)

func TestRestart_AdoptsAndReportsOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 60\nexit 3"), w.run("2.srv", "sleep 10"))
		w.down()
		sleep(20 * time.Second)
		w.up()
		w.wants("2.srv", "1 started", "1 ended 0")
		w.wants("1.srv", "1 started")
		w.servers.set(func(s *servers) { s.away = true })
		sleep(50 * time.Second)
		w.down()
		w.servers.set(func(s *servers) { s.away = false })
		w.up()
		sleep(5 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 3")
		if w.host.Starts("1.srv") != 1 {
			t.Error("a second copy was started")
		}
	})
}

func TestRestart_WithoutAdoptingEndsAndRequeues(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.down()
		w.config.Adopt = false
		w.up()
		sleep(time.Second)
		w.wants("1.srv", "1 started", "1 lost -4")
		if len(w.host.Running()) != 0 {
			t.Error("the job runs on")
		}
	})
}

func TestRestart_AfterReboot(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"), w.run("2.srv", "sleep 5\nexit 4"))
		w.down()
		sleep(10 * time.Second) // the second job ends, unseen
		w.host.Reboot()
		w.up()
		sleep(time.Second)
		w.wants("1.srv", "1 started", "1 lost -4")
		w.wants("2.srv", "1 started", "1 ended 4")
	})
}

func TestRestart_SpoiltRecordIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.down()
		w.host.Reboot()
		if err := os.WriteFile(filepath.Join(w.home, "mom_priv", "jobs", "1.srv@1", "task.log"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		w.up()
		sleep(time.Second)
		w.wants("1.srv", "1 started", "1 lost -4")
	})
}

func TestRestart_UnstartedJobAsksFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.servers.set(func(s *servers) { s.away = true })
		w.deliver(w.run("1.srv", "sleep 10"), w.run("2.srv", "sleep 10"))
		w.down()
		w.servers.set(func(s *servers) { s.away, s.refusals["2.srv"] = false, true })
		w.up()
		sleep(20 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 0")
		if w.host.Starts("2.srv") != 0 {
			t.Error("a run that the servers have given up was started")
		}
	})
}

func TestStop_KillEndsJobsFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.mom.Stop(true)
		sleep(time.Second)
		w.down()
		w.wants("1.srv", "1 started", "1 lost -4")
		if len(w.host.Running()) != 0 {
			t.Error("a job survived SIGTERM to the mom")
		}
	})
}

// TestStop_TakesNoMoreJobs: the servers hear that the host is out before its jobs end, so
// that none of them is sent back to it.
func TestStop_TakesNoMoreJobs(t *testing.T) {
	for _, kill := range []bool{true, false} {
		bubble(t, func(t *testing.T, w *world) {
			w.up()
			w.deliver(w.run("1.srv", "sleep 1000"))
			synctest.Wait()
			before := len(w.servers.facts)
			w.servers.set(func(s *servers) {
				s.onLease = func(r *api.LeaseRequest) {
					s.onLease = nil
					if r.GetTrouble() == "" || len(s.facts) != before {
						t.Errorf("kill %v: trouble %q after %d facts, want some after %d", kill, r.GetTrouble(), len(s.facts), before)
					}
				}
			})
			leases := w.servers.leases
			w.mom.Stop(kill)
			synctest.Wait()
			if w.servers.leases == leases {
				t.Errorf("kill %v: the servers were not told", kill)
			}
			w.down()
		})
	}
}

// TestStop_WithoutServers: nobody to tell delays the end a little, and no more.
func TestStop_WithoutServers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.servers.set(func(s *servers) { s.away = true })
		w.mom.Stop(false)
		sleep(leaveWait + time.Second)
		if w.mom.running() != nil {
			t.Error("the mom waits for servers that are away")
		}
		w.down()
	})
}

func TestStop_LeavesJobsRunning(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.mom.Stop(false)
		sleep(time.Second)
		w.down()
		w.wants("1.srv", "1 started")
		if len(w.host.Running()) != 1 {
			t.Error("the job did not survive")
		}
	})
}

func TestRun_TwoMomsInOneHome(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		second, err := New(w.config)
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "another mom") {
			t.Errorf("second mom: %v", err)
		}
		pid, err := os.ReadFile(filepath.Join(w.home, "mom_priv", "mom.lock"))
		if err != nil || string(pid) != "4711\n" {
			t.Errorf("mom.lock %q, %v", pid, err)
		}
	})
}
