package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

func reconfigured(name string, pairs ...string) *Reconfigure {
	s := Setting{Name: name}
	for i := 0; i < len(pairs); i += 2 {
		s.Attrs = s.Attrs.Set(pairs[i], "", pairs[i+1])
	}
	return &Reconfigure{Queues: []Setting{s}}
}

func (w *writer) queueValue(t *testing.T, queue pbs.QueueName, name string) string {
	t.Helper()
	q, ok := w.View().Queue(queue)
	if !ok {
		t.Fatalf("there is no queue %s", queue)
	}
	value, _ := q.Attrs.Get(name, "")
	return value
}

// Before anybody has configured anything the defaults of the specification hold, and afterwards what was configured.
func TestReconfigure_Record(t *testing.T) {
	w := newWriter(t)
	if c := w.View().LSF(); c.Turn() != 30 || !c.ReservesParallel() || c.TimeReserveJobs != 0 || c.Strict {
		t.Errorf("nothing is configured: %+v", c)
	}
	w.must(&Reconfigure{
		Config:    lsf.Config{SleepTime: 10, Modules: []string{lsf.ModuleReserve, lsf.ModuleParallel}},
		Resources: []state.ResourceDef{{Def: resource.Def{Name: "lic", Type: resource.Float, Flags: resource.PerQueue}}},
		Server:    attr.List{}.Set("resources_available", "lic", "5"),
	})
	if c := w.View().LSF(); c.Turn() != 10 || c.ReservesParallel() || !c.Has(lsf.ModuleReserve) {
		t.Errorf("configured: %+v", c)
	}
	if value, _ := w.View().Server().Attrs.Get("resources_available", "lic"); value != "5" {
		t.Errorf("lic is %q", value)
	}
	w.must(&Reconfigure{})
	if value, ok := w.View().Server().Attrs.Get("resources_available", "lic"); ok {
		t.Errorf("lic is %q still", value)
	}
}

// RSV-56 and reservation section 8.7: nothing is changed when something is refused; queues of qmgr are left alone, and of a
// queue that both have set the last writer's value of each attribute holds.
func TestReconfigure_Queues(t *testing.T) {
	w := newWriter(t)
	priority := func(value string) []AttrChange {
		return []AttrChange{{Entry: attr.Entry{Name: "Priority", Value: value}}}
	}
	w.must(&ManageQueue{Verb: VerbCreate, Queue: "mine", Changes: priority("5")})
	w.must(reconfigured("q", "Priority", "40", "comment", "first"))
	if q, _ := w.View().Queue("q"); !q.Enabled || !q.Started {
		t.Error("the queue takes no jobs")
	}
	bad := reconfigured("mine", "Priority", "7")
	bad.Queues = append(bad.Queues, Setting{Name: "a queue", Attrs: nil})
	if err := w.run(bad); err == nil || w.queueValue(t, "mine", "Priority") != "5" || w.View().LSF().Turn() != 30 {
		t.Errorf("%v, and Priority is %s", err, w.queueValue(t, "mine", "Priority"))
	}
	w.must(&ManageQueue{Verb: VerbSet, Queue: "q", Changes: priority("50")})
	w.must(reconfigured("q"))
	if p, text := w.queueValue(t, "q", "Priority"), w.queueValue(t, "q", "comment"); p != "50" || text != "" {
		t.Errorf("Priority %s, comment %q: what qmgr has changed stays, what the file does not say any more goes", p, text)
	}
	w.must(reconfigured("mine", "comment", "both"))
	if _, ok := w.View().Queue("q"); ok {
		t.Error("a queue that no file has any more is there")
	}
	w.must(&Reconfigure{})
	if p, text := w.queueValue(t, "mine", "Priority"), w.queueValue(t, "mine", "comment"); p != "5" || text != "" {
		t.Errorf("a queue of qmgr: Priority %s, comment %q", p, text)
	}
}

// A queue with jobs that no file has any more keeps them, and takes no others until it is there again.
func TestReconfigure_QueueWithJobs(t *testing.T) {
	w := newWriter(t)
	w.must(reconfigured("q"))
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Script: []byte("x"), Queue: "q"})
	w.must(&Reconfigure{})
	if q, ok := w.View().Queue("q"); !ok || q.Enabled || !q.Started {
		t.Errorf("%t %+v", ok, q)
	}
	w.must(reconfigured("q"))
	if q, _ := w.View().Queue("q"); !q.Enabled {
		t.Error("it takes no jobs although it is there again")
	}
}
