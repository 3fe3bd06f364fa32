package sched_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/transport/build"
)

// RSV-26 to RSV-28, RSV-32: a job accumulates memory, for so many dispatch turns, pauses for one, and begins anew.
func TestReserving_Memory(t *testing.T) {
	t.Run("RSV-26, RSV-27", func(t *testing.T) {
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=10,mem=1000mb")
		for i := range 2 {
			c.job(fmt.Sprint(i+1), "reservation", "select=1:ncpus=1:mem=400mb walltime=5:00:00")
		}
		c.until(passed(10))
		c.job("3", "reservation", "select=1:ncpus=1:mem=400mb walltime=5:00:00")
		c.want("T0+10", "1: runs (hosta:ncpus=1:mem=409600kb)", "2: runs (hosta:ncpus=1:mem=409600kb)", "3: 1/200*hosta, 22 20:00:00")
		c.until(passed(40))
		c.job("4", "normal", "select=1:ncpus=1:mem=150mb")
		c.want("T0+40", "4: nothing")
		c.until(passed(599))
		c.want("T0+599", "3: 1/200*hosta, 22 20:00:00", "4: nothing")
		c.until(passed(600))
		c.want("T0+600", "3: nothing", "4: runs (hosta:ncpus=1:mem=153600kb)")
		c.until(passed(629))
		c.want("T0+629", "3: nothing")
		c.until(passed(630))
		c.want("T0+630", "3: 1/50*hosta, 22 20:00:00")
	})
	t.Run("RSV-28", func(t *testing.T) {
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=10,mem=1000mb")
		c.making("reservation", "resource_reserve=3")
		for i := range 2 {
			c.job(fmt.Sprint(i+1), "reservation", "select=1:ncpus=1:mem=400mb walltime=5:00:00")
		}
		c.until(passed(10))
		c.job("3", "reservation", "select=1:ncpus=1:mem=400mb walltime=5:00:00")
		for _, x := range []struct {
			at    int
			holds bool
		}{{10, true}, {30, true}, {60, true}, {89, true}, {90, false}, {119, false}, {120, true}, {150, true}, {180, true}, {209, true}, {210, false}} {
			c.until(passed(x.at))
			if got := strings.HasPrefix(c.shows("3"), "1/200"); got != x.holds {
				t.Errorf("T0+%d: it has %q", x.at, c.shows("3"))
			}
		}
	})
	t.Run("RSV-29", func(t *testing.T) {
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=4,mem=1000mb")
		for i := range 4 {
			c.job(fmt.Sprint(i), "normal", "select=1:ncpus=1")
		}
		c.job("j", "reservation", "select=1:ncpus=1:mem=400mb")
		c.want("T0", "j: nothing")
	})
	t.Run("RSV-30", func(t *testing.T) {
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=10,mem=1000mb")
		c.job("a", "normal", "select=1:ncpus=1:mem=300mb walltime=0:05:00")
		c.job("b", "normal", "select=1:ncpus=1:mem=500mb walltime=1:00:00")
		c.until(passed(10))
		c.job("c", "reservation", "select=1:ncpus=1:mem=600mb walltime=0:10:00")
		c.want("T0+10", "c: 1/200*hosta, 22 16:00:00")
		c.until(passed(300))
		c.want("T0+300", "c: 1/500*hosta, 22 16:00:00")
		c.until(passed(400))
		c.kill(c.names["b"])
		c.want("T0+400", "c: runs (hosta:ncpus=1:mem=614400kb)")
	})
	t.Run("RSV-31", func(t *testing.T) {
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=2,mem=1000mb")
		c.job("x", "normal", "select=1:ncpus=1")
		c.job("j", "reservation", "select=1:ncpus=2:mem=60mb:host=hosta place=pack")
		c.want("T0", "j: 1/60*hosta")
	})
	t.Run("RSV-33", func(t *testing.T) { // with the memory of each slot in its chunk
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=10,mem=1000mb")
		for i := range 3 {
			c.job(fmt.Sprint(i+1), "reservation", "select=4:ncpus=1:mem=100mb walltime=5:00:00")
		}
		c.want("T0", "3: 2/200*hosta, 22 20:00:00")
	})
	t.Run("RSV-35", func(t *testing.T) {
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=10,mem=1000mb")
		for i := range 2 {
			c.job(fmt.Sprint(i+1), "reservation", "select=1:ncpus=1:mem=400mb walltime=5:00:00")
		}
		c.until(passed(10))
		c.job("3", "reservation", "select=1:ncpus=1:mem=400mb walltime=5:00:00")
		c.until(passed(20))
		c.job("4", "backfill", "select=1:ncpus=1:mem=50mb walltime=6:40:00")
		c.job("5", "backfill", "select=1:ncpus=1:mem=50mb walltime=1:40:00")
		c.job("6", "backfill", "select=1:ncpus=1:mem=300mb walltime=1:40:00")
		c.job("7", "backfill", "select=1:ncpus=1 walltime=1:40:00")
		c.want("T0+20", "4: nothing", "5: runs (hosta:ncpus=1:mem=51200kb)", "6: nothing", "7: runs (hosta:ncpus=1)", "3: 1/150*hosta, 22 20:00:00")
	})
}

