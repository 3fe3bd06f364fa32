package server

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/daylog"
)

// schedProcess starts a process that goes by a name, such as that of a pbs_sched, until it is ended. Its command line can be read from when it
// runs.
func schedProcess(t *testing.T, name string) (pid string, end func()) {
	t.Helper()
	c := exec.Command("sh", "-c", "echo runs; read line; exit 0", "/opt/pbs/sbin/pbs_sched")
	c.Args[0] = name
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() { _, _ = in.Close(), c.Wait() })
	t.Cleanup(end)
	return strconv.Itoa(c.Process.Pid), end
}

func lockOf(t *testing.T, folder, pid string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "sched.lock"), []byte(pid+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSchedEnds_Look: a process that is killed takes its scheduler down, once that could be said; one that has not yet followed to
// another sched_priv does not, whoever was there before it.
func TestSchedEnds_Look(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	pid, end := schedProcess(t, "/opt/pbs/sbin/pbs_sched")
	at := func(folder string) *state.Server {
		return &state.Server{Scheds: []state.Scheduler{{Name: "sc1", Started: true, Attrs: attr.List{}.Set("sched_priv", "", folder)}}}
	}
	known := schedEnds{}
	var away error
	look := func(now *state.Server) (down []string) {
		known.look(now, home, func(name string) error {
			down = append(down, name)
			return away
		})
		return down
	}
	quiet := func(what string, now *state.Server) {
		t.Helper()
		if down := look(now); down != nil {
			t.Errorf("%s: %q is down", what, down)
		}
	}
	lockOf(t, filepath.Join(home, "sched_priv_sc1"), pid)
	lockOf(t, other, "0") // of a process that was
	quiet("it runs", at(""))
	quiet("it is to move", at(other))
	quiet("it has not moved yet", at(other))
	lockOf(t, other, pid)
	quiet("it has moved", at(other))
	quiet("it is to move back", at(""))
	quiet("it is to move again", at(other))

	end()
	away = errors.New("nobody leads")
	for range 2 {
		if down := look(at(other)); !slices.Equal(down, []string{"sc1"}) {
			t.Errorf("after its end there is down: %q", down)
		}
		away = nil
	}
	quiet("it was said", at(other))
}

// TestEndedOf: a process that only speaks of a pbs_sched has the number of one that has ended.
func TestEndedOf(t *testing.T) {
	for name, ended := range map[string]bool{"pbs_sched": false, "/opt/pbs/sbin/pbs_sched": false, "sh": true, "/usr/bin/pbs_schedule": true} {
		pid, _ := schedProcess(t, name)
		folder := t.TempDir()
		lockOf(t, folder, pid)
		if got := endedOf(filepath.Join(folder, "sched.lock")); (got == pid) != ended {
			t.Errorf("%s runs: ended is %q, of %s", name, got, pid)
		}
	}
}

// TestSchedLogs_Keep: the last lines of a scheduler that was deleted are in its own log, which is closed then.
func TestSchedLogs_Keep(t *testing.T) {
	home := t.TempDir()
	now := &state.Server{Scheds: []state.Scheduler{{Name: "sc1"}, {Name: "sc2"}}}
	logs := &schedLogs{home: home, options: daylog.Options{Mask: daylog.SchedMask}, server: func() *state.Server { return now }}
	write := func(name string) {
		t.Helper()
		if err := logs.of(name).Write(time.Now(), pbs.LogSched, "Sched", name, "a line"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"default", "sc1", "sc2"} {
		write(name)
	}
	now = &state.Server{Scheds: []state.Scheduler{{Name: "sc2"}}}
	write("sc1")
	for folder, want := range map[string]int{"sched_logs": 1, "sched_logs_sc1": 2, "sched_logs_sc2": 1} {
		text := ""
		files, _ := filepath.Glob(filepath.Join(home, folder, "*"))
		for _, file := range files {
			text += read(t, file)
		}
		if got := strings.Count(text, "a line\n"); got != want {
			t.Errorf("%s has %d lines, want %d:\n%s", folder, got, want, text)
		}
	}
	if err := logs.keep(now); err != nil {
		t.Fatal(err)
	}
	if logs.all["sc1"] != nil || logs.all["sc2"] == nil || logs.all["default"] == nil {
		t.Errorf("there are the logs %v", logs.all)
	}
	if err := logs.Close(); err != nil {
		t.Error(err)
	}
}

// What stays wrong is said once, and again when it comes back or is another fault.
func TestLastFault(t *testing.T) {
	var last lastFault
	a, b := errors.New("a"), errors.New("b")
	for i, c := range []struct {
		err  error
		want bool
	}{{nil, false}, {a, true}, {a, false}, {b, true}, {nil, false}, {b, true}} {
		if last.news(c.err) != c.want {
			t.Errorf("%d: %v is news: %t", i, c.err, !c.want)
		}
	}
}
