package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// watcher is a Watch call and what it was told.
type watcher struct {
	b      *bench
	cancel context.CancelFunc
	done   chan error

	mu     sync.Mutex
	news   []string // since the last look
	first  *api.WatchReply
	index  uint64 // the last one told
	resync bool
}

func (b *bench) watch(who string, r *api.WatchRequest) *watcher {
	ctx, cancel := context.WithCancel(b.as(who))
	w := &watcher{b: b, cancel: cancel, done: make(chan error, 1)}
	if r.Attributes == nil {
		r.Attributes = []string{"job_state", "Job_Name"}
	}
	go func() {
		w.done <- b.Batch.watch(ctx, r, func(m *api.WatchReply) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.first == nil {
				w.first = m
			}
			if len(m.GetObjects()) > 0 {
				w.news = append(w.news, shown(m.GetObjects()))
			}
			for _, g := range m.GetGone() {
				w.news = append(w.news, fmt.Sprintf("%s gone %v %d %v", g.GetName(), g.GetExited(), g.GetExitStatus(), g.GetFinished()))
			}
			w.index, w.resync = max(w.index, m.GetIndex()), w.resync || m.GetResync()
			return nil
		})
	}()
	return w
}

// expect looks at what was told since the last look, when nothing moves any more.
func (w *watcher) expect(what string, want ...string) {
	w.b.t.Helper()
	time.Sleep(2 * watchPause)
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := strings.Join(w.news, "\n"); got != strings.Join(want, "\n") {
		w.b.t.Errorf("%s: told\n%s\nwant\n%s", what, got, strings.Join(want, "\n"))
	}
	w.news = nil
}

// stop ends the call and returns the index up to which it has told everything.
func (w *watcher) stop() uint64 {
	w.cancel()
	<-w.done
	return w.index
}

func (b *bench) delete(who, job string) {
	b.t.Helper()
	if _, err := b.Batch.Delete(b.as(who), request(&api.DeleteRequest{Job: job, History: true}, "")); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) hold(job string) {
	b.t.Helper()
	if _, err := b.Batch.Hold(b.as("ann@h"), request(&api.HoldRequest{Job: job, Holds: "u"}, "")); err != nil {
		b.t.Fatal(err)
	}
}

func TestWatch_TellsWhatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		a := b.mustSubmit("ann@h", set("Job_Name", "a"))
		w := b.watch("ann@h", &api.WatchRequest{})
		w.expect("at first", "0.srv{Job_Name=a job_state=Q}")
		if w.first.GetHeader().GetServer() != "srv" || w.first.GetEpoch() != 7 {
			t.Errorf("the first message is %v", w.first)
		}
		b.mustSubmit("ann@h", set("Job_Name", "b"))
		b.hold(a)
		w.expect("a new job and one that is held", "1.srv{Job_Name=b job_state=Q}\n0.srv{Job_Name=a job_state=H}")
		b.delete("ann@h", a)
		w.expect("a deletion", "0.srv gone false 0 false")
		w.expect("nothing")
		from := w.stop()

		b.mustSubmit("ann@h", set("Job_Name", "c"))
		b.delete("ann@h", "1.srv")
		w = b.watch("ann@h", &api.WatchRequest{Epoch: 7, From: from})
		w.expect("what was missed", "2.srv{Job_Name=c job_state=Q}", "1.srv gone false 0 false")
		w.stop()
	})
}

// jobLines are the lines of the server's log about jobs.
type jobLines struct {
	mu  sync.Mutex
	all []string
}

func (l *jobLines) Write(_ time.Time, event uint16, class, object, text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if event == pbs.LogJob && class == "Job" {
		l.all = append(l.all, object+";"+text)
	}
	return nil
}

// The log tells that a qsub that waited for the end of its job has been told of it, and nobody else.
func TestWatch_AnswersWhoBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		log := new(jobLines)
		b.Batch.Log = log
		id := b.mustSubmit("ann@h", set("block", "True"))
		own := b.watch("ann@h", &api.WatchRequest{Names: []string{id}})
		other := b.watch("ann@elsewhere", &api.WatchRequest{Names: []string{id}})
		own.expect("at first", id+"{Job_Name=STDIN job_state=Q}")
		b.delete("ann@h", id)
		own.expect("the end", id+" gone false 0 false")
		own.stop()
		other.stop()
		log.mu.Lock()
		defer log.mu.Unlock()
		if want := id + ";check_block_wt: Write successful to client h for job " + id; !slices.Equal(log.all, []string{want}) {
			t.Errorf("the log has %q", log.all)
		}
	})
}