// four has the hosts A to D of 6.7 with their jobs; later and last are when the second and the third of them end.
func (c *turning) four(job4, job1 string) {
	for _, h := range []string{"A", "B", "C", "D"} {
		c.host(h, h+":ncpus=4,mem=1gb")
	}
	for _, j := range []struct{ name, sel, walltime string }{
		{"job2", "1:ncpus=1:host=A+1:ncpus=1:host=C", "0:30:00"},
		{"job4", "1:ncpus=2:host=A+1:ncpus=2:host=C", job4},
		{"job1", "1:ncpus=1:host=C+1:ncpus=1:host=D", job1},
		{"job3", "1:ncpus=4:host=B+1:ncpus=2:host=D", "4:00:00"},
	} {
		c.job(j.name, "normal", "select="+j.sel+" walltime="+j.walltime)
	}
}

const job5 = "select=3:ncpus=2 place=scatter walltime=1:00:00"

// RSV-37, RSV-39, RSV-48: slots that are free are kept, and the estimate counts slots, wherever they are.
func TestReserving_Greedy(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	t.Run("RSV-37", func(t *testing.T) {
		c := newTurning(t)
		c.four("1:00:00", "2:00:00")
		c.job("job5", "slots", job5)
		c.want("T0", "job5: 1/0*A 1/0*D, 22 16:00:00")
	})
	t.Run("RSV-39", func(t *testing.T) {
		c := newTurning(t)
		c.four("2:00:00", "1:00:00")
		c.job("job5", "slots", job5)
		c.want("T0", "job5: 1/0*A 1/0*D, 22 16:00:00")
	})
	for _, x := range []struct{ queue, walltime, want string }{
		{"backfill", "1:00:00", "runs"}, {"backfill", "1:30:00", "runs"}, {"backfill", "1:31:00", "nothing"}, {"backfill", "", "nothing"}, {"normal", "1:00:00", "nothing"},
	} {
		t.Run("RSV-48 "+x.queue+x.walltime, func(t *testing.T) {
			c := newTurning(t)
			c.host("hosta", "hosta:ncpus=4,mem=1gb")
			c.job("job1", "normal", "select=1:ncpus=1 walltime=2:00:00")
			c.until(passed(60))
			c.job("job2", "slots", "select=4:ncpus=1 walltime=1:00:00")
			c.until(passed(1800))
			c.want("T0+1800", "job2: 3/0*hosta, 22 17:00:00")
			request := "select=2:ncpus=1"
			if x.walltime != "" {
				request += " walltime=" + x.walltime
			}
			c.job("b", pbs.QueueName(x.queue), request)
			if got := c.shows("b"); !strings.HasPrefix(got, x.want) {
				t.Errorf("%q, want %s", got, x.want)
			}
			if x.want != "runs" {
				return // job2 pauses each 10 minutes, and then others start
			}
			c.until(2 * time.Hour)
			if got := c.shows("job2"); !strings.HasPrefix(got, "runs") {
				t.Errorf("job2 after its estimate: %q", got)
			}
		})
	}
}

