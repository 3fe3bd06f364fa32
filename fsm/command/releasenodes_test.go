package command

import (
	"fmt"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

const (
	evOfJ1 = "(hosta[0]:mem=1048576kb:ncpus=1+hosta[1]:mem=1048576kb:ncpus=1+hosta[2]:ncpus=1)+(hostb:mem=1048576kb:ncpus=1+hostb[0]:mem=1048576kb:ncpus=1+hostb[1]:ncpus=1)+(hostc:ncpus=2:mem=2097152kb)"
	ehOfJ1 = "hosta/0*0+hostb/0*0+hostc/0*2"
)

// releasing is the complex P3 of the cases, with the job J1 on it.
type releasing struct {
	*writer
	job    pbs.JobID
	facts  map[pbs.HostName]uint64
	events []state.Event
}

func newReleasing(t *testing.T, more ...attr.Entry) *releasing {
	w := &releasing{writer: newWriter(t), facts: map[pbs.HostName]uint64{}}
	one := resource.List{{Name: "mem", Value: "1gb"}, {Name: "ncpus", Value: "1"}}
	for _, h := range []struct {
		name   pbs.HostName
		vnodes []ReportedVnode
	}{
		{"hosta", []ReportedVnode{{Name: "hosta"}, {Name: "hosta[0]", Available: one}, {Name: "hosta[1]", Available: one}, {Name: "hosta[2]", Available: one}, {Name: "hosta[3]", Available: one}}},
		{"hostb", []ReportedVnode{{Name: "hostb", Available: one}, {Name: "hostb[0]", Available: one}, {Name: "hostb[1]", Available: one}, {Name: "hostb[2]", Available: one}, {Name: "hostb[3]", Available: one}}},
		{"hostc", []ReportedVnode{{Name: "hostc", Available: resource.List{{Name: "mem", Value: "2gb"}, {Name: "ncpus", Value: "2"}}}}},
	} {
		w.must(&HostUp{Host: h.name, Address: string(h.name) + ":1", BootID: "b", SpoolID: "s", Vnodes: h.vnodes})
	}
	w.start("ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb", evOfJ1, more...)
	return w
}

// start submits a job and has it run.
func (w *releasing) start(sel, on string, more ...attr.Entry) {
	w.t.Helper()
	id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	list := attr.List(nil).Set("Resource_List", "select", sel).Set("Resource_List", "place", "scatter")
	for _, e := range more {
		list = list.Set(e.Name, e.Resource, e.Value)
	}
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: list})
	w.must(&StartJob{Job: id, ExecVnode: on})
	w.job = id
	w.confirm("hosta", nil)
	w.must(&JobStarted{Source: w.fact("hosta"), Job: id, RunCount: 1, Session: 7})
}

func (w *releasing) fact(host pbs.HostName) Source {
	w.facts[host]++
	return Source{Host: host, Spool: "s", Seq: w.facts[host]}
}

// confirm answers the open orders of a host.
func (w *releasing) confirm(host pbs.HostName, refusal *pbs.Error) {
	w.t.Helper()
	var open []pbs.OrderID
	for o := range w.View().Orders(host) {
		open = append(open, o.ID)
	}
	for _, id := range open {
		w.must(&OrderConfirmed{Host: host, Order: id, Refusal: refusal, Used: resource.List{{Name: "cput", Value: "00:00:35"}, {Name: "mem", Value: "4288kb"}, {Name: "walltime", Value: "00:00:26"}}})
	}
	w.check()
}

func (w *releasing) check() {
	w.t.Helper()
	if err := w.View().Check(); err != nil {
		w.t.Error(err)
	}
}

// must keeps what events the command made.
func (w *releasing) must(c Command) {
	w.t.Helper()
	w.index++
	out, events := Run(w.Store, w.index, 1, Entry{Time: pbs.Time(w.index), Proposals: []Proposal{{Commands: []Command{c}}}})
	w.Publish()
	if err := out[0].Err(); err != nil {
		w.t.Fatalf("%T: %v", c, err)
	}
	w.events = append(w.events, events...)
}