func TestWatch_NamedJobsToTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.host("hosta", "hosta")
		first, second := b.mustSubmit("ann@h"), b.mustSubmit("ann@h")
		b.mustSubmit("ann@h")
		attributes := []string{"job_state", "Exit_status"}
		w := b.watch("ann@h", &api.WatchRequest{Names: []string{"0", second, "99", "x"}, Attributes: attributes})
		w.expect("at first", strings.Join([]string{
			"x!1 illegally formed job identifier", "0.srv{job_state=Q}", "1.srv{job_state=Q}", "99.srv!15001 Unknown Job Id",
		}, "\n"))
		b.do(&command.StartJob{Job: pbs.JobID(first), ExecVnode: "(hosta:ncpus=1)"})
		b.do(&command.JobStarted{Source: command.Source{Host: "hosta", Spool: "s", Seq: 1}, Job: pbs.JobID(first), RunCount: 1, Session: 5})
		w.expect("it runs", "0.srv{job_state=R}")
		b.do(&command.JobEnded{Source: command.Source{Host: "hosta", Spool: "s", Seq: 2}, Job: pbs.JobID(first), RunCount: 1, ExitStatus: 3})
		w.expect("it has ended", "0.srv{job_state=F Exit_status=3}")
		b.delete("ann@h", second)
		w.expect("the other one is deleted", "1.srv gone false 0 false")
		if err := <-w.done; err != nil {
			t.Errorf("the watch ends with %v", err)
		}
		b.delete("ann@h", first)
		w = b.watch("ann@h", &api.WatchRequest{Names: []string{first}})
		w.expect("one that is gone before it is watched", "0.srv gone true 3 true")
		if err := <-w.done; err != nil {
			t.Errorf("the watch ends with %v", err)
		}
	})
}

func TestWatch_Resync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		from := b.index
		for range 2 {
			b.delete("ann@h", b.mustSubmit("ann@h"))
			time.Sleep(11 * time.Minute)
		}
		b.delete("ann@h", b.mustSubmit("ann@h")) // the first tombstone goes
		for name, r := range map[string]*api.WatchRequest{
			"forgotten":             {Epoch: 7, From: from},
			"another epoch":         {Epoch: 8, From: b.index},
			"not yet":               {Epoch: 7, From: b.index + 1},
			"named, and forgotten":  {Epoch: 7, From: from, Names: []string{"0"}},
			"named, another epoch":  {Epoch: 8, From: b.index, Names: []string{"0"}},
			"known to the last one": {Epoch: 7, From: b.index},
		} {
			w := b.watch("ann@h", r)
			w.expect(name)
			if want := name != "known to the last one"; w.resync != want {
				t.Errorf("%s: resync is %v", name, w.resync)
			}
			w.stop()
		}
	})
}

func TestWatch_OnlyWhatOneMaySee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: entry("query_other_jobs", "False")}}})
		mine, other := b.mustSubmit("ann@h"), b.mustSubmit("bob@h")
		w := b.watch("ann@h", &api.WatchRequest{})
		w.expect("at first", "0.srv{Job_Name=STDIN job_state=Q}")
		b.delete("bob@h", other)
		b.delete("ann@h", mine)
		w.expect("of two deletions", "0.srv gone false 0 false")
		w.stop()
		w = b.watch("ann@h", &api.WatchRequest{Names: []string{other}})
		w.expect("another's job, by name", "1.srv!15007 Unauthorized Request ")
		w.stop()
	})
}

// TestWatch_ManyJobs: a page at a time, each job at least once, and what changes
// meanwhile again.
func TestWatch_ManyJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		all := make([]command.Command, 2*objectsPerMessage+10)
		for i := range all {
			all[i] = &command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}}
		}
		b.do(all...)
		seen := map[string]string{}
		ctx, cancel := context.WithCancel(b.as("ann@h"))
		messages := 0
		err := b.Batch.watch(ctx, &api.WatchRequest{Attributes: []string{"job_state"}}, func(m *api.WatchReply) error {
			if messages++; messages == 1 {
				b.hold("5.srv")
			}
			for _, o := range m.GetObjects() {
				seen[o.GetName()] = o.GetAttributes()[0].GetValue()
			}
			if m.GetIndex() > 0 {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || messages != 3 || len(seen) != len(all) || seen["5.srv"] != "H" {
			t.Errorf("%d messages of %d jobs, 5.srv is %s: %v", messages, len(seen), seen["5.srv"], err)
		}
	})
}

// TestWatch_LeavesAReplicaThatIsCutOff: an old state is not told for long.
func TestWatch_LeavesAReplicaThatIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		w := b.watch("ann@h", &api.WatchRequest{})
		b.mustSubmit("ann@h")
		time.Sleep(3 * watchBeat)
		synctest.Wait()
		if w.index != b.index {
			t.Errorf("told up to %d of %d", w.index, b.index)
		}
		b.mu.Lock()
		b.cutOff = cluster.ErrNotLeader
		b.mu.Unlock()
		begin := time.Now()
		if err := <-w.done; !errors.Is(err, cluster.ErrNotLeader) || time.Since(begin) > watchBeat {
			t.Errorf("it ended after %s with %v", time.Since(begin), err)
		}
	})
}
