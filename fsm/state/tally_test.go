package state

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Tallies follow the jobs, and those of resources begin when a limit names them: they are
// never counted by looking at all jobs of a subject.
func TestTally_FollowsJobs(t *testing.T) {
	s := NewStore()
	tx := s.Tx()
	tx.PutQueue(&Queue{Name: "workq"})
	tx.PutQueue(&Queue{Name: "fast"})
	for i, queue := range []pbs.QueueName{"workq", "workq", "fast"} {
		j := &Job{
			ID: pbs.NewJobID(tx.NextJob(), "srv"), Seq: uint64(i), Queue: queue, State: pbs.Queued, Owner: pbs.User{Name: "ann"},
			Resources: resource.List{}.Set("mem", "1gb").Set("ncpus", "2"),
		}
		if i == 1 {
			j.Attrs = j.Attrs.Set("euser", "", "bob").Set("egroup", "", "staff").Set("project", "", "p1")
		}
		tx.PutJob(j)
	}
	check := func(kind byte, name string, queue pbs.QueueName, jobs, running, mem int64) {
		t.Helper()
		got := tx.TallyOf(Subject{kind, name}, queue)
		asked, _ := got.Of("mem")
		if got.Jobs != jobs || got.Running != running || asked != mem {
			t.Errorf("%c:%s in %q: %+v", kind, name, queue, got)
		}
	}
	check('o', attr.LimitAll, "", 3, 0, 0)
	tx.PutServer(&Server{Attrs: attr.List{}.Set("max_run_res", "mem", "[u:PBS_GENERIC=4gb]")})
	check('o', attr.LimitAll, "", 3, 0, 3<<20)
	check('u', "ann", "workq", 1, 0, 1<<20)
	check('u', "ann", "", 2, 0, 2<<20)
	check('g', "staff", "", 1, 0, 1<<20)
	check('p', "p1", "workq", 1, 0, 1<<20)
	check('p', attr.DefaultProject, "fast", 1, 0, 1<<20)

	j, _ := tx.Job("1.srv")
	run := *j
	run.State, run.Run = pbs.Running, &Run{MS: "hosta"}
	tx.PutJob(&run)
	check('u', "bob", "workq", 1, 1, 1<<20)
	if _, running := tx.TallyOf(Subject{'u', "bob"}, "").Of("mem"); running != 1<<20 {
		t.Errorf("%d kb of running jobs", running)
	}
	moved := run
	moved.Queue = "fast"
	tx.PutJob(&moved)
	check('u', "bob", "workq", 0, 0, 0)
	check('u', "bob", "fast", 1, 1, 1<<20)
	done := moved
	done.State = pbs.Finished
	tx.PutJob(&done)
	check('u', "bob", "", 0, 0, 0)
	tx.DeleteJob("0.srv")
	check('o', attr.LimitAll, "", 1, 0, 1<<20)
	fresh := newTables()
	fresh.resources, fresh.limited = tx.resources, tx.limited
	for j := range tx.Jobs() {
		fresh.tally(nil, j)
	}
	if err := tx.checkTallies(&fresh); err != nil {
		t.Error(err)
	}
}

// What is asked for beyond all bounds, many times over, is beyond a limit, too.
func TestReached_DoesNotOverflow(t *testing.T) {
	s := NewStore()
	tx := s.Tx()
	tx.PutQueue(&Queue{Name: "workq"})
	tx.PutServer(&Server{Attrs: attr.List{}.Set("max_queued_res", "mem", "[u:PBS_GENERIC=4gb]")})
	job := func(mem string) *Job {
		return &Job{Seq: 9, Queue: "workq", State: pbs.Queued, Owner: pbs.User{Name: "ann"}, Resources: resource.List{}.Set("mem", mem)}
	}
	for _, c := range []struct {
		mem   string
		times int64
		over  bool
	}{
		{"1gb", 4, false},
		{"1gb", 5, true},
		{"1gb", 1 << 62, true},
		{"9000000000000000kb", 1, true},
		{"9000000000000000kb", 10_000_000, true},
	} {
		if _, over := tx.Reached(tx.QueueLimits(job(c.mem)), false, c.times, nil); over != c.over {
			t.Errorf("%d jobs of %s: over the limit is %t", c.times, c.mem, over)
		}
	}
	for i := range uint64(3) {
		j := job("9000000000000000kb")
		j.ID, j.Seq = pbs.NewJobID(i, "srv"), i
		tx.NextJob()
		tx.PutJob(j)
	}
	if _, over := tx.Reached(tx.QueueLimits(job("1kb")), false, 1, nil); !over {
		t.Error("there is room beside jobs that ask for more than there is")
	}
}