// What is kept is of hosts as the job can have them: of chunks that are apart as many slots as a host may give, and of a group of hosts that
// could hold the job (docs/spec/reservation.md, sections 5.4 and 6.4).
func TestReserving_GreedyAsItFits(t *testing.T) {
	busy := func(c *turning, hosts ...string) { // name:ncpus:used, in color
		for _, h := range hosts {
			f := strings.Split(h, ":")
			c.host(f[0], f[0]+":ncpus="+f[1]+",mem=1000mb,color="+f[3])
			if f[2] != "0" {
				c.job("on"+f[0], "normal", "select=1:ncpus="+f[2]+":host="+f[0]+" walltime=1:00:00")
			}
		}
	}
	for _, x := range []struct {
		name    string
		perSlot bool
		hosts   string
		queue   pbs.QueueName
		job     string
		want    string
	}{
		{"a rest beside a part", false, "A:4:3:x B:4:3:x C:4:3:x D:4:2:x", "slots", "select=2:ncpus=2+1:ncpus=1 place=scatter", "1/0*A 1/0*B 1/0*C 2/0*D, 22 16:00:00"},
		{"no more than a whole one", false, "A:4:3:x B:4:4:x C:4:4:x D:4:1:x", "slots", "select=2:ncpus=2+1:ncpus=1 place=scatter", "1/0*A 2/0*D, 22 16:00:00"},
		{"chunks that differ", false, "A:4:3:x B:4:3:x C:4:3:x D:4:2:x", "slots", "select=2:ncpus=2+1:ncpus=1:color=x place=scatter", "1/0*A 1/0*B 1/0*C 1/0*D, 22 16:00:00"},
		{"a set that could hold it", false, "A:8:6:red B:4:3:blue C:4:4:blue D:4:4:blue", "slots", "select=3:ncpus=2 place=scatter:group=color", "1/0*B, 22 16:00:00"},
		{"of two sets the first", false, "A:4:2:red B:4:4:red C:4:2:blue", "slots", "select=4:ncpus=1 place=free:group=color", "2/0*A, 22 16:00:00"},
		{"a set in the order of the job", false, "A:8:7:red B:4:3:red", "slots", "select=6:ncpus=1 place=free:group=color lsf_resreq=order[-ncpus] lsf_order=-ncpus", "1/0*B 1/0*A, 22 16:00:00"},
		{"of two sets the first in its order", false, "A:8:6:red B:4:2:blue", "slots", "select=3:ncpus=1 place=free:group=color lsf_resreq=order[-ncpus] lsf_order=-ncpus", "2/0*B, 22 16:00:00"},
		{"memory of a slot", true, "A:4:2:x", "reservation", "select=1:ncpus=4:mem=400mb place=pack", "2/200*A"},
		{"memory of a chunk", false, "A:4:2:x", "reservation", "select=1:ncpus=4:mem=400mb place=pack", "2/400*A, 22 16:00:00"},
		{"memory of a host", false, "A:4:3:x B:4:3:x C:4:3:x D:4:2:x", "reservation", "select=2:ncpus=2:mem=50mb+1:ncpus=1:mem=50mb place=scatter", "1/50*A 1/50*B 1/50*C 2/50*D, 22 16:00:00"},
		{"memory of its slots", true, "A:4:3:x B:4:3:x C:4:3:x D:4:2:x", "reservation", "select=2:ncpus=2:mem=100mb+1:ncpus=1:mem=50mb place=scatter", "1/50*A 1/50*B 1/50*C 2/100*D, 22 16:00:00"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := newTurning(t)
			c.commit(&command.ManageResource{Verb: command.VerbCreate, Name: "color", Changes: []command.AttrChange{
				{Entry: attr.Entry{Name: "type", Value: "string"}}, {Entry: attr.Entry{Name: "flag", Value: "h"}},
			}})
			config := lsf.Unconfigured()
			config.PerSlot = x.perSlot
			c.configured(config)
			busy(c, strings.Fields(x.hosts)...)
			c.job("j", x.queue, x.job)
			c.want("T0", "j: "+x.want)
		})
	}
}

