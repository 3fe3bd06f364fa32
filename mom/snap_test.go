package mom

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
)

// snapped counts the checkpoints of jobs that run on, as the servers have heard of them.
func (s *servers) snapped() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.facts {
		if f.GetCheckpointMade() != nil {
			n++
		}
	}
	return n
}

// The script of the site runs each time as much walltime has passed as the job wants between two
// checkpoints, also when the mom was restarted in between; while it fails the job just runs on. A
// run that is lost then keeps its output, for the next one goes on from there.
func TestSnap_Periodic(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		script, refuse := filepath.Join(w.user, "snap"), filepath.Join(w.user, "refuse")
		text := fmt.Sprintf("#!/bin/sh\ntest ! -e %s || exit 1\necho $1 >> $2\n", refuse)
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(w.home, "mom_priv"), 0o755); err != nil {
			t.Fatal(err)
		}
		config := fmt.Sprintf("$action checkpoint 30 !%s %%jobid %%path\n", script)
		if err := os.WriteFile(filepath.Join(w.home, "mom_priv", "config"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		after := func(d time.Duration, want int) {
			t.Helper()
			sleep(d)
			synctest.Wait()
			if got := w.servers.snapped(); got != want {
				t.Errorf("%d checkpoints, want %d", got, want)
			}
		}
		w.up()
		w.deliver(w.run("1.srv", "sleep 100000", &api.Attribute{Name: "Checkpoint", Value: "w=10"}, &api.Attribute{Name: "periodic_checkpoints", Value: "True"}))
		after(9*time.Minute, 0)
		after(2*time.Minute, 1)
		w.down()
		sleep(8 * time.Minute)
		w.up()
		after(30*time.Second, 1)
		after(2*time.Minute, 2)
		if err := os.WriteFile(refuse, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		after(10*time.Minute, 2)
		if err := os.Remove(refuse); err != nil {
			t.Fatal(err)
		}
		after(10*time.Minute, 3)
		output := filepath.Join(w.home, "spool", "1.srv.OU")
		if err := os.WriteFile(output, []byte("so far\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		kept := filepath.Join(w.home, "checkpoint", "1.srv.CK")
		if _, err := os.Stat(filepath.Join(kept, "task.json")); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(kept + ".old"); err == nil {
			t.Error("the older checkpoint was not dropped")
		}
		w.down()
		w.config.Adopt = false
		w.up()
		sleep(time.Second)
		if _, err := os.Stat(output); err != nil {
			t.Errorf("the output is gone: %v", err)
		}
		if all := w.log(); !strings.Contains(all, "checkpoint failed") || !strings.Contains(all, "checkpointed, runs on") {
			t.Errorf("log:\n%s", all)
		}
	})
}

// A job of one host with a program besides its first is saved with both, and goes on with both.
func TestCheckpoint_SeveralPrograms(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		if err := os.MkdirAll(filepath.Join(w.home, "mom_priv"), 0o755); err != nil {
			t.Fatal(err)
		}
		config := "$action checkpoint 30 !/bin/touch %path\n$action restart 30 !/bin/sleep 5000\n"
		if err := os.WriteFile(filepath.Join(w.home, "mom_priv", "config"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		sleep(time.Second)
		runner := w.mom.running().task(spool.TaskKey{Job: "1.srv", Run: 1})
		if _, err := spawn(t.Context(), runner, task.Spawn{Key: "k", Args: []string{"/bin/sleep", "1000"}}); err != nil {
			t.Fatal(err)
		}
		sleep(time.Second)
		o := w.next("1.srv", 1)
		o.What = &api.Order_Checkpoint{Checkpoint: &api.CheckpointJob{}}
		if got := w.deliver(o)[0].GetRefusal(); got != nil {
			t.Fatalf("refused: %v", got)
		}
		sleep(time.Second)
		if left := w.host.Running(); len(left) > 0 || !w.servers.ended("1.srv").GetCheckpointed() {
			t.Errorf("%q run, the end is %v", left, w.servers.ended("1.srv"))
		}
		if saved, _ := filepath.Glob(filepath.Join(w.home, "checkpoint", "1.srv.CK", "0000000?")); len(saved) != 2 {
			t.Errorf("saved are %q", saved)
		}
		o = w.run("1.srv", "sleep 1000")
		o.RunCount, o.GetRun().Restart = 2, &api.Restart{Session: 1}
		w.deliver(o)
		sleep(time.Second)
		w.down()
		w.up()
		if left := w.host.Running(); len(left) != 2 {
			t.Errorf("%q go on", left)
		}
	})
}
