package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A wide is a job over three hosts of one cpu each, with a task on every host.
type wide struct {
	kept
	id   string
	mark string // the argument by which its tasks are known
}

const wideSelect = "select=3:ncpus=1"

var wideHosts = []string{"hosta", "hostb", "hostc"}

func newWide(t *testing.T) *wide {
	t.Helper()
	var args []string
	for _, host := range wideHosts {
		args = append(args, "--mom", host+":ncpus=1")
	}
	w := &wide{kept: kept{newCluster(t, args...)}}
	w.mark = fmt.Sprintf("%d.%s", 1000, strings.TrimPrefix(filepath.Base(w.Dir), "rc-"))
	return w
}

func (w *wide) submit(t *testing.T) {
	t.Helper()
	script := filepath.Join(w.Dir, "wide")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nPATH=$PBS_O_PATH exec pbsdsh -- /bin/sleep "+w.mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.id = w.must(t, "qsub", "-l", wideSelect, "-l", "place=scatter", "-j", "oe", "-o", "/dev/null", script)
}

// rush submits a job that needs all hosts, to the express queue, and waits until it runs.
func (w *wide) rush(t *testing.T) (id string) {
	t.Helper()
	id = w.must(t, "qsub", "-q", "rush", "-l", wideSelect, "-l", "place=scatter", "-j", "oe", "-o", "/dev/null", "--", "/bin/sleep", "1000")
	awaitJob(t, w.Cluster, id, "substate = 42")
	return id
}

// tasks returns the processes of the job's tasks by their state: R and S run, T is stopped.
func (w *wide) tasks() (running, stopped []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		if string(text) != "/bin/sleep\x00"+w.mark+"\x00" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		stat, err := os.ReadFile(filepath.Join(filepath.Dir(path), "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		switch {
		case err != nil, strings.HasPrefix(rest, "Z"):
		case strings.HasPrefix(rest, "T"):
			stopped = append(stopped, pid)
		default:
			running = append(running, pid)
		}
	}
	return running, stopped
}

// has waits until the job shows words, and then so many tasks run and so many are stopped.
func (w *wide) has(t *testing.T, running, stopped int, words string) {
	t.Helper()
	awaitJob(t, w.Cluster, w.id, words)
	waitFor(t, 2*patience, fmt.Sprintf("%d running and %d stopped tasks", running, stopped), func() error {
		if r, s := w.tasks(); len(r) != running || len(s) != stopped {
			return fmt.Errorf("%v run, %v are stopped", r, s)
		}
		return nil
	})
}

