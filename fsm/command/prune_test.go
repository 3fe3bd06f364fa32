package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/alloc"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// The chunks of the complex P5 (reliable-startup section 15).
const (
	chunkA = "(hosta[0]:mem=1048576kb:ncpus=1+hosta[1]:mem=1048576kb:ncpus=1+hosta[2]:ncpus=1)"
	chunkB = "(hostb:mem=1048576kb:ncpus=1+hostb[0]:mem=1048576kb:ncpus=1+hostb[1]:ncpus=1)"
	chunkC = "(hostc:ncpus=2:mem=2097152kb)"
	chunkD = "(hostd:ncpus=3:mem=2097152kb)"
	chunkE = "(hoste:mem=1048576kb:ncpus=1+hoste[0]:mem=1048576kb:ncpus=1)"
	selSO  = "ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb"
	selSP  = "1:ncpus=3:mem=2gb+2:ncpus=3:mem=2gb+2:ncpus=2:mem=2gb"
	selSN  = "1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb"
	evOfR1 = chunkA + "+" + chunkB + "+" + chunkD + "+" + chunkC + "+" + chunkE
	ehOfR1 = "hosta/0*0+hostb/0*0+hostd/0*3+hostc/0*2+hoste/0*0"
)

// newPruning is P5 with the padded job R1 that is being started.
func newPruning(t *testing.T, more ...attr.Entry) *releasing {
	w := &releasing{writer: newWriter(t), facts: map[pbs.HostName]uint64{}}
	one := resource.List{{Name: "mem", Value: "1gb"}, {Name: "ncpus", Value: "1"}}
	four := func(host string, natural resource.List) []ReportedVnode {
		all := []ReportedVnode{{Name: pbs.VnodeName(host), Available: natural}}
		for i := range 4 {
			all = append(all, ReportedVnode{Name: pbs.VnodeName(fmt.Sprintf("%s[%d]", host, i)), Available: one})
		}
		return all
	}
	for host, vnodes := range map[pbs.HostName][]ReportedVnode{
		"hosta": four("hosta", nil), "hostb": four("hostb", one), "hoste": four("hoste", one),
		"hostc": {{Name: "hostc", Available: resource.List{{Name: "mem", Value: "2gb"}, {Name: "ncpus", Value: "2"}}}},
		"hostd": {{Name: "hostd", Available: resource.List{{Name: "mem", Value: "5gb"}, {Name: "ncpus", Value: "5"}}}},
	} {
		w.must(&HostUp{Host: host, Address: string(host) + ":1", BootID: "b", SpoolID: "s", Vnodes: vnodes})
	}
	w.job = pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	list := attr.List(nil).Set("Resource_List", "select", selSO).Set("Resource_List", "place", "scatter").
		Set("Resource_List", "select_reliable_startup", selSP)
	for _, e := range more {
		list = list.Set(e.Name, e.Resource, e.Value)
	}
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: list})
	w.must(&StartJob{Job: w.job, ExecVnode: evOfR1})
	w.confirm("hosta", nil)
	w.events = nil
	return w
}

func (w *releasing) prune(keep string, bad ...pbs.HostName) {
	w.t.Helper()
	w.must(&PruneJob{Job: w.job, RunCount: w.now().RunCount, Host: "hosta", Keep: keep, Bad: bad})
	w.check()
}

// letters are the accounting records of the events so far.
func (w *releasing) letters() string {
	letters := map[state.EventKind]string{
		state.JobCounted: "S", state.JobAdjusted: "s", state.JobPhaseEnded: "u", state.JobPhaseBegan: "c",
		state.JobStarted: "S", state.JobEnded: "E", state.JobPhasesOver: "e", state.JobRequeued: "R",
	}
	var all []string
	for _, e := range w.events {
		if letter := letters[e.Kind]; letter != "" && !e.Unrecorded {
			assigned := strings.Count(e.Job.LastRun().ExecVnode.String(), "(")
			if (letter == "E" || letter == "R") && e.Job.LastRun().Phases != nil {
				assigned = strings.Count(e.Job.LastRun().Phases.Orig.ExecVnode.String(), "(")
			}
			all = append(all, letter+fmt.Sprint(assigned))
		}
	}
	return strings.Join(all, " ")
}

