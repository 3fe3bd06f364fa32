package state

import (
	"errors"
	"strings"
	"testing"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// TestCheck_Finds plants one fault at a time: a check that cannot fail proves nothing.
func TestCheck_Finds(t *testing.T) {
	for _, c := range []struct {
		name  string
		plant func(tx *Tx)
		want  string
	}{
		{"nothing", func(*Tx) {}, ""},
		{"a vnode promised more than it has", func(tx *Tx) {
			v := *mustVnode(tx)
			v.Reported = v.Reported.Set("ncpus", "1")
			tx.PutVnode(&v)
		}, "(L3)"},
		{"a vnode that counts what nobody holds", func(tx *Tx) {
			v := *mustVnode(tx)
			v.Assigned = v.Assigned.Set("ncpus", "1")
			tx.PutVnode(&v)
		}, "its jobs hold"},
		{"a vnode held by an older run", func(tx *Tx) {
			j, _ := tx.Job("1.srv")
			next := *j
			next.RunCount, next.EditRun().Number = 2, 2
			tx.PutJob(&next)
		}, "(L2)"},
		{"a vnode held by a queued job", func(tx *Tx) {
			j, _ := tx.Job("1.srv")
			next := *j
			next.State = pbs.Queued
			tx.PutJob(&next)
		}, "in state Q"},
		{"a job in no queue", func(tx *Tx) { tx.DeleteQueue("workq") }, "which is none"},
		{"a job beyond the counter", func(tx *Tx) { tx.EditCluster().NextJob = 1 }, "next job id"},
		{"a digest that is off", func(tx *Tx) { tx.digest++ }, "digest"},
		{"an index that lost a job", func(tx *Tx) { tx.running = newTables().running }, "index running"},
		{"a count that is off", func(tx *Tx) { tx.counts = newTables().counts }, "counts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := busyStore()
			tx := s.Tx()
			c.plant(tx)
			s.Commit(tx)
			err := s.Publish().Check()
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("Check says %v, want %q", err, c.want)
			}
		})
	}
}

func mustVnode(tx *Tx) *Vnode {
	v, _ := tx.Vnode("a")
	return v
}

// busyStore has one job that runs on one vnode.
func busyStore() *Store {
	s := NewStore()
	s.Begin(1, 1, 1)
	tx := s.Tx()
	tx.EditCluster().NextJob = 2
	tx.PutQueue(&Queue{Name: "workq"})
	two := resource.List{{Name: "ncpus", Value: "2"}}
	tx.PutVnode(&Vnode{
		Name: "a", Host: "a", Seq: 1, Reported: two, Account: alloc.Account{Assigned: two},
		Jobs: []VnodeJob{{Job: "1.srv", RunCount: 1, Items: two, CPUs: []uint32{0, 1}}},
	})
	tx.PutJob(&Job{ID: "1.srv", Seq: 1, State: pbs.Running, Queue: "workq", RunCount: 1, Run: &Run{Number: 1, MS: "a"}, Resources: two})
	s.Commit(tx)
	s.Publish()
	return s
}

// TestView_NeverChanges: what was published stays as it was while the writer goes on.
func TestView_NeverChanges(t *testing.T) {
	s := busyStore()
	before := s.View()
	digest := before.Digest()
	tx := s.Tx()
	tx.DeleteJob("1.srv")
	v := *mustVnode(tx)
	v.Jobs, v.Assigned = nil, nil
	tx.PutVnode(&v)
	s.Commit(tx)
	s.Publish()
	if _, ok := before.Job("1.srv"); !ok || before.Digest() != digest || before.Check() != nil {
		t.Error("a published view has changed")
	}
	if _, ok := s.View().Job("1.srv"); ok {
		t.Error("the new view still has the job")
	}
}

// TestTx_AbortLeavesNoTrace: a transaction that is dropped changed nothing.
func TestTx_AbortLeavesNoTrace(t *testing.T) {
	s := busyStore()
	digest := s.View().Digest()
	tx := s.Tx()
	tx.PutQueue(&Queue{Name: "other"})
	tx.DeleteJob("1.srv")
	tx.EditCluster().NextJob = 99
	if v := s.Publish(); v.Digest() != digest || v.Check() != nil || v.Cluster().NextJob != 2 {
		t.Error("a dropped transaction left a trace")
	}
}

// TestHostsWithOrders: each host once, by name.
func TestHostsWithOrders(t *testing.T) {
	s := busyStore()
	tx := s.Tx()
	for _, h := range []pbs.HostName{"b", "a", "b", "c", "a"} {
		tx.Order(Order{Host: h, Kind: OrderForget})
	}
	var got []string
	for h := range tx.HostsWithOrders() {
		got = append(got, string(h))
	}
	if strings.Join(got, " ") != "a b c" {
		t.Errorf("got %v", got)
	}
}

// A file that has a record twice is refused: an index would keep what the table does not have.
func TestLoader_Twice(t *testing.T) {
	l := NewLoader()
	load := func(name string) error {
		rec, err := Decode(4, func(rec any) error {
			*rec.(*Job) = Job{ID: "1.srv", Seq: 1, Name: name, State: pbs.Held}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return l.Put(rec)
	}
	if err := load("a"); err != nil {
		t.Fatal(err)
	}
	if err := load("b"); !errors.Is(err, ErrTwice) {
		t.Errorf("%v, want %v", err, ErrTwice)
	}
}
