package service

import (
	"context"
	"errors"
	"strings"
	"testing"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
	"rampart/transport/api"
)

func (b *bench) run(who, job, vnodes string) error {
	_, err := b.Batch.Run(b.as(who), request(&api.RunRequest{Job: job, Vnodes: vnodes}, ""))
	return err
}

// What hooks of runjob set by which vnodes are chosen has them chosen anew, of a subjob too; hooks that are never content have the start refused.
func TestRun_HooksChooseVnodes(t *testing.T) {
	more := false
	b, s := hookedBench(t, "runjob", func(e *hook.Event) *hook.Outcome {
		ncpus := "2"
		if had := e.Job.Get("Resource_List", "ncpus"); more {
			ncpus = had + "0"
		}
		return accepted(map[string]string{"Resource_List.ncpus": ncpus, "project": "p"})
	})
	b.host("hosta", "hosta")
	b.Batch.Place = func(_ *state.View, j *state.Job) (string, []*command.PreemptJob, string) {
		ncpus, _ := j.Resources.Get("ncpus")
		return "(hosta:ncpus=" + ncpus + ")", nil, ""
	}
	one, array := b.mustSubmit("ann@h"), b.mustSubmit("ann@h", set("array_indices_submitted", "1-2"))
	sub := string(pbs.JobID(array).Subjob(1))
	for _, id := range []string{one, sub} {
		asked := len(s.seen)
		if err := b.run("root@replica:s1", id, ""); err != nil {
			t.Errorf("run %s: %v", id, err)
			continue
		}
		j := b.job(id)
		project, _ := j.Attrs.Get("project", "")
		if j.State != pbs.Running || j.Run.ExecVnode.String() != "(hosta:ncpus=2)" || project != "p" || len(s.seen) != asked+2 {
			t.Errorf("%s is %s on %s, project %q, hooks asked %d times", id, j.State.Letter(), j.Run.ExecVnode, project, len(s.seen)-asked)
		}
	}
	more = true
	id := b.mustSubmit("ann@h")
	if err := b.run("root@replica:s1", id, ""); pbs.CodeOf(err) != pbs.RunningAttribute {
		t.Errorf("run: %v", err)
	}
	if j := b.job(id); j.State != pbs.Queued {
		t.Errorf("it is %s", j.State.Letter())
	}
}

func TestRun_AtAnOperatorsWish(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.host("hostb", "hostb")
	b.Batch.Place = func(*state.View, *state.Job) (string, []*command.PreemptJob, string) {
		return "(hosta:ncpus=1)", nil, ""
	}
	b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "workq", Changes: []command.AttrChange{{Entry: entry("started", "False")}}})
	ids := []string{}
	for range 5 {
		ids = append(ids, b.mustSubmit("ann@h", &api.Attribute{Name: "Resource_List", Resource: "select", Value: "2:ncpus=1:mem=1mb"}))
	}
	if err := b.run("ann@h", ids[0], ""); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("the owner: %v", err)
	}
	for _, c := range []struct{ job, vnodes, want string }{
		{ids[0], "", "(hosta:ncpus=1)"},
		{ids[1], "(hostb:ncpus=2:mem=1024kb)", "(hostb:ncpus=2:mem=1024kb)"},
		{ids[2], "hostb", "(hostb:ncpus=1:mem=1024kb)+(hostb:ncpus=1:mem=1024kb)"},
	} {
		if err := b.run("root@replica:s1", c.job, c.vnodes); err != nil {
			t.Errorf("qrun -H %q %s: %v", c.vnodes, c.job, err)
		}
		if got := b.job(c.job); got.State != pbs.Running || got.LastRun().ExecVnode.String() != c.want || got.RunCount != 1 {
			t.Errorf("qrun -H %q: %s on %s, run %d, want on %s", c.vnodes, got.State, got.LastRun().ExecVnode.String(), got.RunCount, c.want)
		}
	}
	for _, c := range []struct {
		job, vnodes string
		code        pbs.Code
	}{
		{ids[0], "", pbs.BadState},
		{ids[3], "(hostb:ncpus=99)", pbs.ResourceBusy}, // L3: whoever wishes it
		{ids[3], "(hosta", pbs.BadAttributeValue},
		{ids[3], "nosuch", pbs.UnknownNode},
		{"99", "", pbs.UnknownJob},
	} {
		if err := b.run("root@replica:s1", c.job, c.vnodes); pbs.CodeOf(err) != c.code {
			t.Errorf("qrun -H %q %s: %v, want %d", c.vnodes, c.job, err, c.code)
		}
	}
	if err := b.run("root@replica:s1", ids[3], "'(hosta)+(hostb)'"); err == nil || err.Error() != "Unknown node  '(hosta)+(hostb)'" {
		t.Errorf("qrun -H with quotes in quotes: %v", err)
	}
	b.Batch.Place = func(*state.View, *state.Job) (string, []*command.PreemptJob, string) { return "", nil, "too much" }
	if err := b.run("root@replica:s1", ids[3], ""); err == nil || err.Error() != "too much" {
		t.Errorf("no room: %v", err)
	}
}