func (w *releasing) release(vnodes ...string) {
	w.t.Helper()
	w.must(&ReleaseNodes{Job: w.job, Vnodes: vnodes})
	w.check()
}

// left says that the job has left a host.
func (w *releasing) left(host pbs.HostName) {
	w.t.Helper()
	w.must(&JobEnded{Source: w.fact(host), Job: w.job, RunCount: w.now().RunCount})
	w.check()
}

func (w *releasing) now() *state.Job {
	j, _ := w.View().Job(w.job)
	return j
}

// busy lists the vnodes that the job is on.
func (w *releasing) busy() string {
	var names []string
	for v := range w.View().Vnodes() {
		for _, held := range v.Jobs {
			if held.Job == w.job {
				names = append(names, string(v.Name))
			}
		}
	}
	return strings.Join(names, " ")
}

func (w *releasing) want(execVnode, busy, assigned string) {
	w.t.Helper()
	j := w.now()
	if j.LastRun().ExecVnode.String() != execVnode {
		w.t.Errorf("exec_vnode = %s\nwant %s", j.LastRun().ExecVnode.String(), execVnode)
	}
	if got := w.busy(); got != busy {
		w.t.Errorf("the job is on %s, want %s", got, busy)
	}
	sum := w.View().AssignedToJobs()
	mem, _ := sum.Get("mem")
	cpus, _ := sum.Get("ncpus")
	if got := cpus + " " + mem; got != assigned {
		w.t.Errorf("assigned %s, want %s", got, assigned)
	}
}

// records lists the letters of the events that releases make.
func (w *releasing) records() string {
	letters := ""
	for _, e := range w.events {
		letters += map[state.EventKind]string{state.JobStarted: "S", state.JobPhaseEnded: "u", state.JobPhaseBegan: "c", state.JobPhasesOver: "e", state.JobEnded: "E", state.JobRequeued: "R"}[e.Kind]
	}
	return letters
}

const allOfJ1 = "hosta[0] hosta[1] hosta[2] hostb hostb[0] hostb[1] hostc"

// RD-16: the attributes change when the mother superior has answered; the vnode stays held.
func TestReleaseNodes_PartialIsHeld(t *testing.T) {
	w := newReleasing(t)
	w.release("hostb")
	w.want(evOfJ1, allOfJ1, "8 6gb")
	w.confirm("hosta", nil)
	w.want(strings.Replace(evOfJ1, "hostb:mem=1048576kb:ncpus=1+", "", 1), allOfJ1, "8 6291456kb")
	j := w.now()
	if j.LastRun().ExecHost.String() != ehOfJ1 || j.SchedSelect != "1:mem=2097152kb:ncpus=3+1:mem=1048576kb:ncpus=2+1:ncpus=2:mem=2097152kb" {
		t.Errorf("exec_host %s schedselect %s", j.LastRun().ExecHost.String(), j.SchedSelect)
	}
	if got := w.View().JobAttribute(j, "Resource_List_orig", "select"); got != "ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb" {
		t.Errorf("the original select is %s", got)
	}
	for name, want := range map[string]string{
		"exec_vnode_orig": evOfJ1, "exec_vnode_acct": evOfJ1, "exec_vnode_deallocated": "(hostb:mem=1048576kb:ncpus=1)",
		"schedselect_orig": "1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb",
	} {
		if got := w.View().JobAttribute(j, name, ""); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	if w.records() != "Suc" {
		t.Errorf("records %s", w.records())
	}
}

// RD-22 and RD-21: a host that is left altogether is freed when its mom says so, not before.
func TestReleaseNodes_WholeHostIsFreedByItsMom(t *testing.T) {
	w := newReleasing(t)
	w.release("hostb[0]", "hostb[1]", "hostc")
	w.confirm("hosta", nil)
	kept := evOfJ1[:strings.Index(evOfJ1, "+(hostb")] + "+(hostb:mem=1048576kb:ncpus=1)"
	w.want(kept, allOfJ1, "8 6291456kb")
	w.left("hostc")
	w.want(kept, "hosta[0] hosta[1] hosta[2] hostb hostb[0] hostb[1]", "6 4194304kb")
	var lines []string
	for _, e := range w.events {
		if e.Kind == state.VnodeLeft {
			lines = append(lines, e.Object+": "+e.Text)
		}
	}
	if got := strings.Join(lines, "\n"); got != fmt.Sprintf("hostc: clearing job %s from node hostc\nhostc: deallocating 2 cpu(s) from job %s", w.job, w.job) {
		t.Error(got)
	}
	w.release("hostb")
	w.confirm("hosta", nil)
	w.left("hostb")
	w.want(evOfJ1[:strings.Index(evOfJ1, "+(hostb")], "hosta[0] hosta[1] hosta[2]", "3 2097152kb")
	w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1, Used: resource.List{{Name: "walltime", Value: "00:01:00"}, {Name: "cput", Value: "00:01:00"}}})
	w.check()
	if w.records() != "SucuceE" {
		t.Errorf("records %s", w.records())
	}
	if sum := w.View().AssignedToJobs(); len(sum) > 0 {
		t.Errorf("assigned %v after the end", sum)
	}
}

