package command

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// newInstances has a job run on some of hosts a to d of (10@[a b]) and (5@[c d]) of lic.
func newInstances(t testing.TB, sel, on, layout string) *releasing {
	w := &releasing{writer: newWriter(t), facts: map[pbs.HostName]uint64{}}
	w.must(&ManageResource{Verb: VerbCreate, Name: "lic", Changes: []AttrChange{{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "nh"}}}})
	for _, h := range [][2]string{{"hosta", "10"}, {"hostb", "@hosta"}, {"hostc", "5"}, {"hostd", "@hostc"}} {
		w.must(&HostUp{Host: pbs.HostName(h[0]), Address: h[0] + ":1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{{Name: pbs.VnodeName(h[0]), Available: resource.List{{Name: "lic", Value: h[1]}, {Name: "ncpus", Value: "4"}}}}})
	}
	w.start(sel, on, attr.Entry{Name: "lsf_resreq", Value: "x"}, attr.Entry{Name: "lsf_layout", Value: layout})
	return w
}

// inUse returns how many of the two instances are in use.
func (w *releasing) inUse() string {
	var all []string
	for _, name := range []pbs.VnodeName{"hosta", "hostc"} {
		v, _ := w.View().Vnode(name)
		n, _ := w.View().InUse(v).Get("lic")
		all = append(all, strings.TrimLeft(n, "0"))
	}
	return strings.Join(all, " ")
}

// A PER_JOB amount stays while the job still uses a host of the instance (specification: reservation section 6.9): the release of the host that
// has it gives nothing back, before the mom has confirmed it and after, and that of the last one all.
func TestReleaseNodes_PerJob(t *testing.T) {
	w := newInstances(t, "4:ncpus=1:lic=5", "(hosta:ncpus=1:lic=5)+(hostb:ncpus=1)+(hostc:ncpus=1:lic=5)+(hostd:ncpus=1)", "1:job=lic")
	for _, step := range []struct {
		vnode pbs.HostName
		has   string
		used  string
	}{
		{"hostc", "(hosta:ncpus=1:lic=5)+(hostb:ncpus=1)+(hostd:ncpus=1:lic=5)", "5 5"},
		{"hostb", "(hosta:ncpus=1:lic=5)+(hostd:ncpus=1:lic=5)", "5 5"},
		{"hostd", "(hosta:ncpus=1:lic=5)", "5 "},
	} {
		before := w.inUse()
		w.release(string(step.vnode))
		w.confirm("hosta", nil)
		if got := w.inUse(); got != before {
			t.Errorf("%s before it was left: %q, before %q", step.vnode, got, before)
		}
		w.left(step.vnode)
		if got := w.now().LastRun().ExecVnode.String(); got != step.has || w.inUse() != step.used {
			t.Errorf("without %s: %s, %q; want %s, %q", step.vnode, got, w.inUse(), step.has, step.used)
		}
	}
	w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1})
	w.check()
	if got := w.inUse(); got != " " {
		t.Errorf("after the end: %q", got)
	}
}

// A job that changes while it runs has the new amount once of each instance.
func TestUsage_PerJob(t *testing.T) {
	w := newInstances(t, "3:ncpus=1:lic=4", "(hosta:ncpus=1:lic=4)+(hostb:ncpus=1)+(hostd:ncpus=1:lic=4)", "1:job=lic")
	for _, c := range []struct {
		lic  string
		code pbs.Code
		used string
	}{{"5", 0, "5 5"}, {"6", pbs.ResourceBusy, "5 5"}, {"1", 0, "1 1"}, {"0", 0, " "}, {"3", 0, "3 3"}} {
		w.index++
		out, _ := Run(w.Store, w.index, 1, Entry{Time: pbs.Time(w.index), Proposals: []Proposal{{Commands: []Command{&AlterJob{Job: w.job, Usage: true, Changes: []AttrChange{
			{Entry: attr.Entry{Name: "lsf_resreq", Value: "x" + c.lic}},
			{Entry: attr.Entry{Name: "Resource_List", Resource: "select", Value: "3:ncpus=1:lic=" + c.lic}},
			{Entry: attr.Entry{Name: "lsf_layout", Value: "1:job=lic"}},
		}}}}}})
		w.Publish()
		w.check()
		if err := out[0].Err(); pbs.CodeOf(err) != c.code || w.inUse() != c.used {
			t.Errorf("%s: %v, %q in use, want %q", c.lic, err, w.inUse(), c.used)
		}
		w.confirm("hosta", nil)
	}
}

// Whatever is released, in whichever order: of each instance the job has the amount until it has no host of it, and no more than was taken is
// given back.
func TestReleaseNodes_PerJobLaw(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		amount := rapid.IntRange(1, 5).Draw(r, "lic")
		hosts := rapid.Permutation([]string{"hostb", "hostc", "hostd"}).Draw(r, "hosts")
		on, met := fmt.Sprintf("(hosta:ncpus=1:lic=%d)", amount), map[bool]bool{true: true}
		for _, h := range hosts {
			of := h < "hostc"
			if lic := fmt.Sprintf(":lic=%d", amount); !met[of] {
				met[of], h = true, h+":ncpus=1"+lic
			} else {
				h += ":ncpus=1"
			}
			on += "+(" + h + ")"
		}
		w := newInstances(t, fmt.Sprintf("4:ncpus=1:lic=%d", amount), on, "1:job=lic")
		left := map[string]bool{"hosta": true, "hostb": true, "hostc": true, "hostd": true}
		for _, h := range rapid.Permutation(hosts).Draw(r, "order")[:rapid.IntRange(0, 3).Draw(r, "releases")] {
			w.release(h)
			w.confirm("hosta", nil)
			w.left(pbs.HostName(h))
			delete(left, h)
			want := fmt.Sprint(amount, " ")
			if left["hostc"] || left["hostd"] {
				want += fmt.Sprint(amount)
			}
			if got := w.inUse(); got != want {
				r.Fatalf("%v are left, %q in use, want %q", left, got, want)
			}
		}
		w.must(&JobEnded{Source: w.fact("hosta"), Job: w.job, RunCount: 1})
		w.check()
		if got := w.inUse(); got != " " {
			r.Fatalf("after the end: %q", got)
		}
	})
}
