package conformance

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestReliable_Deaths kills and stops moms within the start of a job that tolerates it: it never
// lives twice, and hosts that were let go keep nothing of it.
func TestReliable_Deaths(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	t.Parallel()
	w := newStartup(t, 3, quick, "queuejob", "execjob_begin", "execjob_prologue", "execjob_launch")
	for _, c := range []struct {
		name string
		play func(w *startup) (id string)
	}{
		{"a sister wakes after it was let go", (*startup).wakesLate},
		{"a host goes down and up twice", (*startup).flaps},
		{"the mother superior dies before the program", (*startup).superiorDiesBefore},
		{"the mother superior dies within the pruning", (*startup).superiorDiesWithin},
		{"the mother superior dies after the start", (*startup).superiorDiesAfter},
	} {
		w.sub(c.name, func(w *startup) {
			most := w.watch()
			id := c.play(w)
			waitFor(w.t, 2*patience, "the program", func() error {
				if n := len(w.steadies(id)); n != 1 || !strings.Contains(w.look(id), "substate = 42") {
					return fmt.Errorf("%d run of %s", n, w.look(id))
				}
				return nil
			})
			w.shows(id, "Resource_List.select = "+sn, "Resource_List.nodect = 3")
			w.must("qdel", id)
			w.forgot(id, "hosta", "hostb", "hostc", "hostd", "hoste")
			waitFor(w.t, patience, "the end of "+id, func() error {
				if text := w.look(id); text != "" || len(w.steadies(id)) > 0 {
					return errors.New(text)
				}
				return nil
			})
			w.vnodes(w.busy(id, "", false))
			if n := most(); n > 1 {
				w.t.Errorf("%d programs of the job lived at once", n)
			}
		})
	}
}

// steadies are the programs of a job that live, on any host; of all jobs if it is "".
func (w *startup) steadies(id string) []string {
	w.t.Helper()
	return processes(w.t, "steady@"+w.Dir+"@"+id)
}

// watch counts, from now on, how many programs of a job live at once at the most, whichever
// it is; what it returns ends that.
func (w *startup) watch() (most func() int) {
	n, stop := 0, make(chan struct{})
	var counts sync.WaitGroup
	counts.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			n = max(n, len(w.steadies("")))
			poll(time.Now())
		}
	})
	return sync.OnceValue(func() int {
		close(stop)
		counts.Wait()
		return n
	})
}

// forgot waits until nothing of a job is left in the homes of moms.
func (w *startup) forgot(id string, hosts ...string) {
	w.t.Helper()
	for _, h := range hosts {
		waitFor(w.t, 2*patience, h+" to forget "+id, func() error {
			left, err := filepath.Glob(filepath.Join(w.Home(h), "mom_priv", "jobs", id+"*"))
			if err == nil && len(left) > 0 {
				err = fmt.Errorf("there is %q", left)
			}
			return err
		})
	}
}

// kills kills a mom as a crash would, and starts it again: jobs live on meanwhile.
func (w *startup) kills(host string) {
	w.t.Helper()
	kill(w.t, w.Cluster, host)
	if err := w.Restart(w.t.Context(), host); err != nil {
		w.t.Fatal(err)
	}
}

func (w *startup) wakesLate() string {
	id := w.submit(r1, "late-hostb")
	w.logged("hostb", quoted(id)+";Executing begin$")
	signalTo(w.t, w.Cluster, "hostb", syscall.SIGSTOP)
	w.begins(id)
	w.shows(id, "exec_vnode = "+evA+"+"+evD+"+"+evC)
	defer w.goOn()()
	signalTo(w.t, w.Cluster, "hostb", syscall.SIGCONT)
	w.forgot(id, "hostb")
	return id
}

func (w *startup) flaps() string {
	id := w.submit(r1, "late-hostb,waits")
	for n := range 2 {
		waitFor(w.t, patience, "hostb to join", func() error {
			if got := w.logs("hostb", "mom_logs", quoted(id)+";Executing begin$"); got <= n {
				return fmt.Errorf("it has %d times", got)
			}
			return nil
		})
		w.kills("hostb")
	}
	defer w.goOn()()
	w.begins(id)
	return id
}

func (w *startup) superiorDiesBefore() string {
	id := w.submit(r1, "holds,begin-hostb")
	w.logged("hosta", ";Node;"+quoted(id)+";job node_list_fail: node hostb$")
	w.kills("hosta")
	defer w.goOn()()
	w.begins(id)
	return id
}

// superiorDiesWithin: a sister that stays is silent, so that the mother superior waits for it when
// the pruning is committed.
func (w *startup) superiorDiesWithin() string {
	id := w.submit(r1, "holds,begin-hostb")
	w.logged("hosta", quoted(id)+";Executing launch$")
	signalTo(w.t, w.Cluster, "hostd", syscall.SIGSTOP)
	defer w.goOn()()
	w.logged("hosta", quoted(id)+";pruned to exec_vnode=")
	if n := w.logs("hosta", "mom_logs", quoted(id)+";Started, pid"); n != 0 {
		w.t.Errorf("inconclusive: the program was started before the mom died")
	}
	kill(w.t, w.Cluster, "hosta")
	signalTo(w.t, w.Cluster, "hostd", syscall.SIGCONT)
	if err := w.Restart(w.t.Context(), "hosta"); err != nil {
		w.t.Fatal(err)
	}
	w.begins(id)
	return id
}

func (w *startup) superiorDiesAfter() string {
	id := w.submit(r1, "begin-hostb")
	w.logged("hosta", quoted(id)+";Started, pid")
	before := []string{}
	waitFor(w.t, patience, "the program", func() error {
		if before = w.steadies(id); len(before) != 1 {
			return fmt.Errorf("%q", before)
		}
		return nil
	})
	w.kills("hosta")
	w.begins(id)
	w.shows(id, "run_count = 1")
	return id
}