// three has the hosts of 6.8 with their jobs, in the order of their load; long is for how long the second of them runs.
func (c *turning) three(second string) {
	for _, h := range []string{"qat25", "qat24", "qat26"} {
		c.host(h, h+":ncpus=4,mem=1gb")
	}
	c.job("11895", "normal", "select=4:ncpus=1:host=qat24 walltime=10:00:00")
	c.job("11896", "normal", "select=4:ncpus=1:host=qat25"+second)
	c.job("11897", "normal", "select=2:ncpus=1:host=qat26 walltime=9:00:00")
	c.until(passed(60))
}

const (
	job11898 = "select=3:ncpus=2 place=scatter walltime=14:00:00"
	onThree  = "(qat25:ncpus=2)+(qat24:ncpus=2)+(qat26:ncpus=2)"
)

// RSV-38, RSV-40 to RSV-47: jobs are given the first time at which they can have all of their slots together.
func TestReserving_ByTime(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("one goroutine does all of it, and slowly under the race detector: make test plays it without")
	}
	t.Run("RSV-38, RSV-40", func(t *testing.T) {
		c := newTurning(t)
		c.byTime(1)
		c.four("1:00:00", "2:00:00")
		c.job("job5", "slots", job5)
		c.want("T0", "job5: 1/0*A 1/0*D, 22 17:00:00 (A:ncpus=2)+(C:ncpus=2)+(D:ncpus=2)")
		c.until(passed(4200))
		c.kill(c.names["job1"])
		c.want("T0+4200", "job5: runs (A:ncpus=2)+(C:ncpus=2)+(D:ncpus=2)")
	})
	t.Run("RSV-39", func(t *testing.T) {
		c := newTurning(t)
		c.byTime(1)
		c.four("2:00:00", "1:00:00")
		c.job("job5", "slots", job5)
		c.want("T0", "job5: 1/0*A 1/0*D, 22 16:00:00 (A:ncpus=2)+(C:ncpus=2)+(D:ncpus=2)")
	})
	t.Run("RSV-41", func(t *testing.T) {
		c := newTurning(t)
		c.byTime(1)
		c.three(" walltime=12:00:00")
		c.job("11898", "slots", job11898)
		c.want("T0+60", "11898: 2/0*qat26, 23 03:00:00 "+onThree)
		c.job("11900", "slots", "select=2:ncpus=1 place=scatter walltime=1:00:00")
		c.want("RSV-45", "11900: nothing")
		c.until(12*time.Hour - time.Second)
		c.want("one second before", "11898: 2/0*qat24 2/0*qat26, 23 03:00:00 "+onThree)
		c.until(12 * time.Hour)
		c.want("on time", "11898: runs "+onThree)
	})
	t.Run("RSV-42", func(t *testing.T) {
		c := newTurning(t)
		c.three(" walltime=12:00:00")
		c.job("11898", "slots", job11898)
		c.want("T0+60", "11898: 2/0*qat26, 23 01:00:00")
	})
	t.Run("RSV-43", func(t *testing.T) {
		c := newTurning(t)
		c.byTime(1)
		c.three("")
		c.job("11898", "slots", job11898)
		c.want("T0+60", "11898: 2/0*qat26, 23 01:00:00")
	})
	for queue, want := range map[pbs.QueueName]string{"slots": "nothing", "slotsbf": "nothing, 23 00:00:00 (qat26:ncpus=4)"} {
		t.Run("RSV-44 "+string(queue), func(t *testing.T) {
			c := newTurning(t)
			c.byTime(2)
			c.three(" walltime=12:00:00")
			c.job("11898", queue, job11898)
			c.job("11899", queue, "select=1:ncpus=4 place=pack walltime=1:00:00")
			c.want("T0+60", "11898: 2/0*qat26, 23 03:00:00 "+onThree, "11899: "+want)
		})
	}
	t.Run("RSV-45", func(t *testing.T) {
		c := newTurning(t)
		c.byTime(2)
		c.three(" walltime=12:00:00")
		c.job("11898", "slots", job11898)
		c.job("11900", "slots", "select=2:ncpus=1 place=scatter walltime=1:00:00")
		c.want("T0+60", "11900: nothing, 23 01:00:00 (qat24:ncpus=1)+(qat26:ncpus=1)")
	})
	t.Run("RSV-46", func(t *testing.T) {
		c := newTurning(t)
		c.byTime(1)
		for _, h := range []string{"hosta", "hostb"} {
			c.host(h, h+":ncpus=4,mem=1000mb")
		}
		c.job("x", "normal", "select=2:ncpus=2 place=scatter walltime=1:00:00")
		c.job("y", "slots", "select=6:ncpus=1 walltime=0:10:00")
		if got := c.shows("y"); !strings.HasPrefix(got, "2/0*hosta 2/0*hostb, 22 16:00:00 (hosta:") {
			t.Errorf("y: %q", got)
		}
	})
	t.Run("RSV-47", func(t *testing.T) {
		c := newTurning(t)
		c.byTime(1)
		for _, h := range []string{"hosta", "hostb"} {
			c.host(h, h+":ncpus=4,mem=1000mb")
		}
		c.job("x", "normal", "select=1:ncpus=4:host=hosta walltime=1:00:00")
		c.job("z", "slots", "select=8:ncpus=1 walltime=1:00:00")
		if got := c.shows("z"); !strings.HasPrefix(got, "4/0*hostb, 22 16:00:00 (hosta:") {
			t.Errorf("z: %q", got)
		}
	})
}

