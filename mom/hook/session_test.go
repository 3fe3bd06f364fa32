package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// runjob is the event of a job that is about to start.
func runjob(n int) *Event {
	return &Event{Event: "runjob", Requestor: "Scheduler", Job: &Object{Name: strconv.Itoa(n) + ".srv", Attrs: []Attr{}}}
}

func sessionOf(t testing.TB, r *Runtime) *Session {
	s := r.Session()
	t.Cleanup(s.Close)
	return s
}

// say runs a script in a session, and returns what it rejects with.
func say(t testing.TB, s *Session, e *Event, script string, more ...func(*Run)) *Answer {
	t.Helper()
	run := Run{
		Hook:   Hook{Name: "h1", Script: fmt.Sprint(len(script), script), Attrs: map[string]string{"alarm": "5", "event": e.Event}},
		Script: []byte(script), Event: e, Dir: "/",
	}
	for _, m := range more {
		m(&run)
	}
	a, err := s.Do(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const tellProcess = "import os, pbs\npbs.event().reject('%s %d' % (pbs.event().job.id, os.getpid()))"

// Events that belong together are seen by one process, whatever hooks look at them.
func TestSession_OneProcess(t *testing.T) {
	s := sessionOf(t, newTestRuntime(t))
	pids := map[string]bool{}
	for n := range 50 {
		script := tellProcess
		if n%2 == 1 {
			script += "\n"
		}
		id, pid, _ := strings.Cut(say(t, s, runjob(n), script).Message, " ")
		if pids[pid] = true; id != runjob(n).Job.Name {
			t.Errorf("event %d was that of %s", n, id)
		}
	}
	if len(pids) != 1 {
		t.Errorf("%d processes", len(pids))
	}
}

// What a script does to its process is not the next one's trouble.
func TestSession_MadScripts(t *testing.T) {
	r := newTestRuntime(t)
	stray := filepath.Join(t.TempDir(), "pid")
	for name, c := range map[string]struct {
		script string
		failed bool
		anew   bool // the next script gets another process
	}{
		"well":                {"pass", false, false},
		"raises":              {"raise RuntimeError('bang')", true, false},
		"has a syntax error":  {"def", true, false},
		"prints":              {"print('x' * 1000000)", false, false},
		"closes its output":   {"import sys\nsys.stdout.close()", false, true},
		"leaves globals":      {"left = 1", false, false},
		"exits hard":          {"import os\nos._exit(3)", true, true},
		"kills itself":        {"import os\nos.kill(os.getpid(), 9)", true, true},
		"sleeps":              {"import time\ntime.sleep(60)", true, true},
		"rubbish in the pipe": {"import os\nfor fd in range(3, 30):\n    try:\n        os.write(fd, b'rubbish\\n')\n    except OSError:\n        pass", true, true},
		"answers twice":       {"import os\nfor fd in range(3, 30):\n    try:\n        os.write(fd, b'{\"done\":{\"accept\":true}}\\n')\n    except OSError:\n        pass", true, true},
		"leaves a thread":     {"import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()", false, true},
		"leaves a program":    {"import subprocess\np = subprocess.Popen(['sleep', '1000'])\nopen('" + stray + "', 'w').write(str(p.pid))", false, true},
		"forks and goes on":   {"import os, pbs\nif os.fork() == 0:\n    pbs.event().reject('of the child')\nos.wait()", false, false},
		"leaves an alarm":     {"import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.05)", false, false},
		"changes its place":   {"import os\nos.chdir('/tmp')\nos.environ['LEFT'] = '1'", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := sessionOf(t, r)
			_, before, _ := strings.Cut(say(t, s, runjob(0), tellProcess).Message, " ")
			a := say(t, s, runjob(1), c.script, func(run *Run) { run.Hook.Attrs["alarm"] = "1" })
			if (a.Failure != "") != c.failed || a.Message != "" || len(a.Output) > maxOutput {
				t.Errorf("%+v", a)
			}
			id, after, _ := strings.Cut(say(t, s, runjob(2), tellProcess).Message, " ")
			if id != "2.srv" || (after != before) != c.anew {
				t.Errorf("then %s in process %s, before in %s", id, after, before)
			}
			a = say(t, s, runjob(3), "import os, pbs, time\ntime.sleep(0.1)\nprint('well')\npbs.event().reject('%s %s %s' % (os.getcwd(), os.environ.get('LEFT'), 'left' in globals()))")
			if a.Message != "/ None False" {
				t.Errorf("the next one finds %q, %s", a.Message, a.Failure)
			}
		})
	}
	text, err := os.ReadFile(stray)
	pid, err2 := strconv.Atoi(string(text))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for deadline := time.Now().Add(10 * time.Second); lives(pid); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a program that a script has left outlives the process")
		}
	}
}

// Hooks run again in a new interpreter if theirs has ended under them, which is not their doing.
func TestSession_InterpreterIsStartedAgain(t *testing.T) {
	r := newTestRuntime(t)
	s := sessionOf(t, r)
	once := filepath.Join(t.TempDir(), "once")
	killer := "import os\nif not os.path.exists('" + once + "'):\n    open('" + once + "', 'w')\n    root = open('/proc/%d/stat' % os.getppid()).read()\n    os.kill(int(root.rpartition(')')[2].split()[1]), 9)\n    os.kill(os.getpid(), 9)\n"
	for _, do := range []func() *Answer{
		func() *Answer { return say(t, s, runjob(1), killer) },
		func() *Answer { a, _ := try(t, r, runjob(1), killer); return a },
	} {
		say(t, s, runjob(0), "pass")
		if a := do(); a.Failure != "" || !a.Accept {
			t.Errorf("after the end of the interpreter: %+v", a)
		}
		if err := os.Remove(once); err != nil {
			t.Error(err)
		}
	}
}

// An own account needs an own process.
func TestSession_User(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a hook as somebody else")
	}
	s := sessionOf(t, newTestRuntime(t))
	tell := "import os, pbs\npbs.event().reject(str(os.getuid()))"
	own := func(run *Run) { run.User = &User{Name: "joe", UID: 4711, GID: 4711, Groups: []uint32{4711}, Home: "/"} }
	for i, c := range []struct {
		a    *Answer
		want string
	}{{say(t, s, runjob(0), tell), "0"}, {say(t, s, runjob(0), tell, own), "4711"}, {say(t, s, runjob(0), tell), "0"}} {
		if c.a.Message != c.want {
			t.Errorf("%d: ran as %q, want %s", i, c.a.Message, c.want)
		}
	}
}

func BenchmarkSession_Event(b *testing.B) {
	s := sessionOf(b, newTestRuntime(b))
	say(b, s, runjob(0), "import pbs")
	var all []time.Duration
	for b.Loop() {
		began := time.Now()
		say(b, s, runjob(1), "import pbs\nif pbs.event().job.id != '1.srv':\n    pbs.event().reject('no')")
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
}
