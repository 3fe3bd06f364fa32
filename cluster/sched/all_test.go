package sched_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// manage changes an object: "VERB KIND NAME ATTR=VALUE...", with the blanks of values as "_".
func (b *bench) manage(line string) {
	b.t.Helper()
	words := strings.Fields(line)
	verb := map[string]command.Verb{"create": command.VerbCreate, "delete": command.VerbDelete, "set": command.VerbSet}[words[0]]
	var changes []command.AttrChange
	for _, word := range words[3:] {
		name, value, _ := strings.Cut(word, "=")
		changes = append(changes, command.AttrChange{Entry: attr.Entry{Name: name, Value: strings.ReplaceAll(value, "_", " ")}})
	}
	switch words[1] {
	case "sched":
		b.do(&command.ManageSched{Verb: verb, Name: words[2], Changes: changes})
	case "queue":
		b.do(&command.ManageQueue{Verb: verb, Queue: pbs.QueueName(words[2]), Changes: changes})
	case "node":
		b.do(&command.ManageVnode{Verb: verb, Vnode: pbs.VnodeName(words[2]), Changes: changes})
	}
}

// submitTo queues a job in a queue.
func (b *bench) submitTo(queue pbs.QueueName, request string) pbs.JobID {
	b.t.Helper()
	out := b.try(&command.SubmitJob{
		Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: queue, Attributes: attr.List{}.Set("Resource_List", "select", request),
	})
	if out.Refusal != nil {
		b.t.Fatal(out.Refusal)
	}
	return out.Result.Job
}

// notes are the lines of one log.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) SetMask(uint16) {}

func (n *notes) Write(_ time.Time, _ uint16, class, object, text string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, class+";"+object+";"+text)
	return nil
}

func (n *notes) has(line string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.lines, line)
}