// byTime sets LSB_TIME_RESERVE_NUMJOBS.
func (c *turning) byTime(jobs int) {
	if config := lsf.Unconfigured(); jobs > 0 {
		config.TimeReserveJobs = int64(jobs)
		c.configured(config)
	}
}

func (c *turning) configured(config *lsf.Config) {
	c.t.Helper()
	if out := c.commit(&command.Reconfigure{Config: *config}); out.Refusal != nil {
		c.t.Fatal(out.Refusal)
	}
}

// RSV-36: without the module that reserves nothing is kept; without that of parallel jobs before it jobs of several slots keep nothing.
func TestReserving_Modules(t *testing.T) {
	for _, x := range []struct {
		modules []string
		wide    string
		want    string
	}{
		{[]string{lsf.ModuleDefault, lsf.ModuleParallel}, "1", "nothing"},
		{[]string{lsf.ModuleReserve, lsf.ModuleParallel}, "2", "nothing"},
		{[]string{lsf.ModuleReserve, lsf.ModuleParallel}, "1", "1/200*hosta"},
		{[]string{lsf.ModuleParallel, lsf.ModuleReserve}, "2", "2/200*hosta"},
	} {
		c := newTurning(t)
		config := lsf.Unconfigured()
		config.Modules = x.modules
		c.configured(config)
		c.host("hosta", "hosta:ncpus=10,mem=1000mb")
		c.job("1", "normal", "select=1:ncpus=1:mem=800mb")
		c.job("2", "reservation", "select=1:ncpus="+x.wide+":mem=400mb")
		c.want(strings.Join(x.modules, " "), "2: "+x.want)
	}
}
