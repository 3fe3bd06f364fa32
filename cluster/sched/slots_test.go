package sched_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/build"
)

// limiting configures a site.
func (c *turning) limiting(change func(*lsf.Config)) {
	c.t.Helper()
	config := lsf.Unconfigured()
	change(config)
	c.configured(config)
}

func number(n int64) *int64 { return &n }

// waits returns what a job waits for.
func (c *turning) waits(name string) string {
	j, _ := c.store.View().Job(c.names[name])
	return j.CommentText()
}

func (c *turning) wantWait(name, want string) {
	c.t.Helper()
	if got := strings.TrimPrefix(c.waits(name), state.NotRunning); got != want {
		c.t.Errorf("%s waits: %q, want %q", name, got, want)
	}
}

// Section 7 of docs/spec/reservation.md: limits on slots hold when jobs start, for what is kept, and for what is planned.
func TestSlots(t *testing.T) {
	t.Run("RSV-51", func(t *testing.T) {
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=4,mem=1gb")
		c.host("hostb", "hostb:ncpus=4,mem=1gb")
		c.making("slots", "max_run_res.ncpus=[o:PBS_ALL=4]")
		c.job("p", "slots", "select=2:ncpus=1 walltime=0:10:00")
		c.until(passed(10))
		c.job("q", "slots", "select=4:ncpus=1")
		c.until(passed(20))
		c.job("r", "slots", "select=2:ncpus=1")
		c.want("T0+20", "p: runs (hosta:ncpus=1)+(hosta:ncpus=1)", "q: 2/0*hosta, 22 15:10:00", "r: nothing")
		c.wantWait("q", "would exceed limit on resource ncpus in queue slots (R: 4 A: 2 T: 4)")
		c.wantWait("r", "would exceed limit on resource ncpus in queue slots (R: 2 A: 0 T: 4)")
		c.until(passed(600))
		c.want("T0+600", "q: runs (hosta:ncpus=1)+(hosta:ncpus=1)+(hosta:ncpus=1)+(hosta:ncpus=1)", "r: nothing")
	})
	t.Run("RSV-52", func(t *testing.T) {
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=4,mem=1gb")
		c.host("hostb", "hostb:ncpus=4,mem=1gb")
		c.limiting(func(l *lsf.Config) { l.Hosts = []lsf.Host{{Name: "hosta", Listed: true, UserSlots: number(1)}} })
		c.job("a", "normal", "select=1:ncpus=1:host=hosta")
		c.job("b", "normal", "select=1:ncpus=1:host=hosta")
		c.jobOf("u2", "c", "normal", "select=1:ncpus=1:host=hosta")
		c.job("d", "normal", "select=1:ncpus=1")
		c.want("T0", "a: runs (hosta:ncpus=1)", "b: nothing", "c: runs (hosta:ncpus=1)", "d: runs (hostb:ncpus=1)")
		c.wantWait("b", "Host's per-user job slot limit reached: hosta")
		v := c.store.View()
		j, _ := v.Job(c.names["b"])
		e := sched.Explain(v, j, nil)
		if len(e.Near) != 1 || fmt.Sprint(e.Near[0].Lacks) != "[{slots 1 0 1}]" || len(e.Room) > 0 {
			t.Errorf("Explain: near %+v, room %v", e.Near, e.Room)
		}
	})
	t.Run("RSV-53", func(t *testing.T) {
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=4,mem=1gb")
		c.commit(&command.ManageVnode{Verb: command.VerbSet, Vnode: "hosta", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "ncpus", Value: "8"}}}})
		c.making("normal", "lsf_pjob_limit=1.5")
		for i := range 7 {
			c.job(fmt.Sprint(i), "normal", "select=1:ncpus=1")
		}
		c.want("T0", "5: runs (hosta:ncpus=1)", "6: nothing")
		c.wantWait("6", "Queue's per-CPU job slot limit reached: hosta")
		c.job("other", "backfill", "select=1:ncpus=1")
		c.want("T0", "other: runs (hosta:ncpus=1)")
		c.kill(c.names["0"])
		c.want("T0", "6: runs (hosta:ncpus=1)")
	})
	t.Run("planned", func(t *testing.T) {
		c := newTurning(t)
		c.byTime(1)
		c.making("slots", "lsf_hjob_limit=2")
		c.host("A", "A:ncpus=4,mem=1gb")
		c.host("B", "B:ncpus=4,mem=1gb")
		c.job("x", "slots", "select=1:ncpus=2 walltime=1:00:00")
		c.job("y", "slots", "select=1:ncpus=2 walltime=2:00:00")
		c.job("z", "slots", "select=4:ncpus=1 walltime=1:00:00")
		c.want("T0", "x: runs (A:ncpus=2)", "y: runs (B:ncpus=2)", "z: nothing, 22 17:00:00 (A:ncpus=1)+(A:ncpus=1)+(B:ncpus=1)+(B:ncpus=1)")
		c.wantWait("z", "Queue's per-host job slot limit reached: A, B")
		c.until(time.Hour)
		c.want("T0+3600", "z: 2/0*A, 22 17:00:00 (A:ncpus=1)+(A:ncpus=1)+(B:ncpus=1)+(B:ncpus=1)")
		c.until(2 * time.Hour)
		c.want("T0+7200", "z: runs (A:ncpus=1)+(A:ncpus=1)+(B:ncpus=1)+(B:ncpus=1)")
	})
}