// The walltimes of all phases add up to that of the job.
func TestReleaseNodes_PhasesAddUp(t *testing.T) {
	w := newReleasing(t)
	w.release("hostb")
	w.confirm("hosta", nil)
	w.must(&UsageSample{Host: "hosta", Jobs: []JobUsage{{Job: w.job, RunCount: 1, Used: resource.List{{Name: "mem", Value: "9kb"}}, Present: resource.List{{Name: "mem", Value: "5kb"}}}}})
	w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1, Used: resource.List{{Name: "walltime", Value: "00:17:04"}, {Name: "cput", Value: "00:16:06"}, {Name: "mem", Value: "9kb"}}})
	for _, e := range w.events {
		text := fmt.Sprint(e.Used)
		switch e.Kind {
		case state.JobPhaseEnded:
			for _, want := range []string{"{cput 00:00:35}", "{walltime 00:00:26}", "{mem 4288kb}", "{ncpus 8}"} {
				if !strings.Contains(text, want) {
					t.Errorf("u has %s, want %s", text, want)
				}
			}
		case state.JobPhasesOver:
			for _, want := range []string{"{cput 00:15:31}", "{walltime 00:16:38}", "{mem 5kb}", "{ncpus 7}"} {
				if !strings.Contains(text, want) {
					t.Errorf("e has %s, want %s", text, want)
				}
			}
		}
	}
}

func TestReleaseNodes_Refusals(t *testing.T) {
	w := newReleasing(t)
	j := w.now()
	for names, want := range map[string]string{
		"hostb[0] hostb[1] hosta[0] hostc":       "Can't free 'hosta[0]' since it's on a primary execution host",
		"hostb hostb[0] hosta[3] hostb[1] hostc": "node(s) requested to be released not part of the job: hosta[3]",
		"x hostb hosta[3]":                       "node(s) requested to be released not part of the job: x hosta[3]",
		"x hosta[2]":                             "Can't free 'hosta[2]' since it's on a primary execution host",
	} {
		if _, err := PlanRelease(w.View(), j, &ReleaseNodes{Job: w.job, Vnodes: strings.Fields(names)}); err == nil || err.Error() != want || pbs.CodeOf(err) != pbs.SystemError {
			t.Errorf("%s: %v", names, err)
		}
	}
	for attribute, want := range map[string]string{
		"vntype=x,cray_login": "not currently supported on Cray X* series nodes: hostc",
		"arch=linux_cpuset":   "not currently supported on nodes whose resources are part of a cpuset: hostc",
	} {
		name, value, _ := strings.Cut(attribute, "=")
		v, _ := w.View().Vnode("hostc")
		w.must(&HostUp{Host: "hostc", Address: "hostc:1", BootID: "b", SpoolID: "s", Tasks: []ReportedTask{{w.job, 1}}, Vnodes: []ReportedVnode{{Name: "hostc", Available: v.Reported.Set(name, value)}}})
		for _, c := range []*ReleaseNodes{{Vnodes: []string{"hostc"}}, {}, {Keep: "select=ncpus=3"}} {
			if _, err := PlanRelease(w.View(), j, c); err == nil || err.Error() != want {
				t.Errorf("%+v: %v, want %s", c, err, want)
			}
		}
		w.must(&HostUp{Host: "hostc", Address: "hostc:1", BootID: "b", SpoolID: "s", Tasks: []ReportedTask{{w.job, 1}}, Vnodes: []ReportedVnode{{Name: "hostc", Available: v.Reported}}})
	}
	w.release("hostc")
	if err := w.run(&ReleaseNodes{Job: w.job, Vnodes: []string{"hostb"}}); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("a second one meanwhile: %v", err)
	}
	w.confirm("hosta", nil)
	if err := w.run(&ReleaseNodes{Job: w.job, Vnodes: []string{"hostc"}}); err == nil || err.Error() != "node(s) requested to be released not part of the job: hostc" {
		t.Errorf("RD-38: %v", err)
	}
}