// RS-1, RS-10, RS-14: the pruned assignment is put in force in two commits; what is out of it
// is free at once, and the job ends as any phased one.
func TestPrune(t *testing.T) {
	for _, c := range []struct {
		id, keep    string
		bad         []pbs.HostName
		vnode, host string
		cpus, mem   string
		free        []pbs.VnodeName
	}{
		{"RS-1", selSO, []pbs.HostName{"hostb", "hostc"}, chunkA + "+" + chunkD + "+" + chunkE, "hosta/0*0+hostd/0*3+hoste/0*0", "8", "6gb", []pbs.VnodeName{"hostb", "hostb[0]", "hostb[1]", "hostc"}},
		{"RS-10", selSO + "+ncpus=1:mem=1gb", nil, chunkA + "+" + chunkB + "+" + chunkC + "+(hoste:mem=1048576kb:ncpus=1)", "hosta/0*0+hostb/0*0+hostc/0*2+hoste/0", "9", "7gb", []pbs.VnodeName{"hostd", "hoste[0]"}},
		{"RS-14", selSO, []pbs.HostName{"hostc", "hoste"}, chunkA + "+" + chunkB + "+(hostd:ncpus=2:mem=2097152kb)", "hosta/0*0+hostb/0*0+hostd/0*2", "8", "6gb", []pbs.VnodeName{"hostc", "hoste"}},
	} {
		t.Run(c.id, func(t *testing.T) {
			w := newPruning(t)
			w.prune(c.keep, c.bad...)
			if j := w.now(); j.LastRun().ExecVnode.String() != evOfR1 || j.LastRun().Release == nil {
				t.Errorf("asked: %s, %+v", j.LastRun().ExecVnode.String(), j.LastRun().Release)
			}
			w.prune(c.keep, c.bad...) // asked again, after a failover
			w.confirm("hosta", nil)
			j := w.now()
			cpus, _ := j.Resources.Get("ncpus")
			mem, _ := j.Resources.Get("mem")
			if j.LastRun().ExecVnode.String() != c.vnode || j.LastRun().ExecHost.String() != c.host || cpus != c.cpus || mem != c.mem || j.Substate != pbs.SubStarting || j.LastRun().Release != nil {
				t.Errorf("done: %s, %s, %s cpus, %s, %d, %+v", j.LastRun().ExecVnode.String(), j.LastRun().ExecHost.String(), cpus, mem, j.Substate, j.LastRun().Release)
			}
			for _, name := range c.free {
				if v, _ := w.View().Vnode(name); len(v.Jobs) > 0 || len(v.Assigned) > 0 && !resource.Equal(v.Assigned, nil, w.View()) {
					t.Errorf("%s has %v, %v", name, v.Jobs, v.Assigned)
				}
			}
			if d, _ := w.View().Vnode("hostd"); c.id == "RS-14" && (len(d.Jobs) != 1 || len(d.Jobs[0].CPUs) != 2) {
				t.Errorf("hostd has %+v", d.Jobs)
			}
			if got, _ := w.View().AssignedToJobs().Get("ncpus"); got != c.cpus {
				t.Errorf("%s cpus are assigned", got)
			}
			if got, _ := w.View().AssignedToJobs().Get("mem"); !strings.HasSuffix(got, "kb") {
				t.Errorf("%s are assigned", got)
			}
			for _, e := range w.events { // before its program began it has used nothing, and says so
				if want := "[{cpupercent 0} {cput 00:00:00} {mem 0kb} {ncpus 13} {vmem 0kb} {walltime 00:00:00}]"; e.Kind == state.JobPhaseEnded && fmt.Sprint(e.Used) != want {
					t.Errorf("the first phase used %v, want %s", e.Used, want)
				}
			}
			for _, host := range c.bad {
				for o := range w.View().Orders(host) {
					if o.Kind != state.OrderKill || !o.Left {
						t.Errorf("%s is not told that the run goes on without it: %+v", host, o)
					}
				}
			}
			w.prune(c.keep, c.bad...) // once more: nothing is left to be done
			if w.now().LastRun().Release != nil {
				t.Error("a second prune was asked for")
			}
			w.must(&JobStarted{Source: w.fact("hosta"), Job: w.job, RunCount: 1, Session: 7})
			w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1})
			w.check()
			n := strings.Count(c.vnode, "(")
			if got, want := w.letters(), fmt.Sprintf("S5 s5 u5 c%d s%d e%d E5", n, n, n); got != want {
				t.Errorf("the records are %s, want %s", got, want)
			}
		})
	}
}

// A job that was not pruned has its s behind its S, if it is padded.
func TestPrune_RecordsOfAnUnprunedJob(t *testing.T) {
	w := newPruning(t)
	w.must(&JobStarted{Source: w.fact("hosta"), Job: w.job, RunCount: 1, Session: 7})
	if got := w.letters(); got != "S5 s5" {
		t.Errorf("the records are %s", got)
	}
}

