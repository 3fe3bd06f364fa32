package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// Vnodes of kinds that cannot be taken out of a job stay at the stage-out, too; the log says so, and the
// job goes on (specification: ramp-down section 12).
func TestReleaseNodes_StageOutIsRefused(t *testing.T) {
	for attribute, want := range map[string]string{
		"vntype=cray_login": "not currently supported on Cray X* series nodes: hostc",
		"arch=linux_cpuset": "not currently supported on nodes whose resources are part of a cpuset: hostc",
	} {
		name, value, _ := strings.Cut(attribute, "=")
		w := newReleasing(t, attr.Entry{Name: "release_nodes_on_stageout", Value: "True"}, attr.Entry{Name: "stageout", Value: "a@hostb:a"})
		v, _ := w.View().Vnode("hostc")
		w.must(&HostUp{Host: "hostc", Address: "hostc:1", BootID: "b", SpoolID: "s", Tasks: []ReportedTask{{w.job, 1}}, Vnodes: []ReportedVnode{{Name: "hostc", Available: v.Reported.Set(name, value)}}})
		w.must(&JobExiting{Source: w.fact("hosta"), Job: w.job, RunCount: 1})
		w.confirm("hosta", nil)
		w.want(evOfJ1, allOfJ1, "8 6gb")
		var said []string
		for _, e := range w.events {
			if e.Kind == state.JobRefused {
				said = append(said, e.Text)
			}
		}
		if w.records() != "S" || !slices.Equal(said, []string{want}) || w.now().State != pbs.Exiting {
			t.Errorf("records %s, the log has %q, the job is %s", w.records(), said, w.now().State)
		}
	}
}

// Cpus that are held count as used until the mom has confirmed (specification: ramp-down section 8).
func TestReleaseNodes_Licenses(t *testing.T) {
	w := newReleasing(t)
	used := func(want int64) {
		t.Helper()
		if l := w.View().Cluster().Licenses; l == nil || l.Used != want {
			t.Errorf("licenses %+v, want %d in use", l, want)
		}
	}
	tick := func() { w.must(&TimeTick{}) }
	tick()
	used(8)
	w.release("hostb", "hostc")
	w.confirm("hosta", nil)
	tick()
	used(8)
	w.left("hostc")
	tick()
	used(6)
}

// The hidden attributes of a phased job (specification: ramp-down section 15).
func TestReleaseNodes_HiddenAttributes(t *testing.T) {
	w := newReleasing(t)
	j := w.now()
	value := func(name, res string) string { return w.View().JobAttribute(w.now(), name, res) }
	names := []string{
		"exec_host_orig", "exec_vnode_orig", "Resource_List_orig", "schedselect_orig", "exec_host_acct", "exec_vnode_acct",
		"Resource_List_acct", "resources_used_acct", "resources_used_update", "exec_vnode_deallocated",
	}
	for _, name := range names {
		d, ok := attr.Lookup(attr.Job, name)
		if !ok || !d.Hidden || d.Write != 0 {
			t.Errorf("%s: %+v", name, d)
		}
		if got := value(name, "ncpus"); got != "" {
			t.Errorf("%s.ncpus = %s before a release", name, got)
		}
	}
	w.release("hostb")
	w.confirm("hosta", nil)
	first := w.now().LastRun().ExecVnode.String()
	w.release("hostb[0]", "hostc")
	w.confirm("hosta", nil)
	w.must(&UsageSample{Host: "hosta", Jobs: []JobUsage{{Job: w.job, RunCount: 1, Used: resource.List{{Name: "mem", Value: "9kb"}}, Present: resource.List{{Name: "mem", Value: "5kb"}}}}})
	for name, want := range map[string]string{
		"exec_host_orig": ehOfJ1, "exec_vnode_orig": evOfJ1, "Resource_List_orig ncpus": "8", "schedselect_orig": j.SchedSelect,
		"exec_host_acct": ehOfJ1, "exec_vnode_acct": first, "Resource_List_acct ncpus": "7", "resources_used_acct cput": "00:00:35",
		"resources_used_update mem": "5kb",
		"exec_vnode_deallocated":    "(hostb[0]:mem=1048576kb:ncpus=1)+(hostc:ncpus=2:mem=2097152kb)+(hostb:mem=1048576kb:ncpus=1)",
	} {
		name, res, _ := strings.Cut(name, " ")
		if got := value(name, res); got != want {
			t.Errorf("%s.%s = %s, want %s", name, res, got, want)
		}
	}
	w.must(&RerunJob{Job: w.job})
	w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1})
	for _, name := range names {
		for _, res := range []string{"", "ncpus", "cput", "mem"} {
			if got := value(name, res); got != "" {
				t.Errorf("%s.%s = %s after a rerun", name, res, got)
			}
		}
	}
}

// A held vnode that is assigned exclusively takes no other job (specification: ramp-down section 8).
func TestReleaseNodes_HeldExclusively(t *testing.T) {
	w := twoHosts(t, "excl")
	w.release("hostb[1]")
	w.confirm("hosta", nil)
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: attr.List(nil).Set("Resource_List", "select", "vnode=hostb[1]:ncpus=1")})
	other := pbs.NewJobID(1, "srv")
	if err := w.run(&StartJob{Job: other, ExecVnode: "(hostb[1]:ncpus=1)"}); pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("while it is held: %v", err)
	}
	w.release("hostb[0]")
	w.confirm("hosta", nil)
	w.left("hostb")
	w.must(&StartJob{Job: other, ExecVnode: "(hostb[1]:ncpus=1)"})
	if got := fmt.Sprint(w.View().AssignedToJobs()); !strings.Contains(got, "ncpus 2") {
		t.Errorf("assigned %s", got)
	}
}