// Slots that a suspended job has given back count for no limit on hosts; it goes on when they may be its own again, and counts for those that
// start in the same cycle.
func TestSlots_SuspendedJobsGoOn(t *testing.T) {
	c := newTurning(t)
	c.limiting(func(l *lsf.Config) { l.Hosts = []lsf.Host{{Name: "hosta", Listed: true, UserSlots: number(2)}} })
	c.host("hosta", "hosta:ncpus=8,mem=1gb")
	c.job("x", "normal", "select=2:ncpus=1 walltime=2:00:00")
	c.until(passed(10))
	c.commit(&command.SignalJob{Job: c.names["x"], Signal: command.Suspend})
	c.confirm(c.names["x"])
	c.job("y", "normal", "select=1:ncpus=1 walltime=0:10:00")
	c.commit(&command.SignalJob{Job: c.names["x"], Signal: command.Resume})
	plan := func(when, want string) {
		t.Helper()
		p := sched.Make(c.store.View(), c.now)
		if got := fmt.Sprint(p.Resumes, started(p)); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	plan("beside another one of the user", "[]")
	c.cycle()
	c.wantWait("x", "Host's per-user job slot limit reached: hosta")
	c.end(c.names["y"])
	c.submit("u1", "z", "normal", "select=1:ncpus=1 walltime=0:10:00")
	plan("alone", "[0.srv]")
}

// No limit on slots is ever exceeded by what runs and what is kept together, whatever comes and ends, and nobody starves for one.
func TestSlots_Properties(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	rapid.Check(t, func(r *rapid.T) {
		c := newTurning(t)
		c.limiting(func(l *lsf.Config) {
			l.TimeReserveJobs = int64(rapid.IntRange(0, 2).Draw(r, "by time"))
			l.Hosts = []lsf.Host{{Name: "A", Listed: true, UserSlots: number(2)}}
			l.Limits = []lsf.Limit{
				{Name: "u1", Users: lsf.Consumers{Names: []string{"u1"}}, Hosts: lsf.Consumers{Names: []string{"B", "C"}}, Slots: number(4)},
				{Name: "each", Users: lsf.Consumers{Names: []string{lsf.AllHosts}, Each: true}, Slots: number(5)},
			}
		})
		c.making("slots", "lsf_hjob_limit=3 max_run_res.ncpus=[o:PBS_ALL=6]")
		for _, name := range []string{"A", "B", "C"} {
			c.host(name, name+":ncpus=4,mem=4gb")
		}
		jobs := rapid.IntRange(5, 20).Draw(r, "jobs")
		for i := range jobs {
			user := rapid.SampledFrom([]string{"u1", "u2"}).Draw(r, "user")
			queue := rapid.SampledFrom([]pbs.QueueName{"normal", "reservation", "slots", "slotsbf", "backfill"}).Draw(r, "queue")
			c.jobOf(user, fmt.Sprint(i), queue, fmt.Sprintf("select=%d:ncpus=1 walltime=0:%02d:00", rapid.IntRange(1, 5).Draw(r, "slots"), rapid.IntRange(1, 20).Draw(r, "minutes")))
			c.withinSlots()
			c.until(time.Duration(c.now-half) + passed(rapid.IntRange(0, 200).Draw(r, "seconds")))
			c.withinSlots()
		}
		for range jobs * 2 {
			c.until(time.Duration(c.now-half) + 10*time.Minute)
			c.withinSlots()
		}
		for name, id := range c.names {
			if j, ok := c.store.View().Job(id); ok && j.RunCount == 0 {
				t.Errorf("job %s of queue %s has never started: %s, %s", name, j.Queue, c.shows(name), c.waits(name))
			}
		}
	})
}

// withinSlots counts the slots that jobs have and that are kept, against the limits of TestSlots_Properties.
func (c *turning) withinSlots() {
	c.t.Helper()
	v := c.store.View()
	have := map[string]int64{}
	count := func(j *state.Job, vnode pbs.VnodeName, n int64) {
		user := string(j.Owner.Name)
		have["each "+user] += n
		if vnode == "A" {
			have["A "+user] += n
		} else if user == "u1" {
			have["u1"] += n
		}
		if j.Queue == "slots" {
			have["slots"] += n
			have["slots on "+string(vnode)] += n
		}
	}
	for j := range v.Jobs() {
		if j.State == pbs.Running {
			for _, ch := range j.LastRun().ExecVnode {
				for _, part := range ch.Parts {
					count(j, part.Vnode, 1)
				}
			}
		} else if j.Pending != nil {
			for _, k := range j.Pending.Held {
				count(j, k.Vnode, k.Slots)
			}
		}
	}
	for what, n := range have {
		most := map[string]int64{"each": 5, "A": 2, "u1": 4, "slots": 6}[strings.Fields(what)[0]]
		if strings.HasPrefix(what, "slots on") {
			most = 3
		}
		if n > most {
			c.t.Errorf("%s has %d slots, of %d at most", what, n, most)
		}
	}
}
