package command

import (
	"fmt"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// settings makes changes of "NAME=VALUE" and "NAME+=VALUE".
func settings(texts ...string) (all []AttrChange) {
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		ch := AttrChange{Entry: attr.Entry{Name: name, Value: value}}
		if more, ok := strings.CutSuffix(name, "+"); ok {
			ch.Op, ch.Entry.Name = OpIncrease, more
		}
		all = append(all, ch)
	}
	return all
}

// all carries out commands of which each takes effect.
func (w *writer) all(commands ...Command) {
	w.t.Helper()
	for _, c := range commands {
		w.must(c)
	}
}

// Schedulers come and go, each with attributes of its own; what two of them cannot both have, and what the default one cannot be,
// is refused in PBS's words, and changes nothing.
func TestManageSched_Further(t *testing.T) {
	w := newWriter(t)
	for i, c := range []struct {
		do   ManageSched
		code pbs.Code
		text string
	}{
		{ManageSched{Verb: VerbCreate, Name: "sc1", Changes: settings("partition=P1,P4", "sched_log=/l1")}, 0, ""},
		{ManageSched{Verb: VerbCreate, Name: "sc1"}, 15211, "Scheduler already exists"},
		{ManageSched{Verb: VerbCreate, Name: "default"}, 15211, "Scheduler already exists"},
		{ManageSched{Verb: VerbCreate, Name: "abcdefghijklmnop"}, 15212, "Scheduler name is too long"},
		{ManageSched{Verb: VerbCreate, Name: "a/b"}, pbs.BadAttributeValue, "Illegal attribute or resource value"},
		{ManageSched{Verb: VerbCreate, Name: "sc2", Changes: settings("partition=P2,P4")}, 15224, "Partition is already associated with other scheduler"},
		{ManageSched{Verb: VerbSet, Name: "sc2", Changes: settings("comment=x")}, 15213, "Unknown Scheduler"},
		{ManageSched{Verb: VerbDelete, Name: "sc2"}, 15213, "Unknown Scheduler"},
		{ManageSched{Verb: VerbDelete}, 15214, "Can not delete Scheduler"},
		{ManageSched{Verb: VerbCreate, Name: "sc2", Changes: settings("partition=P2", "sched_log=/l1")}, 15216, "Another scheduler also has same value for its sched_log directory"},
		{ManageSched{Verb: VerbCreate, Name: "sc2", Changes: settings("partition=pbs-default")}, 15228, "Default partition name is not allowed"},
		{ManageSched{Verb: VerbCreate, Name: "sc2", Changes: settings("partition=P2")}, 0, ""},
		{ManageSched{Verb: VerbSet, Name: "sc2", Changes: settings("partition+=P4")}, 15224, "Partition is already associated with other scheduler"},
		{ManageSched{Verb: VerbSet, Name: "sc2", Changes: settings("partition+=P3", "log_events=511", "scheduling=True")}, 0, ""},
		{ManageSched{Verb: VerbSet, Name: "sc2", Changes: settings("state=scheduling")}, pbs.BadAttributeValue, "Illegal attribute or resource value state"},
		{ManageSched{Verb: VerbSet, Name: "sc2", Changes: settings("state=idle")}, 0, ""},
		{ManageSched{Verb: VerbDelete, Name: "sc1"}, 0, ""},
	} {
		before := fmt.Sprint(w.View().Server().Scheds)
		err := w.run(&c.do)
		if pbs.CodeOf(err) != c.code || err != nil && err.Error() != c.text {
			t.Errorf("step %d: %v, want %d %s", i, err, c.code, c.text)
		}
		if after := fmt.Sprint(w.View().Server().Scheds); c.code != 0 && after != before {
			t.Errorf("step %d was refused, and there is %s", i, after)
		}
	}
	s, ok := w.View().Server().Scheduler("sc2")
	if !ok || len(w.View().Server().Scheds) != 1 || s.Get("partition") != "P2,P3" || !s.Plans() || s.Get("log_events") != "511" || s.Get("preempt_order") != "SCR" {
		t.Errorf("there is %+v", w.View().Server().Scheds)
	}
	if got := w.View().Server().SchedGet("log_events"); got != "767" {
		t.Errorf("log_events of the default scheduler is %s", got)
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}

// A routing queue is in no partition, and a queue in none but that of its own vnodes.
func TestManageQueue_Partition(t *testing.T) {
	w := newWriter(t)
	w.all(&ManageVnode{Verb: VerbCreate, Vnode: "h"},
		&ManageQueue{Verb: VerbCreate, Queue: "own", Changes: settings("queue_type=Execution")},
		&ManageQueue{Verb: VerbCreate, Queue: "way", Changes: settings("queue_type=Route")},
		&ManageVnode{Verb: VerbSet, Vnode: "h", Changes: settings("queue=own", "partition=P1")})
	for _, c := range []struct {
		queue pbs.QueueName
		set   []AttrChange
		code  pbs.Code
		text  string
	}{
		{"way", settings("partition=P1"), 15217, "Cannot assign a partition to route queue"},
		{"own", settings("partition=P2"), 15221, "Invalid partition in queue"},
		{"own", settings("partition=pbs-default"), 15228, "Default partition name is not allowed"},
		{"own", settings("partition=P1"), 0, ""},
		{"own", settings("queue_type=Route"), 15218, "Route queues are incompatible with the partition attribute"},
	} {
		err := w.run(&ManageQueue{Verb: VerbSet, Queue: c.queue, Changes: c.set})
		if pbs.CodeOf(err) != c.code || err != nil && err.Error() != c.text {
			t.Errorf("%s %v: %v, want %d %s", c.queue, c.set, err, c.code, c.text)
		}
	}
	if err := w.run(&ManageVnode{Verb: VerbSet, Vnode: "h", Changes: settings("partition=pbs-default")}); pbs.CodeOf(err) != pbs.DefaultPartition {
		t.Errorf("the default partition of a vnode: %v", err)
	}
}

// Each scheduler sees the vnodes, and the queued jobs, of its partitions, and its own policy; a queue or a vnode that gets another
// partition moves at once. What is in a partition that nobody else has is the default one's.
func TestView_For(t *testing.T) {
	w := newWriter(t)
	w.all(&ManageSched{Verb: VerbSet, Changes: settings("preempt_order=SR")})
	for _, name := range []pbs.VnodeName{"a", "b", "c", "d"} {
		w.must(&ManageVnode{Verb: VerbCreate, Vnode: name})
	}
	w.all(&ManageQueue{Verb: VerbCreate, Queue: "q1", Changes: settings("queue_type=Execution", "enabled=True", "started=True")},
		&ManageQueue{Verb: VerbCreate, Queue: "q2", Changes: settings("queue_type=Execution", "enabled=True", "started=True")})
	for _, q := range []pbs.QueueName{"workq", "q1", "q2"} {
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Queue: q})
	}
	sees := func(name string) string {
		v, ok := w.View().For(name)
		if !ok {
			return "nothing"
		}
		text := ""
		for vn := range v.Vnodes() {
			text += string(vn.Name)
		}
		for c := range v.Classes() {
			text += " " + string(c.Queue)
		}
		return text + " " + v.Server().SchedGet("preempt_order") + " " + v.Server().Get("scheduling")
	}
	for i, step := range []struct {
		do        Command
		first, sc string
	}{
		{&ManageQueue{Verb: VerbSet, Queue: "q2", Changes: settings("partition=P2")}, "abcd q1 workq q2 SR True", "nothing"},
		{&ManageSched{Verb: VerbCreate, Name: "sc", Changes: settings("partition=P1", "preempt_order=S")}, "abcd q1 workq q2 SR True", " S False"},
		{&ManageVnode{Verb: VerbSet, Vnode: "b", Changes: settings("partition=P1")}, "acd q1 workq q2 SR True", "b S False"},
		{&ManageQueue{Verb: VerbSet, Queue: "q1", Changes: settings("partition=P1")}, "acd workq q2 SR True", "b q1 S False"},
		{&ManageSched{Verb: VerbSet, Name: "sc", Changes: settings("partition+=P2", "scheduling=True")}, "acd workq SR True", "b q1 q2 S False"},
		{&ManageVnode{Verb: VerbSet, Vnode: "a", Changes: settings("partition=P2")}, "cd workq SR True", "ba q1 q2 S False"},
		{&ManageSched{Verb: VerbSet, Name: "sc", Changes: settings("state=idle")}, "cd workq SR True", "ba q1 q2 S True"},
		{&ManageVnode{Verb: VerbSet, Vnode: "b", Changes: settings("partition=P3")}, "bcd workq SR True", "a q1 q2 S True"},
		{&ManageSched{Verb: VerbDelete, Name: "sc"}, "abcd workq q1 q2 SR True", "nothing"},
	} {
		w.must(step.do)
		if got := sees("default"); got != step.first {
			t.Errorf("step %d: the default one sees %q, want %q", i, got, step.first)
		}
		if got := sees("sc"); got != step.sc {
			t.Errorf("step %d: sc sees %q, want %q", i, got, step.sc)
		}
		if err := w.View().Check(); err != nil {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

// Each scheduler has a tree of shares of its own, which goes with it.
func TestManageShares_OfASchedulerOfItsOwn(t *testing.T) {
	w := newWriter(t)
	w.all(&ManageSched{Verb: VerbCreate, Name: "sc", Changes: settings("fairshare_decay_factor=0.1")},
		&ManageShares{Verb: VerbSet, Entity: "ann", Usage: 100_000}, &ManageShares{Verb: VerbSet, Entity: "ann", Usage: 400_000, Sched: "sc"},
		&ManageShares{Verb: VerbUnset, Sched: "sc"})
	usage := func(name string) (text string) {
		v, _ := w.View().For(name)
		for s := range v.Shares() {
			text += fmt.Sprint(s.Entity, "=", s.Usage)
		}
		return text
	}
	if a, b := usage("default"), usage("sc"); a != "ann=100000" || b != "ann=40000" {
		t.Errorf("they have %s and %s", a, b)
	}
	if err := w.run(&ManageShares{Verb: VerbUnset, Sched: "none"}); pbs.CodeOf(err) != pbs.UnknownScheduler {
		t.Errorf("of nobody: %v", err)
	}
	w.must(&ManageSched{Verb: VerbDelete, Name: "sc"})
	if got := usage("default"); got != "ann=100000" {
		t.Errorf("after that one is gone there is %s", got)
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}

// job_run_wait and throughput_mode, its older name, say the same, whichever is set, of each scheduler.
func TestManageSched_WaitsForHooks(t *testing.T) {
	w := newWriter(t)
	w.all(&ManageSched{Verb: VerbCreate, Name: "sc1"})
	for _, name := range []string{"", "sc1"} {
		for _, c := range []struct{ set, mode, wait string }{
			{"throughput_mode=False", "False", "execjob_hook"},
			{"throughput_mode=True", "True", "runjob_hook"},
			{"job_run_wait=execjob_hook", "False", "execjob_hook"},
			{"job_run_wait=none", "True", "none"},
			{"job_run_wait=runjob_hook", "True", "runjob_hook"},
			{"log_events=511", "True", "runjob_hook"},
			{"job_run_wait=", "", ""},
		} {
			w.must(&ManageSched{Verb: VerbSet, Name: name, Changes: settings(c.set)})
			list := w.View().Server().Sched
			if name != "" {
				list = w.View().Server().Scheds[0].Attrs
			}
			mode, _ := list.Get("throughput_mode", "")
			wait, _ := list.Get("job_run_wait", "")
			if mode != c.mode || wait != c.wait {
				t.Errorf("%q %s: throughput_mode %q, job_run_wait %q", name, c.set, mode, wait)
			}
		}
	}
}
