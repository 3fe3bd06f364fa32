package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// twoHosts is the complex P2n of the cases.
func twoHosts(t *testing.T, place string) *releasing {
	w := &releasing{writer: newWriter(t), facts: map[pbs.HostName]uint64{}}
	cpus := func(n string) resource.List { return resource.List{{Name: "ncpus", Value: n}} }
	w.must(&HostUp{Host: "hosta", Address: "hosta:1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "hosta", Available: cpus("1")}}})
	w.must(&HostUp{Host: "hostb", Address: "hostb:1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{
		{Name: "hostb"}, {Name: "hostb[0]", Available: cpus("1")}, {Name: "hostb[1]", Available: cpus("4")},
	}})
	var more []attr.Entry
	if place != "" {
		more = append(more, attr.Entry{Name: "Resource_List", Resource: "place", Value: place})
	}
	w.start("ncpus=1+2:ncpus=1", "(hosta:ncpus=1)+(hostb[0]:ncpus=1)+(hostb[1]:ncpus=1)", more...)
	return w
}

// looks expects the state, jobs and assigned cpus of vnodes.
func (w *releasing) looks(want map[string][3]string) {
	w.t.Helper()
	for name, parts := range want {
		v, _ := w.View().Vnode(pbs.VnodeName(name))
		n, _ := v.Assigned.Get("ncpus")
		if n == "" {
			n = "0"
		}
		if got := [3]string{v.State(), v.JobsText(), n}; got != parts {
			w.t.Errorf("%s: %q, want %q", name, got, parts)
		}
	}
}

// RD-41: an exclusive job keeps all of a host until it has left it.
func TestReleaseNodes_RD41(t *testing.T) {
	w := twoHosts(t, "excl")
	id := string(w.job)
	busy := [3]string{"job-exclusive", id + "/0", "1"}
	w.release("hostb[1]")
	w.confirm("hosta", nil)
	w.looks(map[string][3]string{"hosta": busy, "hostb[0]": busy, "hostb[1]": busy})
	if j := w.now(); j.LastRun().ExecVnode.String() != "(hosta:ncpus=1)+(hostb[0]:ncpus=1)" {
		t.Error(j.LastRun().ExecVnode.String())
	}
	w.release("hostb[0]")
	w.confirm("hosta", nil)
	w.left("hostb")
	free := [3]string{"free", "", "0"}
	w.looks(map[string][3]string{"hosta": busy, "hostb[0]": free, "hostb[1]": free})
}

// RD-42: others may use what is left of a held vnode that is shared.
func TestReleaseNodes_RD42(t *testing.T) {
	w := twoHosts(t, "")
	first := w.job
	id := string(first)
	w.release("hostb[1]")
	w.confirm("hosta", nil)
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", "vnode=hostb[1]:ncpus=1")})
	second := pbs.NewJobID(1, "srv")
	w.must(&StartJob{Job: second, ExecVnode: "(hostb[1]:ncpus=1)"})
	w.looks(map[string][3]string{"hostb[0]": {"job-busy", id + "/0", "1"}, "hostb[1]": {"free", id + "/0, " + string(second) + "/1", "2"}})
	w.release("hostb[0]")
	w.confirm("hosta", nil)
	w.left("hostb")
	w.looks(map[string][3]string{"hostb[0]": {"free", "", "0"}, "hostb[1]": {"free", string(second) + "/1", "1"}})
}

// RD-26: what is released and not confirmed is not promised again (L3), and slots of exec_host
// stay the job's.
func TestReleaseNodes_RD26(t *testing.T) {
	w := newReleasing(t)
	w.release("hostb", "hostb[0]", "hostc")
	w.confirm("hosta", nil)
	w.left("hostc")
	first := w.job
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", "ncpus=1:mem=1gb+ncpus=4:mem=4gb+ncpus=2:mem=2gb")})
	second := pbs.NewJobID(1, "srv")
	const on = "(hosta[3]:ncpus=1:mem=1048576kb)+(hostb:mem=1048576kb:ncpus=1+hostb[0]:mem=1048576kb:ncpus=1+hostb[2]:mem=1048576kb:ncpus=1+hostb[3]:mem=1048576kb:ncpus=1)+(hostc:ncpus=2:mem=2097152kb)"
	if err := w.run(&StartJob{Job: second, ExecVnode: on}); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("while the job holds hostb: %v", err)
	}
	w.release("hostb[1]")
	w.confirm("hosta", nil)
	if err := w.run(&StartJob{Job: second, ExecVnode: on}); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("before the mom has confirmed: %v", err)
	}
	w.left("hostb")
	w.must(&StartJob{Job: second, ExecVnode: on})
	if j, _ := w.View().Job(second); j.LastRun().ExecHost.String() != "hosta/1+hostb/1*0+hostc/1*2" {
		t.Error(j.LastRun().ExecHost.String())
	}
	w.check()
	w.must(&JobEnded{Source: w.fact("hosta"), Job: first, RunCount: 1}) // and are free with its end
	w.must(&DeleteJob{Job: second, Force: true})
	w.must(&JobEnded{Source: w.fact("hosta"), Job: second, RunCount: 1})
	w.start("ncpus=1+ncpus=1+ncpus=1", "(hosta[3]:ncpus=1)+(hostb[0]:ncpus=1)+(hostc:ncpus=1)")
	if j := w.now(); j.LastRun().ExecHost.String() != "hosta/0+hostb/0+hostc/0" {
		t.Error(j.LastRun().ExecHost.String())
	}
}
