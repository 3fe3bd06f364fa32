package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// RS-12: what is left to a job that has its vnodes to itself stays its own, and they count for what its chunks
// take of them, as those of RD-41 and RD-29 do; only resource_assigned counts all that others are denied.
func TestPrune_Exclusive(t *testing.T) {
	for _, c := range []struct {
		id        string
		bad       []pbs.HostName
		has       map[pbs.VnodeName][2]string
		cpus, mem string
	}{
		{"RS-12", []pbs.HostName{"hostb", "hostc"}, map[pbs.VnodeName][2]string{
			"hosta[0]": {"1", "1048576kb"}, "hosta[2]": {"1", "0kb"}, "hostd": {"3", "2097152kb"}, "hoste": {"1", "1048576kb"}, "hoste[0]": {"1", "1048576kb"},
		}, "10", "10gb"},
		{"RS-14", []pbs.HostName{"hostc", "hoste"}, map[pbs.VnodeName][2]string{
			"hosta[0]": {"1", "1048576kb"}, "hosta[2]": {"1", "0kb"}, "hostb": {"1", "1048576kb"}, "hostb[1]": {"1", "0kb"}, "hostd": {"2", "2097152kb"},
		}, "11", "11gb"},
	} {
		t.Run(c.id, func(t *testing.T) {
			w := newPruning(t, attr.Entry{Name: "Resource_List", Resource: "place", Value: "scatter:excl"})
			w.prune(selSO, c.bad...)
			w.confirm("hosta", nil)
			w.check()
			for _, name := range []pbs.VnodeName{"hosta[0]", "hosta[2]", "hostb", "hostb[1]", "hostc", "hostd", "hoste", "hoste[0]"} {
				v, _ := w.View().Vnode(name)
				state, want := "free", resource.List(nil)
				if has, keeps := c.has[name]; keeps || len(v.Jobs) > 0 {
					state, want = "job-exclusive", resource.List{{Name: "mem", Value: has[1]}, {Name: "ncpus", Value: has[0]}}
				}
				if v.State() != state || !resource.Equal(v.Assigned, want, w.View()) {
					t.Errorf("%s is %s with %v, want %s with %v", name, v.State(), v.Assigned, state, want)
				}
			}
			want := resource.List{{Name: "mem", Value: "6291456kb"}, {Name: "ncpus", Value: "8"}}
			if got := w.View().AssignedToJobs().Unset("nodect"); !resource.Equal(got, want, w.View()) {
				t.Errorf("the server has %v assigned", got)
			}
			denied := resource.List{{Name: "mem", Value: c.mem}, {Name: "ncpus", Value: c.cpus}}
			if j := w.now(); !resource.Equal(j.LastRun().Assigned, denied, w.View()) {
				t.Errorf("resource_assigned is %v, want %v", j.LastRun().Assigned, denied)
			}
		})
	}
}
