package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
	"rampart/mom/hook"
	"rampart/transport/daylog"
)

// alone is a replica without others: source and proposer.
type alone struct {
	t *testing.T

	mu      sync.Mutex
	store   *state.Store
	view    *state.View
	index   uint64
	changed chan struct{}
	cycles  int // proposals of no event, which only wake the scheduler
	lost    int // so many changes of jobs come to nothing
}

func (a *alone) View() *state.View {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.view
}

func (a *alone) Changed() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changed
}

func (a *alone) Propose(_ context.Context, p command.Proposal) (command.Outcome, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range p.Commands {
		if done, ok := c.(*command.HookTasksDone); ok && len(done.Seqs) == 0 {
			a.cycles++
		}
		if _, ok := c.(*command.AlterJob); ok && a.lost > 0 {
			a.lost--
			return command.Outcome{}, errors.New("no majority")
		}
	}
	a.index++
	out, _ := command.Run(a.store, a.index, 1, command.Entry{Time: pbs.Time(a.index), Proposals: []command.Proposal{p}})
	a.view = a.store.Publish()
	close(a.changed)
	a.changed = make(chan struct{})
	return out[0], nil
}

func (a *alone) do(list ...command.Command) {
	a.t.Helper()
	out, err := a.Propose(a.t.Context(), command.Proposal{Asker: pbs.User{Name: "root", Host: "s1"}, Commands: list})
	if err == nil {
		err = out.Err()
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *alone) hook(name, event, script string, more ...attr.Entry) {
	a.t.Helper()
	changes := []command.AttrChange{{Entry: attr.Entry{Name: "event", Value: event}}}
	for _, e := range more {
		changes = append(changes, command.AttrChange{Entry: e})
	}
	a.do(&command.ManageHook{Verb: command.VerbCreate, Name: name, Changes: changes})
	a.do(&command.ImportHook{Name: name, Kind: state.HookScript, Body: []byte(script)})
}

// serving returns a replica whose hooks are served, and the folder of its server log.
func serving(t *testing.T, hooksOf func(a *alone)) (a *alone, logs string) {
	if _, err := hook.FindPython(""); err != nil {
		t.Skip(err)
	}
	a = &alone{t: t, store: state.NewStore(), changed: make(chan struct{})}
	a.do(&command.InitCluster{ID: "c", Name: "srv", Epoch: 1})
	hooksOf(a)
	dir, logs := t.TempDir(), t.TempDir()
	quiet := slog.New(slog.DiscardHandler)
	h := &hooks{
		runtime: hook.NewRuntime(hook.Options{Dir: dir, Host: "s1", Logger: quiet}), dir: dir, logger: quiet, self: "Server@s1",
		log: daylog.New(logs, "Server", daylog.Options{Mask: daylog.ServerMask}), restart: make(chan struct{}, 1),
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.serve(ctx, a, a) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := h.runtime.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, logs
}

// within waits for a condition, also on a machine that is busy with others.
func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// A periodic hook that takes long holds up neither the hooks of what was committed nor other periodic ones, and runs
// once at a time.
func TestHooks_PeriodicHoldsUpNobody(t *testing.T) {
	dir := t.TempDir()
	note := func(name string) string {
		return fmt.Sprintf("open(%q, 'a').write('.')\n", filepath.Join(dir, name))
	}
	count := func(name string) int {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return len(text)
	}
	a, _ := serving(t, func(a *alone) {
		a.hook("long", "periodic", note("long")+"import time\ntime.sleep(500)\n", attr.Entry{Name: "freq", Value: "1"}, attr.Entry{Name: "alarm", Value: "600"})
		a.hook("short", "periodic", note("short"), attr.Entry{Name: "freq", Value: "1"})
		a.hook("after", "postqueuejob", note("after"))
	})
	within(t, "the long hook begins", func() bool { return count("long") > 0 })
	a.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "s1"}})
	within(t, "the hook of what was committed", func() bool { return count("after") > 0 })
	before := count("short")
	within(t, "the other periodic hook runs again", func() bool { return count("short") > before+1 })
	if n := count("long"); n != 1 {
		t.Errorf("the long hook runs %d times at once", n)
	}
}

// A periodic hook may have a scheduling cycle begin: a commit, which the scheduler looks for, and a line in the log.
func TestHooks_PeriodicRestartsTheCycle(t *testing.T) {
	a, logs := serving(t, func(a *alone) {
		a.hook("again", "periodic", "import pbs\npbs.server().scheduler_restart_cycle()\n", attr.Entry{Name: "freq", Value: "1000"})
	})
	within(t, "a cycle", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.cycles == 1
	})
	files, err := filepath.Glob(filepath.Join(logs, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if text, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(text), "Hook;Server@s1;hook 'again' requested for scheduler to restart cycle") {
		t.Errorf("the log: %s, %v", text, err)
	}
}

// A periodic hook runs on the grid of its first run, whatever its runs take.
func TestOnGrid(t *testing.T) {
	began := time.Unix(1000, 0)
	for _, c := range []struct{ took, freq, want int }{{0, 6, 6}, {1, 6, 6}, {6, 6, 6}, {7, 6, 12}, {10, 6, 12}, {20, 6, 24}} {
		next := onGrid(began, time.Duration(c.freq)*time.Second, began.Add(time.Duration(c.took)*time.Second))
		if got := int(next.Sub(began) / time.Second); got != c.want {
			t.Errorf("after %d s with freq %d: at %d, want %d", c.took, c.freq, got, c.want)
		}
	}
}

