package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// vnodesOf returns the names of the vnodes that qstat shows for a job, in their order.
func (w *rampdown) vnodesOf(id string) (names []string) {
	w.t.Helper()
	_, rest, ok := strings.Cut(w.look(id), "    exec_vnode = ")
	text, _, _ := strings.Cut(rest, "\n")
	if !ok {
		w.t.Fatalf("%s has no vnodes", id)
	}
	for part := range strings.SplitSeq(strings.NewReplacer("(", "", ")", "").Replace(text), "+") {
		name, _, _ := strings.Cut(part, ":")
		names = append(names, name)
	}
	return names
}

// A keeping is a case of -k.
type keeping struct {
	name   string
	long   bool
	sel    string
	keep   string
	by     string
	chosen string   // the schedselect before
	want   string   // the one after
	kept   []string // hosts
	vnodes int
	files  string   // hosts of the node file
	lists  []string // lines of Resource_List after
}

// TestRampDown_Keep plays RK-2 to RK-10, RK-13 to RK-15, and beside them RD-41 and RD-42.
// All is asked at replicas that do not lead. Of equal chunks the later ones come first (section 6).
func TestRampDown_Keep(t *testing.T) {
	t.Parallel()
	spread := func(host string, cpus int) (text string) {
		text = host
		for i := range 3 {
			text += fmt.Sprintf("/%s[%d]:ncpus=%d", host, i, cpus)
		}
		return text
	}
	w := newRampdownAside(t, "h1:ncpus=1", "h2:ncpus=2", "h3:ncpus=2", "h4:ncpus=3", "h5:ncpus=3",
		"g1:ncpus=1", spread("g2", 2), spread("g3", 2), spread("g4", 3), spread("g5", 3), "pa:ncpus=1", "pb/pb[0]:ncpus=1/pb[1]:ncpus=4")
	w.on("pa", "pb")
	w.sub("RD-41", (*rampdown).exclusive)
	w.sub("RD-42", (*rampdown).shared)
	w.on("h1", "h2", "h3", "h4", "h5")
	for _, r := range []string{"model type=string,flag=h", "bigmem type=boolean,flag=h", "longres type=long,flag=nh", "sizres type=size,flag=nh", "fltres type=float,flag=nh"} {
		w.must("qmgr", "-c", "create resource "+r)
	}
	for i, values := range []string{"model=abc L=7 S=7k F=7.1", "model=def L=9 S=9k F=9.1", "model=def L=9 S=9k F=9.1", "model=xyz L=10 S=10k F=10.1"} {
		for v := range strings.FieldsSeq(strings.NewReplacer("L", "longres", "S", "sizres", "F", "fltres").Replace(values)) {
			w.must("qmgr", "-c", fmt.Sprintf("set node h%d resources_available.%s", i+2, v))
		}
	}
	w.must("qmgr", "-c", "set node h3,h4 resources_available.bigmem = True")
	three, mpi := []string{"h1", "h3", "h4"}, "ncpus=1+2:ncpus=2+2:ncpus=3:mpiprocs=2"
	const longs = "ncpus=1+ncpus=2:longres=7+ncpus=2:longres=9+ncpus=3:longres=9+ncpus=3:longres=10"
	const every = "model=def:bigmem=true:longres=9:sizres=9k:fltres=9.1"
	third, fourth := "ncpus=2:model=def:bigmem=True:longres=9:sizres=9kb:fltres=9.1", "ncpus=3:model=def:bigmem=True:longres=9:sizres=9kb:fltres=9.1"
	for _, c := range []keeping{
		{"RK-2", true, mpi, "select=ncpus=2+ncpus=3:mpiprocs=2", "root", "1:" + mpi, "1:ncpus=1+1:ncpus=2+1:ncpus=3:mpiprocs=2", nil, 3, "", []string{"mpiprocs = 2", "ncpus = 6", "nodect = 3"}},
		{"RK-3", true, "ncpus=1+ncpus=2:model=abc+ncpus=2:model=def+ncpus=3:model=def+ncpus=3:model=xyz", "select=ncpus=2:model=def+ncpus=3:model=def", owner, "", "1:ncpus=1+1:ncpus=2:model=def+1:ncpus=3:model=def", three, 3, "h1 h3 h4", []string{"ncpus = 6", "nodect = 3"}},
		{"RK-4", true, "ncpus=1+ncpus=2:bigmem=true+ncpus=2+ncpus=3:bigmem=true+ncpus=3", "select=2:bigmem=true", owner, "", "1:ncpus=1+1:ncpus=2:bigmem=True+1:ncpus=3:bigmem=True", three, 3, "h1 h3 h4", nil},
		{"RK-5", true, longs, "select=ncpus=2:longres=9+ncpus=3:longres=9", owner, "", "1:ncpus=1+1:ncpus=2:longres=9+1:ncpus=3:longres=9", three, 3, "h1 h3 h4", []string{"longres = 18", "ncpus = 6"}},
		{"RK-6", true, longs, "select=2:longres=9", owner, "", "1:ncpus=1+1:ncpus=2:longres=9+1:ncpus=3:longres=9", three, 3, "h1 h3 h4", []string{"longres = 18", "ncpus = 6"}},
		{"RK-7", true, "ncpus=1+ncpus=2:sizres=7k+ncpus=2:sizres=9k+ncpus=3:sizres=9k+ncpus=3:sizres=10k", "select=2:sizres=9k", owner, "1:ncpus=1+1:ncpus=2:sizres=7kb+1:ncpus=2:sizres=9kb+1:ncpus=3:sizres=9kb+1:ncpus=3:sizres=10kb", "1:ncpus=1+1:ncpus=2:sizres=9kb+1:ncpus=3:sizres=9kb", three, 3, "h1 h3 h4", []string{"sizres = 18kb"}},
		{"RK-8", true, "ncpus=1+ncpus=2:fltres=7.1+ncpus=2:fltres=9.1+ncpus=3:fltres=9.1+ncpus=3:fltres=10.1", "select=ncpus=2:fltres=9.1+ncpus=3:fltres=9.1", owner, "", "1:ncpus=1+1:ncpus=2:fltres=9.1+1:ncpus=3:fltres=9.1", three, 3, "h1 h3 h4", []string{"fltres = 18.2"}},
		{"RK-9", false, "ncpus=1+ncpus=2:model=abc:longres=7:sizres=7k:fltres=7.1+ncpus=2:" + every + "+ncpus=3:" + every + "+ncpus=3:model=xyz:longres=10:sizres=10k:fltres=10.1", "select=ncpus=2:" + every + "+ncpus=3:" + every, owner, "", "1:ncpus=1+1:" + third + "+1:" + fourth, three, 3, "h1 h3 h4", []string{"longres = 18", "sizres = 18kb", "fltres = 18.2", "ncpus = 6", "nodect = 3"}},
		{"RK-13", true, mpi, "2", "root", "1:" + mpi, "1:ncpus=1+2:ncpus=2", []string{"h1", "h3", "h2"}, 3, "h1 h3 h2", []string{"ncpus = 5", "nodect = 3"}},
		{"RK-14", false, mpi, "2", "the job", "1:" + mpi, "1:ncpus=1+2:ncpus=2", []string{"h1", "h3", "h2"}, 3, "h1 h3 h2", []string{"ncpus = 5", "nodect = 3"}},
		{"RK-10", false, "ncpus=1+2:ncpus=6+2:ncpus=9:mpiprocs=2", "select=ncpus=6+ncpus=9:mpiprocs=2", owner, "", "1:ncpus=1+1:ncpus=6+1:ncpus=9:mpiprocs=2", nil, 7, "", []string{"ncpus = 16", "mpiprocs = 2", "nodect = 3"}},
		{"RK-15", true, "ncpus=1+2:ncpus=6+2:ncpus=9:mpiprocs=2", "2", owner, "", "1:ncpus=1+2:ncpus=6", []string{"g1", "g3", "g2"}, 7, "g1 g3 g2", []string{"ncpus = 13", "nodect = 3"}},
	} {
		if c.name == "RK-10" {
			w.on("g1", "g2", "g3", "g4", "g5")
		}
		if !c.long || !testing.Short() {
			w.sub(c.name, func(w *rampdown) { w.keeps(c) })
		}
	}
}