// TestWide_PreemptedAndRunAgain: what makes way for another job, is queued again or goes on from a
// checkpoint does so on all of its hosts, and is accounted for once.
func TestWide_PreemptedAndRunAgain(t *testing.T) {
	t.Parallel()
	w := newWide(t)
	restarted := filepath.Join(w.Dir, "restarted")
	snap, restart := filepath.Join(w.Dir, "snap"), filepath.Join(w.Dir, "restart")
	for path, text := range map[string]string{
		snap:    "#!/bin/sh\necho saved >$1\n",
		restart: "#!/bin/sh\necho node $PBS_NODENUM >>" + restarted + "\nexec /bin/sleep " + w.mark + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, host := range wideHosts {
		config := filepath.Join(w.Home(host), "mom_priv", "config")
		text, _ := os.ReadFile(config)
		text = fmt.Appendf(text, "\n$action checkpoint 20 !%s %%path\n$action restart 20 !%s %%path\n", snap, restart)
		if err := os.WriteFile(config, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := w.Signal(host, syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	w.must(t, "qmgr", "-c", "create queue rush queue_type=e,enabled=t,started=t,Priority=200")
	w.submit(t)
	w.has(t, 3, 0, "substate = 42.*run_count = 1")

	first := w.rush(t)
	w.has(t, 0, 3, "job_state = S.*substate = 45")
	w.must(t, "qdel", first)
	w.has(t, 3, 0, "substate = 42.*run_count = 1")

	w.must(t, "qmgr", "-c", "set sched preempt_order = R")
	second := w.rush(t)
	w.has(t, 0, 0, "job_state = Q")
	w.must(t, "qdel", second)
	w.has(t, 3, 0, "substate = 42.*run_count = 2")

	w.must(t, "qrerun", w.id)
	w.has(t, 3, 0, "substate = 42.*run_count = 3")

	w.must(t, "qmgr", "-c", "set sched preempt_order = C")
	third := w.rush(t)
	w.has(t, 0, 0, "job_state = Q")
	w.must(t, "qdel", third)
	w.has(t, 4, 0, "substate = 42.*run_count = 4") // the job's own program, and a task on each host
	text, _ := os.ReadFile(restarted)
	for n := range wideHosts {
		if !strings.Contains(string(text), fmt.Sprintf("node %d\n", n)) {
			t.Errorf("nothing went on at node %d: %q", n, text)
		}
	}

	w.must(t, "qdel", w.id)
	waitFor(t, patience, "the end", jobGone(t, w.Cluster, w.id))
	if running, stopped := w.tasks(); len(running)+len(stopped) != 0 {
		t.Errorf("%v and %v are left", running, stopped)
	}
	w.accounted(t, wideRecords)
}

// Submitted and started; suspended and resumed; queued again by a preemption and by qrerun, and started
// again; checkpointed, and restarted from that; deleted.
const wideRecords = "QSzrRSRSCTDE"

func (w *wide) accounted(t *testing.T, want string) {
	t.Helper()
	waitFor(t, patience, "the records "+want, func() error {
		leader, err := w.Leader(t.Context())
		if err != nil {
			return err
		}
		lines, err := recordsOf(w.Cluster, leader, w.id)
		if err == nil && types(lines) != want {
			err = fmt.Errorf("records %s: %v", types(lines), lines)
		}
		return err
	})
}

// TestWide_Qterm: the servers end beside a job over several hosts, queue it again, or wait for it, which cannot run again.
func TestWide_Qterm(t *testing.T) {
	t.Parallel()
	w := newWide(t)
	back := func(words string) {
		t.Helper()
		if err := w.Restart(t.Context(), replicas...); err != nil {
			t.Fatal(err)
		}
		awaitJob(t, w.Cluster, w.id, words)
	}
	w.submit(t)
	w.has(t, 3, 0, "substate = 42")
	had, _ := w.tasks()
	w.must(t, "qterm", "-t", "quick")
	ended(t, w.Cluster, replicas...)
	back("job_state = R.*run_count = 1")
	if now, _ := w.tasks(); fmt.Sprint(now) != fmt.Sprint(had) {
		t.Errorf("tasks %v after qterm -t quick, %v before", now, had)
	}

	w.must(t, "qterm", "-t", "immediate")
	endedAgain(t, w.Cluster, 2, replicas...)
	if running, stopped := w.tasks(); len(running)+len(stopped) != 0 {
		t.Errorf("%v and %v are left by qterm -t immediate", running, stopped)
	}
	back("run_count = 2")
	w.has(t, 3, 0, "job_state = R.*run_count = 2")

	w.must(t, "qalter", "-r", "n", w.id) // else it is queued again
	waiting := w.Command(t.Context(), "qterm", "-t", "delay")
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	running, _ := w.tasks()
	if len(running) != len(wideHosts) {
		t.Errorf("%v run when the servers are to wait for them", running)
	}
	for _, pid := range running {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	endedAgain(t, w.Cluster, 3, replicas...)
	if err := waiting.Wait(); err != nil {
		t.Errorf("qterm -t delay: %v", err)
	}
	if err := w.Restart(t.Context(), replicas...); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the job to be over", jobGone(t, w.Cluster, w.id))
	w.accounted(t, "QSRSaE")
}