// A periodic hook changes jobs that it has from the server, and vnodes.
func TestHooks_PeriodicChangesJobsAndVnodes(t *testing.T) {
	a, _ := serving(t, func(a *alone) {
		a.do(&command.HostUp{Host: "a", Address: "a:1", SpoolID: "s", Vnodes: []command.ReportedVnode{{Name: "a"}}})
		a.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "s1"}})
		a.hook("mends", "periodic", `import pbs
for j in pbs.server().jobs():
    j.Priority = 7
    j.Resource_List["walltime"] = 60
pbs.event().vnode_list["a"].comment = "seen"
`, attr.Entry{Name: "freq", Value: "1000"})
	})
	within(t, "the changes", func() bool {
		vn, _ := a.View().Vnode("a")
		for j := range a.View().Jobs() {
			wall, _ := j.Resources.Get("walltime")
			return j.Priority == 7 && wall == "00:01:00" && vn.Comment == "seen"
		}
		return false
	})
}

// Slow hooks of postqueuejob hold up the jobs that they are about, and not those that they have seen.
func TestHooks_SlowOnesHoldUpTheirOwnJob(t *testing.T) {
	dir := t.TempDir()
	gate := filepath.Join(dir, "gate")
	a, _ := serving(t, func(a *alone) {
		a.hook("slow", "postqueuejob", fmt.Sprintf(`import os, pbs, time
time.sleep(0.2)
while pbs.event().job.id.startswith("1.") and not os.path.exists(%q):
    time.sleep(0.01)
`, gate), attr.Entry{Name: "alarm", Value: "600"})
		for range 2 { // one commit has both
			a.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "s1"}})
		}
	})
	within(t, "the hooks have seen the first job", func() bool { return !a.View().IsNewToHooks("0.srv") })
	if !a.View().IsNewToHooks("1.srv") {
		t.Error("nobody waits for the second job")
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	within(t, "the hooks have seen the second job", func() bool { return !a.View().IsNewToHooks("1.srv") })
}

// RV-72: hooks of reservations see what was committed; a rejection changes nothing.
func TestHooks_OfReservations(t *testing.T) {
	file := filepath.Join(t.TempDir(), "seen")
	script := fmt.Sprintf(`import pbs
e = pbs.event()
open(%q, "a").write("%%s %%s %%s %%s %%s\n" %% (e.type, e.requestor, e.resv, e.resv.reserve_state, e.resv.schedselect))
e.reject("no")
`, file)
	a, logs := serving(t, func(a *alone) {
		a.do(&command.HostUp{Host: "a", Address: "a:1", SpoolID: "s", Vnodes: []command.ReportedVnode{{Name: "a", Available: resource.List{}.Set("ncpus", "4")}}})
		a.hook("h1", "resv_confirm,resv_begin,resv_end", script)
	})
	a.do(&command.Reserve{Owner: pbs.User{Name: "ann", Host: "s1"}, Starts: []pbs.Time{1}, Length: pbs.Time(time.Minute)})
	a.do(&command.DecideReservation{Reservation: "R0.srv", Asked: 1, Nodes: []string{"(a:ncpus=1)"}})
	want := "33554432 Scheduler R0.srv 2 1:ncpus=1\n16777216 root R0.srv 5 1:ncpus=1\n"
	saw := func() string {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	within(t, "it begins", func() bool { return len(saw()) >= len(want) })
	a.do(&command.DeleteReservation{Reservation: "R0.srv"})
	want += "65536 root R0.srv 5 1:ncpus=1\n"
	within(t, "it ends", func() bool { return len(saw()) >= len(want) })
	if got := saw(); got != want {
		t.Errorf("the hooks saw\n%swant\n%s", got, want)
	}
	files, err := filepath.Glob(filepath.Join(logs, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	within(t, "the log", func() bool {
		text, err := os.ReadFile(files[0])
		return err == nil && strings.Contains(string(text), "0100;Server;Hook;h1;resv_end request rejected by 'h1'")
	})
}

// What hooks of postqueuejob have set of a job is not lost with the proposal of it.
func TestHooks_PostqueuejobAgain(t *testing.T) {
	a, _ := serving(t, func(a *alone) {
		a.lost = 2
		a.hook("sets", "postqueuejob", "import pbs\npbs.event().job.Priority = 7\n")
	})
	a.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "s1"}})
	within(t, "the hook has seen the job", func() bool { return !a.View().IsNewToHooks("0.srv") })
	if j, _ := a.View().Job("0.srv"); j.Priority != 7 {
		t.Errorf("the job has priority %d", j.Priority)
	}
}

// A periodic hook rests for the freq that it has now; one that was made anew does not.
func TestRest_Due(t *testing.T) {
	began := time.Unix(1000, 0)
	last := &rest{seq: 4, began: began, ended: began.Add(2 * time.Second)}
	for _, c := range []struct {
		name string
		last *rest
		seq  uint64
		freq string
		at   int
		ok   bool
		from int
	}{
		{"never run", nil, 4, "10", 3, true, 3},
		{"runs", &rest{seq: 4, began: began}, 5, "10", 30, false, 30},
		{"too early", last, 4, "10", 9, false, 10},
		{"on the grid", last, 4, "10", 11, true, 10},
		{"late", last, 4, "10", 20, true, 20},
		{"more often", last, 4, "3", 4, true, 3},
		{"made anew", last, 5, "10", 3, true, 3},
	} {
		one := &state.Hook{Name: "h", Seq: c.seq, Attrs: attr.List{{Name: "freq", Value: c.freq}}}
		from, ok := c.last.due(one, began.Add(time.Duration(c.at)*time.Second))
		if ok != c.ok || int(from.Sub(began)/time.Second) != c.from {
			t.Errorf("%s: %t, from %s", c.name, ok, from.Sub(began))
		}
	}
}