// RS-19: vnodes by their names, with the select of a release; the hosts that are out are not
// the run's any more, and the job waits for their word before it runs again (L2).
func TestPrune_RS19(t *testing.T) {
	w := newPruning(t)
	w.must(&PruneJob{Job: w.job, RunCount: 1, Host: "hosta", Vnodes: []string{"hostb", "hostb[0]", "hostb[1]"}})
	w.confirm("hosta", nil)
	j := w.now()
	if j.LastRun().ExecVnode.String() != chunkA+"+"+chunkD+"+"+chunkC+"+"+chunkE {
		t.Errorf("exec_vnode is %s", j.LastRun().ExecVnode.String())
	}
	if want := "1:mem=2097152kb:ncpus=3+1:ncpus=3:mem=2097152kb+1:ncpus=2:mem=2097152kb+1:mem=2097152kb:ncpus=2"; j.SchedSelect != want {
		t.Errorf("schedselect is %s", j.SchedSelect)
	}
	if j.LastRun().Sister("hostb") || len(j.Unconfirmed) != 1 {
		t.Errorf("sisters %v, unconfirmed %v", j.LastRun().Sisters, j.Unconfirmed)
	}
	w.must(&HostDown{Host: "hostb", Reason: "silent"})
	w.must(&ForgetHost{Host: "hostb"}) // its loss is none of the run's
	if j := w.now(); j.State != pbs.Running || j.LastRun().Ending != 0 || len(j.Unconfirmed) != 0 {
		t.Errorf("the job is %s, %v", j.State, j.Unconfirmed)
	}
	if err := w.run(&PruneJob{Job: w.job, RunCount: 1, Host: "hosta", Vnodes: []string{"hosta[0]"}}); err == nil {
		t.Error("a vnode of the primary host was released")
	}
}

// A start that fails after its pruning gives the job its padded request back.
// PBS has a text for a pruned assignment that does not fit ("error assigning hosts...requeueing job",
// reliable-startup 9.5), and here nothing can say it. What was asked for has less of the same on the same vnodes,
// and from then until it is done nobody takes anything from under it: a vnode with jobs is not deleted, also when its
// host registers without it or an operator lowers what it has, and other changes of the job wait (L3).
func TestPrune_AlwaysFits(t *testing.T) {
	w := newPruning(t)
	w.prune(selSO, "hostb", "hostc")
	for _, name := range []pbs.VnodeName{"hosta[1]", "hostd", "hoste[0]"} {
		if err := w.run(&ManageVnode{Verb: VerbDelete, Vnode: name}); pbs.CodeOf(err) != pbs.BusyObject {
			t.Errorf("%s may be deleted: %v", name, err)
		}
	}
	w.must(&ManageVnode{Verb: VerbSet, Vnode: "hostd", Changes: []AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "ncpus", Value: "0"}}}})
	w.must(&HostUp{Host: "hoste", Address: "hoste:1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "hoste"}}})
	w.confirm("hosta", nil)
	if j := w.now(); j.LastRun().ExecVnode.String() != chunkA+"+"+chunkD+"+"+chunkE || j.LastRun().Release != nil {
		t.Errorf("%s, %+v", j.LastRun().ExecVnode.String(), j.LastRun().Release)
	}
	w.check()
}

func TestPrune_Requeued(t *testing.T) {
	w := newPruning(t)
	w.prune(selSO, "hostb")
	w.confirm("hosta", nil)
	w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1, ExitStatus: -3, NeverStarted: true})
	w.check()
	j := w.now()
	sel, _ := j.Resources.Get("select")
	requested, _ := j.Resources.Get("select_requested")
	if j.State != pbs.Queued || sel != selSP || j.SchedSelect != selSP || requested != selSN || j.LastRun().Counted {
		t.Errorf("%s, select %s, schedselect %s, requested %s", j.State, sel, j.SchedSelect, requested)
	}
	if got := w.letters(); got != "S5 s5 u5 c3 s3 R5" {
		t.Errorf("the records are %s", got)
	}
	if err := w.run(&StartJob{Job: w.job, ExecVnode: evOfR1}); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("a start before hostb has confirmed: %v", err)
	}
}