// TestRunAll: a scheduler plans for what is in its partitions, with its own policy and log, from when it is started and on; what no
// other has is the default one's, and none waits for another.
func TestRunAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=4")
		l.host("hostb", "hostb:ncpus=4")
		for _, line := range []string{
			"create queue q1 queue_type=Execution enabled=True started=True partition=P1", "set node hostb partition=P1",
			"create sched sc1 partition=P1 strict_ordering=True backfill=False",
		} {
			l.manage(line)
		}
		own := &notes{}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- sched.RunAll(ctx, sched.Options{
				Source: l, Proposer: l, Log: l, Turns: sched.NewTurns(), Rounds: sched.NewRounds(), Logger: slog.New(slog.DiscardHandler),
				Asker: pbs.User{Name: "Scheduler", Host: "hosta"},
			}, func(string) sched.Log { return own })
		}()
		var jobs []pbs.JobID
		come := func(queue pbs.QueueName, request string) {
			l.now(func() { jobs = append(jobs, l.submitTo(queue, request)) })
		}
		states := func(want, when string) {
			t.Helper()
			time.Sleep(time.Minute)
			synctest.Wait()
			got := ""
			for _, id := range jobs {
				got += l.state(id)
			}
			if got != want {
				t.Errorf("%s jobs are %s, want %s", when, got, want)
			}
		}
		come("workq", "1:ncpus=4")
		come("q1", "1:ncpus=3")
		states("RQ", "while it is down")
		l.now(func() { l.manage("set sched sc1 state=idle") })
		states("RQ", "while its scheduling is off")
		l.now(func() { l.manage("set sched sc1 scheduling=True") })
		states("RR", "when it plans")
		if j, _ := l.View().Job(jobs[1]); j.Run.ExecVnode.String() != "(hostb:ncpus=3)" {
			t.Errorf("the job of the partition has %s", j.Run.ExecVnode)
		}
		come("q1", "1:ncpus=4")
		come("q1", "1:ncpus=1")
		states("RRQQ", "where the first that waits bars others") // strict_ordering without backfill
		for line, want := range map[string]bool{
			"Job;1.srv;Job run": true, "Job;0.srv;Job run": false, "Job;2.srv;Considering job to run": true, "Req;;Starting Scheduling Cycle": true,
		} {
			if own.has(line) != want {
				t.Errorf("its log has %q: %t\n%s", line, !want, strings.Join(own.lines, "\n"))
			}
		}
		l.now(func() { l.do(scheduling("False")) })
		l.now(func() { l.do(&command.DeleteJob{Job: jobs[2], Force: true}) })
		jobs = slices.Delete(jobs, 2, 3)
		states("RRR", "while the default one is off")
		l.now(func() { l.do(&command.DeleteJob{Job: jobs[2], Force: true}) })
		jobs = jobs[:2]
		l.now(func() { l.manage("set sched sc1 state=down") })
		come("q1", "1:ncpus=1")
		l.now(func() { l.do(scheduling("True")) })
		states("RRQ", "when it is down again")
		l.now(func() { l.manage("delete sched sc1") })
		states("RRR", "when its partition is the default one's")
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A new reservation gets its vnodes from the first scheduler that has some, the default one first; it is denied when none has. Its
// jobs are that one's to start.
func TestRunAll_Reservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newClock(t).three()
		for _, line := range []string{
			"set node hostb partition=P1", "set node hostc partition=P2",
			"create sched sc1 partition=P1 state=idle scheduling=True", "create sched sc2 partition=P3,P2 state=idle scheduling=True",
		} {
			b.manage(line)
		}
		l := &leader{bench: b.bench, changed: make(chan struct{})}
		var all []pbs.ReservationID
		for range 4 {
			all = append(all, b.reserve("select=1:ncpus=8", 1, 600))
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- sched.RunAll(ctx, sched.Options{Source: l, Proposer: l, Log: l, Logger: slog.New(slog.DiscardHandler)}, func(string) sched.Log { return &notes{} })
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		for i, want := range []string{"CO (hosta:ncpus=8)", "CO (hostb:ncpus=8)", "CO (hostc:ncpus=8)", "gone"} {
			if got := b.given(all[i]); got != want {
				t.Errorf("reservation %d: %s, want %s", i, got, want)
			}
		}
		for i, want := range []string{"pbs-default", "P1", "P2"} {
			r, _ := l.View().Reservation(all[i])
			shown := l.View().ReservationAttributes(r)
			if !slices.Contains(shown, attr.Entry{Name: "partition", Value: want}) {
				t.Errorf("reservation %d is not in partition %s: %v", i, want, shown)
			}
			if q, _ := l.View().Queue(all[i].Queue()); q.Get("partition") != want {
				t.Errorf("its queue is in %s, want %s", q.Get("partition"), want)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// What a planner keeps of vnodes and requests follows the partitions of its scheduler, and of vnodes and queues.
func TestPlanner_FollowsItsPartitions(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"hosta", "hostb", "hostc"} {
		b.host(name, name+":ncpus=2")
	}
	b.manage("create queue q1 queue_type=Execution enabled=True started=True")
	b.manage("create sched sc1 partition=P1 state=idle scheduling=True")
	for range 3 {
		b.submitTo("q1", "1:ncpus=2")
		b.submitTo("workq", "1:ncpus=2")
	}
	kept := map[string]*sched.Planner{"default": sched.NewPlanner(), "sc1": sched.NewPlanner()}
	starts := func(p sched.Plan) (text string) {
		for _, s := range p.Starts {
			text += " " + string(s.Job) + s.ExecVnode
		}
		return text
	}
	for _, step := range []struct{ do, first, sc string }{
		{"set queue q1 partition=P1", " 1.srv(hosta:ncpus=2) 3.srv(hostb:ncpus=2) 5.srv(hostc:ncpus=2)", ""},
		{"set node hostb partition=P1", " 1.srv(hosta:ncpus=2) 3.srv(hostc:ncpus=2)", " 0.srv(hostb:ncpus=2)"},
		{"set node hosta partition=P2", " 1.srv(hostc:ncpus=2)", " 0.srv(hostb:ncpus=2)"},
		{"set sched sc1 partition=P1,P2", " 1.srv(hostc:ncpus=2)", " 0.srv(hostb:ncpus=2)"},
		{"set queue q1 partition=P2", " 1.srv(hostc:ncpus=2)", " 0.srv(hosta:ncpus=2)"},
		{"set node hostc partition=P2", "", " 0.srv(hosta:ncpus=2) 2.srv(hostc:ncpus=2)"},
		{"set sched sc1 partition=P1", " 0.srv(hosta:ncpus=2) 2.srv(hostc:ncpus=2)", ""}, // P2 is nobody else's
		{"delete sched sc1", " 0.srv(hosta:ncpus=2) 2.srv(hostc:ncpus=2)", "none"},
	} {
		b.manage(step.do)
		for name, want := range map[string]string{"default": step.first, "sc1": step.sc} {
			v, ok := b.store.View().For(name)
			if !ok {
				if want != "none" {
					t.Errorf("%s: there is no %s", step.do, name)
				}
				continue
			}
			if got, fresh := starts(kept[name].Plan(v, start)), starts(sched.Make(v, start)); got != want || fresh != want {
				t.Errorf("%s: %s plans%s, without what it has kept%s, want%s", step.do, name, got, fresh, want)
			}
		}
	}
}

// A vnode that is gone is seen although one of another scheduler has come: there are as many as before.
func TestPlanner_OneGoesAnotherComes(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta:ncpus=2")
	b.host("hostb", "hostb:ncpus=2")
	b.manage("create sched sc1 partition=P1 state=idle scheduling=True")
	id := b.submitTo("workq", "1:ncpus=2")
	p := sched.NewPlanner()
	plan := func() string {
		v, _ := b.store.View().For("default")
		if all := p.Plan(v, start).Starts; len(all) > 0 {
			return string(all[0].Job) + " " + all[0].ExecVnode
		}
		return "nothing"
	}
	if got := plan(); got != string(id)+" (hosta:ncpus=2)" {
		t.Fatalf("first %s starts", got)
	}
	b.manage("delete node hosta")
	b.manage("create node hostc partition=P1")
	if got := plan(); got != string(id)+" (hostb:ncpus=2)" {
		t.Errorf("%s starts", got)
	}
}
