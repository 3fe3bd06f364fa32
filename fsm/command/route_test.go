package command

import (
	"strings"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// Routing queues that lead to each other, and nowhere else, refuse a job at once: the time
// that it takes grows with the queues, not with the ways through them.
func TestRoute_QueuesInCirclesAreTriedOnce(t *testing.T) {
	w := newWriter(t)
	names := []string{"r1", "r2", "r3", "r4"}
	set := func(name, value string) AttrChange {
		return AttrChange{Entry: attr.Entry{Name: name, Value: value}}
	}
	for _, name := range names {
		w.must(&ManageQueue{Verb: VerbCreate, Queue: pbs.QueueName(name), Changes: []AttrChange{
			set("queue_type", "Route"), set("route_destinations", strings.Join(names, ",")), set("enabled", "True"), set("started", "True"),
		}})
	}
	start := time.Now()
	err := w.run(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: "r1"})
	if pbs.CodeOf(err) != pbs.RouteRejected {
		t.Errorf("submit: %v", err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
	// A way out is found, whichever queue it leads from.
	w.must(&ManageQueue{Verb: VerbCreate, Queue: "work", Changes: []AttrChange{set("enabled", "True"), set("started", "True")}})
	w.must(&ManageQueue{Verb: VerbSet, Queue: "r3", Changes: []AttrChange{set("route_destinations", "r1,r2,r3,r4,work")}})
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: "r1"})
	if j, ok := w.View().Job("0.srv"); !ok || j.Queue != "work" {
		t.Errorf("the job is %+v", j)
	}
}

// A tick routes so many jobs and no more; whether the next ones are to wait depends on whether
// these have found a way.
func TestRoute_GoesOnWhileJobsLeave(t *testing.T) {
	for most, want := range map[string]int{"": 3, "10": 2, "700": 3} {
		w := newWriter(t)
		set := func(name, value string) AttrChange {
			return AttrChange{Entry: attr.Entry{Name: name, Value: value}}
		}
		w.must(&ManageQueue{Verb: VerbCreate, Queue: "work", Changes: []AttrChange{set("enabled", "True"), set("started", "True")}})
		if most != "" {
			w.must(&ManageQueue{Verb: VerbSet, Queue: "work", Changes: []AttrChange{set("max_queued", "[o:PBS_ALL="+most+"]")}})
		}
		w.must(&ManageQueue{Verb: VerbCreate, Queue: "in", Changes: []AttrChange{set("queue_type", "Route"), set("route_destinations", "work"), set("enabled", "True")}})
		for range 2*maxRouted + 100 {
			w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: "in"})
		}
		w.must(&ManageQueue{Verb: VerbSet, Queue: "in", Changes: []AttrChange{set("started", "True")}})
		w.index += uint64(time.Minute) // which is its time, too
		ticks, on := 0, true
		for on && ticks < 10 {
			w.must(&TimeTick{})
			q, _ := w.View().Queue("in")
			ticks, on = ticks+1, q.RouteOn
		}
		if ticks != want {
			t.Errorf("at most %q: %d ticks in a row, want %d", most, ticks, want)
		}
	}
}
