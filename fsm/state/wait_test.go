package state

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

func TestWait_Comment(t *testing.T) {
	short := &resource.Shortage{Resource: "ncpus", Request: "4", Free: "2", Offered: "4"}
	user, ann, all := Subject{Kind: 'u'}, Subject{'u', "ann"}, Subject{'o', attr.LimitAll}
	for _, c := range []struct {
		wait Wait
		want string
	}{
		{Wait{Code: WaitQueueStopped}, "Not Running: Queue not started."},
		{Short(WaitShort, short), "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 2 T: 4)"},
		{Short(WaitServerShort, short), "Not Running: Insufficient amount of server resource: ncpus (R: 4 A: 2 T: 4)"},
		{Short(WaitQueueShort, short), "Not Running: Insufficient amount of queue resource: ncpus (R: 4 A: 2 T: 4)"},
		{Wait{Code: WaitShort, Never: true, Resource: "host"}, "Can Never Run: Insufficient amount of resource: host"},
		{Wait{Code: WaitNoSpan, Never: true}, "Can Never Run: can't fit in the largest placement set, and can't span psets"},
		{Wait{Code: WaitSet, Words: "foo=A"}, "Not Running: Placement set foo=A has too few free resources"},
		{Wait{Code: WaitHost}, "Not Running: Insufficient amount of resource: host "},
		{Wait{Code: WaitNodes}, "Not Running: No available resources on nodes"},
		{Wait{Code: WaitLimit, Subject: all}, "Not Running: Maximum number of jobs already in complex"},
		{Wait{Code: WaitLimit, Subject: user}, "Not Running: would exceed complex's per-user limit"},
		{Wait{Code: WaitLimit, Subject: user, Queue: "workq"}, "Not Running: would exceed queue generic's per-user limit"},
		{Wait{Code: WaitLimit, Subject: Subject{Kind: 'p'}, Queue: "workq", Queued: true}, "Not Running: would exceed queue generic's per-project limit of jobs in 'Q' state"},
		{Wait{Code: WaitLimit, Subject: ann, Queue: "workq"}, "Not Running: Maximum number of jobs for user ann already in queue workq"},
		{Wait{Code: WaitLimit, Subject: all, Resource: "mem"}, "Not Running: would exceed limit on resource mem in complex"},
		{Wait{Code: WaitLimit, Subject: user, Resource: "mem", Queue: "workq"}, "Not Running: would exceed per-user limit on resource mem in queue workq"},
		{Wait{Code: WaitLimit, Subject: ann, Resource: "mem", Queued: true}, "Not Running: would exceed user ann's limit on resource mem in complex for jobs in 'Q' state"},
		{Wait{Code: WaitLimit, Subject: everybody, Resource: "mem", Queue: "w", Queued: true}, "Not Running: would exceed limit on resource mem in queue w for jobs in 'Q' state"},
		{Wait{Code: WaitLimit, Subject: everybody, Queued: true}, "Not Running: Maximum number of jobs in 'Q' state already in complex"},
		{Wait{Code: WaitLimit, Subject: ann, Queue: "w", Queued: true}, "Not Running: Maximum number of jobs in 'Q' state for user ann already in queue w"},
		{Wait{Code: WaitLimit, Subject: Subject{Kind: 'g'}, Queued: true}, "Not Running: would exceed complex's per-group limit of jobs in 'Q' state"},
		{
			Wait{Code: WaitLimit, Subject: all, Resource: "ncpus", Queue: "w", Request: "4", Free: "2", Total: "6"},
			"Not Running: would exceed limit on resource ncpus in queue w (R: 4 A: 2 T: 6)",
		},
		{Wait{Code: WaitSlots, Words: "Host's per-user job slot limit reached: a"}, "Not Running: Host's per-user job slot limit reached: a"},
		{Wait{Code: WaitLoad, Words: "The available memory (mem) is low: a"}, "Not Running: The available memory (mem) is low: a"},
		{Wait{Code: WaitRefused, Words: "not now"}, "Not Running: PBS Error: not now"},
		{Wait{Code: WaitMalformed, Never: true, Words: "Unknown resource: x"}, "Can Never Run: Unknown resource: x"},
	} {
		if got := c.wait.Comment(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.wait, got, c.want)
		}
	}
	for code := WaitQueueStopped; code <= WaitMalformed; code++ {
		if (Wait{Code: code, Words: "words"}).Text() == "" {
			t.Errorf("code %d has no words", code)
		}
	}
}

// Jobs that wait for the same have one record of it in memory, after a restore, too; what runs waits for nothing.
func TestSetWait(t *testing.T) {
	s := NewStore()
	s.Begin(1, 1, 1)
	tx := s.Tx()
	why := Wait{Code: WaitShort, Resource: "ncpus", Request: "4", Free: "0", Total: "4"}
	for seq := range uint64(3) {
		j := &Job{ID: pbs.NewJobID(seq, "srv"), Seq: seq, State: pbs.Queued, Comment: "said by hand"}
		tx.SetWait(j, why)
		tx.PutJob(j)
	}
	j, _ := tx.Job("2.srv")
	run := *j
	run.State = pbs.Running
	tx.PutJob(&run)
	a, _ := tx.Job("0.srv")
	b, _ := tx.Job("1.srv")
	if a.Wait != b.Wait || a.CommentText() != why.Comment() {
		t.Errorf("%p %p %q", a.Wait, b.Wait, a.CommentText())
	}
	if run.Wait != nil || run.CommentText() != "" {
		t.Errorf("a running job waits: %q", run.CommentText())
	}
	more := why
	more.Free = "1"
	if !a.Says(why, false) || a.Says(more, false) || !a.Says(more, true) || a.Says(Wait{Code: WaitBusy}, true) {
		t.Error("Says does not compare reasons")
	}
	said := *a
	if said.Comment = "mine"; said.Says(why, false) || said.Says(why, true) || said.CommentText() != "mine" {
		t.Error("a comment of somebody else's is taken for the scheduler's")
	}
}