func (w *rampdown) keeps(c keeping) {
	ready := filepath.Join(w.Dir, c.name)
	if err := os.WriteFile(ready, nil, 0o644); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(ready, 0o666); err != nil { // its script writes to it
		w.t.Fatal(err)
	}
	script := "trap 'pbs_release_nodes -k " + c.keep + "; sleep 1000; exit 0' INT; echo ready >" + ready + "; sleep 1000"
	first := "h1"
	if slices.Contains([]string{"RK-10", "RK-15"}, c.name) {
		first = "g1"
	}
	args := []string{
		"qsub", "-S", "/bin/sh", "-o", "/dev/null", "-j", "oe", "-l", "select=" + c.sel, "-l", "place=scatter",
		"-v", "PBS_GATEWAY=" + filepath.Join(w.Home(first), "run", first+".sock"), "--", "/bin/sh", "-c", "PATH=" + w.Dir + "/bin:$PATH; " + script,
	}
	id := w.by(owner, args...)
	w.await(id, "the job runs", "substate = 42")
	if c.chosen != "" {
		w.shows(id, "schedselect = "+c.chosen)
	}
	before := w.vnodesOf(id)
	waitFor(w.t, patience, "the script", func() error {
		if text, err := os.ReadFile(ready); string(text) != "ready\n" {
			return fmt.Errorf("%q, %v", text, err)
		}
		return nil
	})
	if c.by == "the job" {
		w.must("qsig", "-s", "INT", id)
		w.await(id, "the job releases by itself", "schedselect = "+c.want+"\n")
	} else {
		w.by(c.by, "pbs_release_nodes", "-j", id, "-k", c.keep)
	}
	w.shows(id, "schedselect = "+c.want, "Resource_List.select = "+c.want, "job_state = R", "substate = 42")
	for _, line := range c.lists {
		w.shows(id, "Resource_List."+line)
	}
	after := w.vnodesOf(id)
	var hosts []string
	for _, v := range after {
		host, _, _ := strings.Cut(v, "[")
		if !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if len(after) != c.vnodes || c.kept != nil && !slices.Equal(hosts, c.kept) {
		w.t.Errorf("%v are kept, want %d of %v", after, c.vnodes, c.kept)
	}
	for _, h := range hosts {
		if !strings.Contains(w.look(id), h+"/0") {
			w.t.Errorf("%s is not in exec_host", h)
		}
	}
	for _, v := range before {
		if slices.Contains(after, v) {
			w.vnode(v, "state = job-busy", "jobs = "+id+"/0")
		} else {
			w.vnode(v, "state = free", "resources_assigned.ncpus = 0")
		}
	}
	if c.files != "" {
		w.nodefile(first, id, c.files)
	}
	w.ends(id, letters(1))
}

// exclusive, RD-41: the vnodes of a host are free when the job has left all of them.
func (w *rampdown) exclusive() {
	j := w.submit("select=ncpus=1+2:ncpus=1", "excl", "sleep 1000")
	id := j.id
	w.await(id, "the job runs", "substate = 42")
	w.must("pbs_release_nodes", "-j", id, "pb[1]")
	w.shows(id, "exec_vnode = (pa:ncpus=1)+(pb[0]:ncpus=1)")
	mine := "job-exclusive " + id + "/0 1"
	w.vnodes(map[string]string{"pa": mine, "pb[0]": mine, "pb[1]": mine})
	w.must("pbs_release_nodes", "-j", id, "pb[0]")
	w.vnodes(map[string]string{"pa": mine, "pb[0]": "free", "pb[1]": "free"})
	w.ends(id, letters(2))
}

// shared, RD-42: what a job has left of a shared vnode is another's, and its own share is not.
func (w *rampdown) shared() {
	id := w.submit("select=ncpus=1+2:ncpus=1", "", "sleep 1000").id
	w.await(id, "the job runs", "substate = 42")
	mine := " " + id + "/0 1"
	w.vnodes(map[string]string{"pa": "job-busy" + mine, "pb[0]": "job-busy" + mine, "pb[1]": "free" + mine})
	w.must("pbs_release_nodes", "-j", id, "pb[1]")
	next := w.by(owner, "qsub", "-o", "/dev/null", "-j", "oe", "-l", "select=vnode=pb[1]", "--", "/bin/sleep", "1000")
	w.await(next, "the other job", "substate = 42")
	w.vnodes(map[string]string{"pb[0]": "job-busy" + mine, "pb[1]": "free " + id + "/0," + next + "/1 2"})
	w.must("pbs_release_nodes", "-j", id, "pb[0]")
	w.vnodes(map[string]string{"pb[0]": "free", "pb[1]": "free " + next + "/1 1"})
	w.ends(next, letters(0))
	w.ends(id, letters(2))
}
