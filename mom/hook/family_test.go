package hook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// patience is how long tests wait on a machine that is busy with others.
const patience = 60 * time.Second

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); <-time.After(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// leaving is the beginning of a script that leaves a process behind, which says its number in a file: a program, a
// program in a session of its own, an orphan, or an orphan with such a session. It ends by itself in five minutes.
func leaving(how, file string) string {
	return fmt.Sprintf(`
import os, pbs, time
how, file = %q, %q
if os.fork() == 0:
    if "session" in how:
        os.setsid()
    if "orphan" in how and os.fork() > 0:
        os._exit(0)
    os.closerange(0, 100)
    with open(file + ".new", "w") as f:
        f.write(str(os.getpid()))
    os.rename(file + ".new", file)
    time.sleep(300)
    os._exit(0)
while not os.path.exists(file):
    time.sleep(0.005)
`, how, file)
}

// leftBy waits for the process that such a script leaves.
func leftBy(t testing.TB, file string) (pid int) {
	t.Helper()
	until(t, "a process to be left", func() bool {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(string(text))
		return err == nil
	})
	t.Cleanup(func() { end(pid) })
	return pid
}

func end(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// does is how hooks run: each in a process of its own, as on moms and before a request of a server is taken, or those of
// committed events in one, as on servers.
type does func(ctx context.Context, run Run) (*Answer, error)

func runOf(script, alarm string) Run {
	return Run{
		Hook: Hook{Name: "h", Script: fmt.Sprint(len(script), script), Attrs: map[string]string{"alarm": alarm, "event": "runjob"}}, Script: []byte(script),
		Event: runjob(1), Dir: "/",
	}
}

// endings are the ways in which a hook ends, by its script or, while it sleeps, by what is done to it.
var endings = map[string]struct {
	script string
	alarm  string
	strike func(t *testing.T, r *Runtime, cancel context.CancelFunc)
	spares bool // what has a session of its own lives on
	spoils bool // no other hook runs in that runtime
}{
	"end of script": {script: "pass", alarm: "100", spares: true},
	"accept":        {script: "pbs.event().accept()", alarm: "100", spares: true},
	"reject":        {script: "pbs.event().reject('no')", alarm: "100", spares: true},
	"exception":     {script: "raise RuntimeError('bang')", alarm: "100"},
	"exits hard":    {script: "os._exit(3)", alarm: "100"},
	"kills itself":  {script: "os.kill(os.getpid(), 9)", alarm: "100"},
	"alarm":         {script: "time.sleep(200)", alarm: "1"},
	"given up": {script: "time.sleep(200)", alarm: "200", strike: func(_ *testing.T, _ *Runtime, cancel context.CancelFunc) {
		cancel()
	}},
	"end of the daemon": {script: "time.sleep(200)", alarm: "200", spoils: true, strike: func(t *testing.T, r *Runtime, _ context.CancelFunc) {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}},
	"interpreter killed": {script: "time.sleep(200)", alarm: "200", spoils: true, strike: func(t *testing.T, r *Runtime, cancel context.CancelFunc) {
		r.interpreterOf().kill(t)
		cancel()
	}},
}

// interpreterOf returns the interpreter that runs.
func (r *Runtime) interpreterOf() *worker {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.worker
}

func (w *worker) kill(t *testing.T) {
	if err := w.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	<-w.done
}

// What a hook has started ends with it; what has a session of its own ends with a hook that is killed or fails, and lives
// on after one that has come to its end.
func TestRuntime_Daemons(t *testing.T) {
	shared := newTestRuntime(t)
	for name, c := range endings {
		for _, how := range []string{"program", "session", "orphan session"} {
			if c.spoils && how != "orphan session" {
				continue // an interpreter takes a while to start
			}
			for _, kind := range []string{"mom", "server"} {
				t.Run(name+"/"+how+"/"+kind, func(t *testing.T) {
					r := shared
					if c.spoils {
						r = newTestRuntime(t)
					}
					do := does(r.Do)
					if kind == "server" {
						do = sessionOf(t, r).Do
					}
					file := filepath.Join(t.TempDir(), "pid")
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					done := make(chan struct{})
					go func() {
						defer close(done)
						_, _ = do(ctx, runOf(leaving(how, file)+c.script, c.alarm))
					}()
					pid := leftBy(t, file)
					if c.strike != nil {
						c.strike(t, r, cancel)
					}
					<-done
					if c.spares && (how == "session" || how == "orphan session") {
						if _, err := r.Do(t.Context(), runOf("raise RuntimeError('later')", "100")); err != nil {
							t.Error(err)
						}
						if !lives(pid) {
							t.Error("the daemon of a hook that has come to its end is dead")
						}
						return
					}
					until(t, "the end of what the hook has left", func() bool { return !lives(pid) })
				})
			}
		}
	}
}

// The root of a family sees by itself that its daemon was killed, also without the interpreter.
func TestRuntime_DaemonsOfAKilledDaemon(t *testing.T) {
	r := newTestRuntime(t)
	p, err := r.process(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	p.worker.kill(t)
	file := filepath.Join(t.TempDir(), "pid")
	run := runOf(leaving("orphan session", file)+"time.sleep(200)", "200")
	if err := send(p.in, &request{Script: run.Script, Dir: "/", Data: data{Event: run.Event, Hook: map[string]string{"name": "h"}}}); err != nil {
		t.Fatal(err)
	}
	pid := leftBy(t, file)
	if err := p.life.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of what the hook has left", func() bool { return !lives(pid) && !lives(p.family.forked.Session) })
}

// A hook that fails takes nothing along of what others have left, before it or meanwhile.
func TestRuntime_DaemonsOfOthers(t *testing.T) {
	r := newTestRuntime(t)
	s := sessionOf(t, r)
	for name, do := range map[string]does{"mom": r.Do, "server": s.Do} {
		dir := t.TempDir()
		var left []int
		for i, how := range []string{"session", "orphan session"} {
			file := filepath.Join(dir, strconv.Itoa(i))
			if a, err := do(t.Context(), runOf(leaving(how, file), "100")); err != nil || !a.Accept {
				t.Fatalf("%s: %+v, %v", name, a, err)
			}
			left = append(left, leftBy(t, file))
			a, err := do(t.Context(), runOf(leaving(how, file+"f")+"raise RuntimeError('bang')", "100"))
			if err != nil || a.Failure == "" {
				t.Fatalf("%s: %+v, %v", name, a, err)
			}
			bad := leftBy(t, file+"f")
			until(t, "the end of what the hook has left", func() bool { return !lives(bad) })
		}
		for _, pid := range left {
			if !lives(pid) {
				t.Errorf("%s: a daemon was taken along by another hook", name)
			}
		}
	}
}

// A process that forks and ends, again and again, is never where it was seen; it ends with its hook all the same.
func TestRuntime_HoppingProcess(t *testing.T) {
	r := newTestRuntime(t)
	file := filepath.Join(t.TempDir(), "pid")
	script := `
import os, time
file, stop = ` + strconv.Quote(file) + `, time.monotonic() + 120
if os.fork() == 0:
    os.setsid()
    while time.monotonic() < stop:
        if os.fork() > 0:
            os._exit(0)
        with open(file, "a") as f:
            f.write(".")
    os._exit(0)
while not os.path.exists(file) or os.path.getsize(file) < 20:
    time.sleep(0.005)
raise RuntimeError("bang")
`
	if a, err := r.Do(t.Context(), runOf(script, "100")); err != nil || a.Failure == "" {
		t.Fatalf("%+v, %v", a, err)
	}
	size := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	<-time.After(500 * time.Millisecond) // it would go on
	if after := size(); after != before {
		t.Errorf("it lives on: %d, then %d bytes", before, after)
	}
}