// Row 22: the mother superior refuses, and the job is as it was.
func TestReleaseNodes_MomRefuses(t *testing.T) {
	w := newReleasing(t)
	before := w.now().Grant()
	w.release()
	w.confirm("hosta", pbs.Refuse(pbs.BadState))
	j := w.now()
	if fmt.Sprint(j.Grant()) != fmt.Sprint(before) || j.LastRun().Release != nil || j.LastRun().Phases != nil || fmt.Sprint(j.Refused) != "[{1 15016 true}]" {
		t.Errorf("%+v %+v %v", j.Grant(), j.LastRun().Release, j.Refused)
	}
	if w.records() != "S" {
		t.Errorf("records %s", w.records())
	}
}

// Row 21: a release that is withdrawn is overtaken by an order with a higher number; a late
// answer to the first changes nothing.
func TestReleaseNodes_Withdrawn(t *testing.T) {
	w := newReleasing(t)
	w.release()
	var asked *state.Order
	for o := range w.View().Orders("hosta") {
		asked = o
	}
	w.must(&WithdrawRelease{Job: w.job, RunCount: 1, Number: 1})
	w.must(&OrderConfirmed{Host: "hosta", Order: asked.ID})
	w.want(evOfJ1, allOfJ1, "8 6gb")
	var open []string
	for o := range w.View().Orders("hosta") {
		open = append(open, fmt.Sprintf("%d %d", o.Number, o.Step))
	}
	if got := strings.Join(open, ","); got != fmt.Sprintf("2 %d", state.ReleaseWithdrawn) {
		t.Errorf("open orders %s", got)
	}
	w.confirm("hosta", nil)
	w.release("hostc")
	w.confirm("hosta", nil)
	if w.now().LastRun().Phases == nil {
		t.Error("a later release came to nothing")
	}
}

// RD-27: a job that is queued again has its original request.
func TestReleaseNodes_Rerun(t *testing.T) {
	w := newReleasing(t)
	before := w.now().Grant()
	w.release("hostb[0]", "hostb[1]", "hostc")
	w.confirm("hosta", nil)
	w.release("hostb")
	w.must(&RerunJob{Job: w.job})
	w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1})
	j := w.now()
	if j.SchedSelect != before.SchedSelect || fmt.Sprint(j.Resources) != fmt.Sprint(before.Resources) || j.LastRun().Phases != nil || j.LastRun().Release != nil {
		t.Errorf("%s %v %+v", j.SchedSelect, j.Resources, j.LastRun().Phases)
	}
	if w.records() != "SucR" {
		t.Errorf("records %s", w.records())
	}
	if w.busy() != "" {
		t.Errorf("the job is on %s", w.busy())
	}
	w.check()
	if len(j.Unconfirmed) != 2 { // the released host has not said so either
		t.Errorf("waits for %v", j.Unconfirmed)
	}
}