// From when others are to make way until the job has started nobody else plans; what was free before is looked at anew.
func TestRun_HoldsTheTurn(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	id := b.mustSubmit("ann@h", &api.Attribute{Name: "Resource_List", Resource: "select", Value: "1:ncpus=1:mem=1mb"})
	var told []string
	b.Batch.Turn = func(context.Context, string) (end func()) {
		told = append(told, "taken")
		return func() { told = append(told, "ended "+b.job(id).State.String()) }
	}
	b.Batch.Place = func(*state.View, *state.Job) (string, []*command.PreemptJob, string) {
		told = append(told, "placed")
		if len(told) == 1 {
			return "", nil, ""
		}
		return "(hosta:ncpus=1)", nil, ""
	}
	if err := b.run("root@replica:s1", id, ""); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(told, ", "); got != "placed, taken, placed, ended "+pbs.Running.String() {
		t.Errorf("it is %s", got)
	}
}

func TestSwap_ChangesTheOrder(t *testing.T) {
	b := newBench(t)
	first, second, third := b.mustSubmit("ann@h"), b.mustSubmit("ann@h"), b.mustSubmit("bob@h")
	swap := func(who, job, other string) error {
		_, err := b.Batch.Swap(b.as(who), request(&api.SwapRequest{Job: job, Other: other}, ""))
		return err
	}
	order := func() string {
		v := b.store.Publish()
		out := ""
		for class, j := range v.Classes() {
			for ok := true; ok; j, ok = v.NextOf(class, j) {
				out += " " + j.ID.Number()
			}
		}
		return out
	}
	if err := swap("ann@h", first, second); err != nil || order() != " 1 0 2" {
		t.Errorf("0 with 1: %v, order%s", err, order())
	}
	// A refusal says which of the two it is about.
	refused := func(err error, code pbs.Code, operand uint8) {
		t.Helper()
		if e, ok := errors.AsType[*pbs.Error](err); !ok || e.Code != code || e.Operand != operand {
			t.Errorf("refused with %#v, want %d of operand %d", err, code, operand)
		}
	}
	refused(swap("ann@h", first, third), pbs.Unauthorized, 1)
	if got := b.log[len(b.log)-1]; !strings.Contains(got, third) {
		t.Errorf("the log says %s", got)
	}
	refused(swap("ann@h", third, first), pbs.Unauthorized, 0)
	if err := swap("root@replica:s1", second, third); err != nil || order() != " 2 0 1" {
		t.Errorf("1 with 2: %v, order%s", err, order())
	}
	if err := swap("root@replica:s1", third, first); err != nil || order() != " 0 2 1" {
		t.Errorf("2 with 0: %v, order%s", err, order())
	}
	refused(swap("root@replica:s1", first, "99"), pbs.UnknownJob, 1)
	refused(swap("root@replica:s1", "99", first), pbs.UnknownJob, 0)
	b.host("hosta", "hosta")
	b.do(&command.StartJob{Job: pbs.JobID(first), ExecVnode: "(hosta:ncpus=1)"})
	refused(swap("root@replica:s1", first, third), pbs.BadState, 0)
	refused(swap("root@replica:s1", third, first), pbs.BadState, 1)
	if err := b.store.Publish().Check(); err != nil {
		t.Error(err)
	}
}