func TestPrune_Refusals(t *testing.T) {
	w := newPruning(t)
	err := w.run(&PruneJob{Job: w.job, RunCount: 1, Host: "hosta", Keep: selSO, Bad: []pbs.HostName{"hostb", "hostd"}})
	if err == nil {
		t.Error("pruned to what is not there")
	}
	if _, err := PlanPrune(w.View(), w.now(), &PruneJob{Job: w.job, RunCount: 1, Host: "hosta", Keep: "ncpus=9"}); !errors.As(err, new(*alloc.Unpruned)) {
		t.Errorf("plan: %v", err)
	}
	for _, c := range []*PruneJob{
		{Job: w.job, RunCount: 2, Host: "hosta", Keep: selSO},
		{Job: w.job, RunCount: 1, Host: "hostb", Keep: selSO},
		{Job: w.job, RunCount: 1, Host: "hosta", Keep: "ncpus="},
		{Job: "7.srv", RunCount: 1, Host: "hosta", Keep: selSO},
	} {
		if err := w.run(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	if j := w.now(); j.LastRun().Release != nil || j.LastRun().ExecVnode.String() != evOfR1 {
		t.Errorf("the job has changed: %+v", j.LastRun().Release)
	}
	w.must(&JobStarted{Source: w.fact("hosta"), Job: w.job, RunCount: 1, Session: 7})
	if err := w.run(&PruneJob{Job: w.job, RunCount: 1, Host: "hosta", Keep: selSO}); pbs.CodeOf(err) != pbs.BadState {
		t.Errorf("a running job was pruned: %v", err)
	}
}

// Section 11, and who is told of a verdict: a job that bears failures goes on without a sister,
// while it starts or, with "all", all its life; its mother superior hears of it at once.
func TestTolerance_LostSister(t *testing.T) {
	for _, c := range []struct {
		tolerance string
		started   bool
		goesOn    bool
	}{{"all", true, true}, {"all", false, true}, {"job_start", false, true}, {"job_start", true, false}, {"none", false, false}} {
		w := newPruning(t, attr.Entry{Name: "tolerate_node_failures", Value: c.tolerance})
		if c.started {
			w.must(&JobStarted{Source: w.fact("hosta"), Job: w.job, RunCount: 1, Session: 7})
		}
		w.must(&HostDown{Host: "hostb", Reason: "silent"})
		told := 0
		for o := range w.View().Orders("hosta") {
			if v, _ := o.Changes.Get("sister_down", ""); v == "hostb" {
				told++
			}
		}
		if want := map[bool]int{true: 1, false: 0}[c.tolerance != "none" && !c.started]; told != want {
			t.Errorf("%+v: told %d times", c, told)
		}
		w.must(&ForgetHost{Host: "hostb"})
		w.check()
		if j := w.now(); (j.LastRun().Ending == 0) != c.goesOn {
			t.Errorf("%+v: the job is %s, ending %d", c, j.State, j.LastRun().Ending)
		}
	}
}

// RS-1: a hook on the mother superior may take vnodes of its run out of service, and nothing
// else of other hosts.
func TestTolerance_OfflineByHook(t *testing.T) {
	w := newPruning(t)
	wish := func(v HookVnode) {
		w.must(&HookWishes{Source: w.fact("hosta"), Hook: "launch", Run: &ReportedTask{Job: w.job, RunCount: 1}, Vnodes: []HookVnode{v}})
	}
	wish(HookVnode{Name: "hostb[0]", Set: attr.List{{Name: "state", Value: "offline"}}})
	wish(HookVnode{Name: "hostb[3]", Set: attr.List{{Name: "state", Value: "offline"}}}) // not the job's
	wish(HookVnode{Name: "hostc", Set: attr.List{{Name: "comment", Value: "bad"}}})
	wish(HookVnode{Name: "hostd", Set: attr.List{{Name: "comment", Value: "bad"}, {Name: "state", Value: "offline"}}, Unset: []string{"pcpus"}})
	for name, want := range map[pbs.VnodeName]bool{"hostb[0]": true, "hostb[3]": false, "hostc": false, "hostd": true} {
		if v, _ := w.View().Vnode(name); (v.Flags&state.VnodeOffline != 0) != want || v.Comment != "" {
			t.Errorf("%s is %s, %q", name, v.State(), v.Comment)
		}
	}
	var lines []string
	for _, e := range w.events {
		if e.Kind == state.HookVnodeChanged || e.Kind == state.HookVnodeRefused {
			lines = append(lines, e.Object+": "+e.Text)
		}
	}
	updated := func(name string) string {
		return name + ": Updated vnode " + name + "'s attribute state=offline per mom hook request"
	}
	refused := func(name string) string {
		return "hosta: Not allowed to update vnode '" + name + "', as it is owned by a different mom"
	}
	if want := []string{updated("hostb[0]"), refused("hostb[3]"), refused("hostc"), refused("hostd"), updated("hostd")}; !slices.Equal(lines, want) {
		t.Errorf("the log has %q", lines)
	}
}