func TestSwap_AcrossQueues(t *testing.T) {
	b := newBench(t)
	b.do(&command.ManageQueue{Verb: command.VerbCreate, Queue: "q2", Changes: []command.AttrChange{
		{Entry: entry("queue_type", "Execution")}, {Entry: entry("enabled", "True")},
	}})
	here, there := b.mustSubmit("ann@h"), b.mustSubmit("ann@h")
	if _, err := b.Batch.Move(b.as("ann@h"), request(&api.MoveRequest{Job: there, Destination: "q2"}, "")); err != nil {
		t.Fatal(err)
	}
	swap := func() error {
		_, err := b.Batch.Swap(b.as("ann@h"), request(&api.SwapRequest{Job: here, Other: there}, ""))
		return err
	}
	if err := swap(); err != nil || b.job(here).Queue != "q2" || b.job(there).Queue != "workq" {
		t.Errorf("%v: in %s and %s", err, b.job(here).Queue, b.job(there).Queue)
	}
	if b.job(here).Place() != b.job(there).Seq || b.job(there).Place() != b.job(here).Seq {
		t.Errorf("places %d and %d", b.job(here).Place(), b.job(there).Place())
	}
	b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "q2", Changes: []command.AttrChange{{Entry: entry("enabled", "False")}}})
	if err := swap(); pbs.CodeOf(err) != pbs.QueueDisabled || b.job(here).Queue != "q2" {
		t.Errorf("into a closed queue: %v", err)
	}
}

func TestMove_ToAnotherQueue(t *testing.T) {
	b := newBench(t)
	b.do(&command.ManageQueue{Verb: command.VerbCreate, Queue: "q2", Changes: []command.AttrChange{
		{Entry: entry("queue_type", "Execution")}, {Entry: entry("enabled", "True")},
	}})
	id := b.mustSubmit("ann@h")
	move := func(who, destination string) error {
		_, err := b.Batch.Move(b.as(who), request(&api.MoveRequest{Job: id, Destination: destination}, ""))
		return err
	}
	if err := move("bob@h", "q2"); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("by another: %v", err)
	}
	if err := move("ann@h", "nosuch"); pbs.CodeOf(err) != pbs.UnknownQueue {
		t.Errorf("to no queue: %v", err)
	}
	if err := move("ann@h", "q2@srv"); err != nil || b.job(id).Queue != "q2" {
		t.Errorf("by its owner: %v, in %s", err, b.job(id).Queue)
	}
	if err := move("ann@h", "@srv"); err != nil || b.job(id).Queue != "workq" {
		t.Errorf("to the default queue: %v, in %s", err, b.job(id).Queue)
	}
}

func TestMessage_IsAnOrder(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	id := b.mustSubmit("ann@h")
	tell := func(who, text string) error {
		_, err := b.Batch.Message(b.as(who), request(&api.MessageRequest{Job: id, Text: text, Output: true}, ""))
		return err
	}
	if err := tell("ann@h", "hello"); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("to a queued job: %v", err)
	}
	b.do(&command.StartJob{Job: pbs.JobID(id), ExecVnode: "(hosta:ncpus=1)"})
	if err := tell("bob@h", "hello"); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("by another: %v", err)
	}
	if err := tell("ann@h", string(make([]byte, 1))); pbs.CodeOf(err) != pbs.InvalidRequest {
		t.Errorf("a zero byte: %v", err)
	}
	if err := tell("ann@h", "hello"); err != nil {
		t.Fatal(err)
	}
	var last *state.Order
	for o := range b.store.Publish().Orders("hosta") {
		last = o
	}
	if last == nil || last.Kind != state.OrderMessage || last.Text != "hello" || !last.Output || last.Error || last.RunCount != 1 {
		t.Errorf("the order is %+v", last)
	}
}
