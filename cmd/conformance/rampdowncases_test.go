package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	j1x  = "select=ncpus=3:mem=2gb:mpiprocs=3:ompthreads=2+ncpus=3:mem=2gb:mpiprocs=3:ompthreads=3+ncpus=2:mem=2gb:mpiprocs=2:ompthreads=2"
	selA = "1:mem=2097152kb:ncpus=3"
	selB = "1:mem=1048576kb:ncpus=2"
	selC = "1:ncpus=2:mem=2097152kb"
)

// what is left of the vnodes of hostb
var (
	evB01  = "(hostb[0]:mem=1048576kb:ncpus=1+hostb[1]:ncpus=1)"
	evBn1  = "(hostb:mem=1048576kb:ncpus=1+hostb[1]:ncpus=1)"
	evBn0  = "(hostb:mem=1048576kb:ncpus=1+hostb[0]:mem=1048576kb:ncpus=1)"
	uncut  = assignment{ehP3, evA + "+" + evB + "+" + evC, j1[len("select="):], "6gb", "8", "3"}
	uncutX = assignment{ehP3, uncut.ev, j1x[len("select="):], "6gb", "8", "3"}
	alone  = assignment{"hosta/0*0", evA, selA, "2097152kb", "3", "1"} // result A
	// of RD-16, of RD-22
	lessHostb = assignment{ehP3, evA + "+" + evB01 + "+" + evC, selA + "+" + selB + "+" + selC, "5242880kb", "7", "3"}
	one       = assignment{"hosta/0*0+hostb/0*0", evA + "+(hostb:mem=1048576kb:ncpus=1)", selA + "+1:mem=1048576kb:ncpus=1", "3145728kb", "4", "2"}
)

// ones writes the count of each chunk of a select that lacks it.
func ones(sel string) string {
	chunks := strings.Split(sel, "+")
	for i, c := range chunks {
		if c[0] > '9' {
			chunks[i] = "1:" + c
		}
	}
	return strings.Join(chunks, "+")
}

// p3 are the vnodes of P3 while a J1 runs from which these hosts have gone.
func p3(id string, gone ...string) map[string]string {
	want := map[string]string{"hostc": "job-busy " + id + "/0," + id + "/1 2 2097152kb"}
	for _, v := range append(four("hosta"), append([]string{"hosta", "hostb"}, four("hostb")...)...) {
		want[v] = "free"
	}
	for _, v := range []string{"hosta[0]", "hosta[1]", "hostb", "hostb[0]"} {
		want[v] = "job-busy " + id + "/0 1 1048576kb"
	}
	for _, v := range []string{"hosta[2]", "hostb[1]"} {
		want[v] = "job-busy " + id + "/0 1 0kb"
	}
	for v := range want {
		for _, host := range gone {
			if strings.HasPrefix(v, host) {
				want[v] = "free"
			}
		}
	}
	return want
}

// goes expects all that may be seen of a J1 from which hosts have gone.
func (w *rampdown) goes(j held, a assignment, files string, gone ...string) {
	w.t.Helper()
	w.has(j.id, a)
	w.nodefile("hosta", j.id, files)
	w.vnodes(p3(j.id, gone...))
	cpus, mem, live := 8, 6, []int{1, 1}
	for i, host := range []string{"hostb", "hostc"} {
		n := 0
		for _, g := range gone {
			if g == host {
				n, live[i] = 1, 0
				cpus -= 3 - i
				mem -= 2
			}
		}
		if got := w.logs("hosta", "mom_logs", ";0100;pbs_mom;Job;"+quoted(j.id)+";"+host+`\S* cput=\d\d:\d\d:\d\d mem=\d+kb$`); got != n {
			w.t.Errorf("%d reports of %s, want %d", got, host, n)
		}
		if got := w.logs(host, "mom_logs", ";0008;pbs_mom;Job;"+quoted(j.id)+";DELETE_JOB2 received$"); got != n {
			w.t.Errorf("DELETE_JOB2 came %d times to %s, want %d", got, host, n)
		}
	}
	w.charged(fmt.Sprint(cpus), fmt.Sprintf("%dkb", mem<<20))
	w.live(j, live...)
}

func quoted(id string) string {
	return strings.NewReplacer(".", `\.`, "[", `\[`, "]", `\]`).Replace(id)
}

func newP3(t *testing.T, start func(t *testing.T, moms ...string) *rampdown) *rampdown {
	t.Helper()
	vnodes := "/" + strings.Join(four("HOST"), ":ncpus=1,mem=1gb/") + ":ncpus=1,mem=1gb"
	w := start(t, "hosta"+strings.ReplaceAll(vnodes, "HOST", "hosta"), "hostb:ncpus=1,mem=1gb"+strings.ReplaceAll(vnodes, "HOST", "hostb"),
		"hostc:ncpus=2,mem=2gb", "files:ncpus=1")
	w.on("hosta", "hostb", "hostc")
	return w
}

// A step is a release and what is so after it.
type step struct {
	by    string
	names string // operands
	after assignment
	files string   // hosts of the node file
	gone  []string // hosts that have confirmed
}

// TestRampDown_Names plays the cases that release vnodes of J1 and J1x by their names, at replicas that do
// not lead.
func TestRampDown_Names(t *testing.T) {
	t.Parallel()
	w := newP3(t, newRampdownAside)
	const all = "hostb hostb[0] hostb[1] hostc"
	x := func(a assignment, parts ...string) assignment {
		chunks := strings.Split(a.sel, "+")
		for i, p := range parts {
			chunks[i] += p
		}
		a.sel = strings.Join(chunks, "+")
		return a
	}
	const msX, bX, cX = ":mpiprocs=3:ompthreads=2", ":mpiprocs=3:ompthreads=3", ":mpiprocs=2:ompthreads=2"
	lessB0 := lessHostb
	lessB0.ev = evA + "+" + evBn1 + "+" + evC
	lessB1 := assignment{ehP3, evA + "+" + evBn0 + "+" + evC, selA + "+1:mem=2097152kb:ncpus=2+" + selC, "6291456kb", "7", "3"}
	onlyB1 := assignment{"hosta/0*0+hostb/0*0", evA + "+(hostb[1]:ncpus=1)", selA + "+1:ncpus=1", "2097152kb", "4", "2"}
	const three, xThree = "hosta hostb hostc", "hosta hosta hosta hostb hostb hostb hostc hostc"
	for _, c := range []struct {
		name string
		long bool
		sel  string
		from assignment
		step []step
	}{
		{"RD-14", true, j1, uncut, []step{{"root", "-a", alone, "hosta", []string{"hostb", "hostc"}}}},
		{"RD-17", true, j1, uncut, []step{{owner, "hostb", lessHostb, three, nil}}},
		{"RD-18", true, j1, uncut, []step{{"root", "hostb[0]", lessB0, three, nil}}},
		{"RD-19", true, j1x, uncutX, []step{{"root", "hostb[0]", x(lessB0, msX, bX, cX), xThree, nil}}},
		{"RD-20", false, j1x, uncutX, []step{{"root", "hostb[1]", x(lessB1, msX, bX, cX), xThree, nil}}},
		{"RD-21", true, j1x, uncutX, []step{{"root", "hostb hostb[0] hostc", x(onlyB1, msX, bX), "hosta hosta hosta hostb hostb hostb", []string{"hostc"}}}},
		{"RD-22", true, j1, uncut, []step{{"root", "hostb[0] hostb[1] hostc", one, "hosta hostb", []string{"hostc"}}}},
		{"RD-23", true, j1, uncut, []step{{owner, all, alone, "hosta", []string{"hostb", "hostc"}}}},
		{"RD-24", false, j1x, uncutX, []step{{owner, all, x(alone, msX), "hosta hosta hosta", []string{"hostb", "hostc"}}}},
		{"RD-25", false, j1, uncut, []step{{"root", "hostb", lessHostb, three, nil}, {"root", "hostb[0] hostb[1] hostc", alone, "hosta", []string{"hostb", "hostc"}}}},
	} {
		if c.long && testing.Short() {
			continue
		}
		w.sub(c.name, func(w *rampdown) {
			var more []string
			if c.name == "RD-25" {
				more = []string{"-W", "release_nodes_on_stageout=true", "-W", "stageout=/etc/hostname@hostb:/dev/null"}
			}
			j := w.start(c.sel, more...)
			w.goes(j, c.from, map[string]string{j1: three, j1x: xThree}[c.sel])
			phases := []assignment{c.from}
			for _, s := range c.step {
				w.by(s.by, append([]string{"pbs_release_nodes", "-j", j.id}, strings.Fields(s.names)...)...)
				w.goes(j, s.after, s.files, s.gone...)
				w.shows(j.id, "job_state = R")
				phases = append(phases, s.after)
			}
			w.records(w.ends(j.id, letters(len(c.step))), phases...)
			w.live(j, 0, 0)
		})
	}
	w.sub("RD-15", (*rampdown).inScript)
	w.sub("RD-12 RD-31 RD-40", (*rampdown).operators)
	w.sub("RD-26", (*rampdown).another)
	w.sub("RD-27 RD-34", (*rampdown).again)
	w.sub("RD-28 RD-37", (*rampdown).hooked)
	w.long("RD-33", (*rampdown).early)
}

// inScript: the job gives its sisters back by itself.
func (w *rampdown) inScript() {
	j := w.submit(j1, "scatter", "until [ -e "+w.Dir+"/go ]; do sleep 0.1; done; pbs_release_nodes -a; sleep 1000",
		"-v", "PBS_GATEWAY="+filepath.Join(w.Home("hosta"), "run", "hosta.sock"))
	w.await(j.id, "the job runs", "substate = 42")
	w.live(j, 1, 1)
	if err := os.WriteFile(filepath.Join(w.Dir, "go"), nil, 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.await(j.id, "the job releases by itself", "Resource_List.ncpus = 3")
	w.goes(j, alone, "hosta", "hostb", "hostc")
	w.records(w.ends(j.id, letters(1)), uncut, alone)
}

// operators: what may not be released, and who may release.
func (w *rampdown) operators() {
	j := w.start(j1)
	for _, no := range []struct{ attribute, text string }{
		{"vntype=cray_login", "not currently supported on Cray X* series nodes: hostc"},
		{"arch=linux_cpuset", "not currently supported on nodes whose resources are part of a cpuset: hostc"},
	} {
		name, _, _ := strings.Cut(no.attribute, "=")
		was := "linux"
		w.must("qmgr", "-c", "set node hostc resources_available."+no.attribute)
		w.refused(162, "pbs_release_nodes: "+no.text, "-j", j.id, "hostb", "hostb[0]", "hostb[1]", "hostc")
		w.refused(162, "pbs_release_nodes: "+no.text, "-j", j.id, "hostc")
		if name == "arch" {
			w.must("qmgr", "-c", "set node hostc resources_available.arch="+was)
		} else {
			w.must("qmgr", "-c", "unset node hostc resources_available."+name)
		}
	}
	w.goes(j, uncut, "hosta hostb hostc")
	phases := []assignment{uncut, {"hosta/0*0+hostb/0*0", evA + "+" + evB, selA + "+1:mem=2097152kb:ncpus=3", "4194304kb", "6", "2"}, one}
	users := []string{"root", "root"}
	if os.Geteuid() == 0 {
		w.must("qmgr", "-c", "set server managers += man@*")
		w.must("qmgr", "-c", "set server operators += news@*")
		users = []string{"man", "news"}
	}
	w.by(users[0], "pbs_release_nodes", "-j", j.id, "hostc")
	w.by(users[1], "pbs_release_nodes", "-j", j.id, "hostb[0]", "hostb[1]")
	w.goes(j, one, "hosta hostb", "hostc")
	w.records(w.ends(j.id, letters(2)), phases...)
}

// another job waits for what is held.
func (w *rampdown) another() {
	j := w.start(j1)
	w.must("pbs_release_nodes", "-j", j.id, "hostb", "hostb[0]", "hostc")
	w.vnodes(map[string]string{"hostc": "free"})
	next := w.by(owner, "qsub", "-o", "/dev/null", "-j", "oe", "-l", "select=ncpus=1:mem=1gb+ncpus=4:mem=4gb+ncpus=2:mem=2gb", "-l", "place=scatter", "--", "/bin/sleep", "1000")
	w.await(next, "a comment", "job_state = Q", "comment = ")
	w.must("pbs_release_nodes", "-j", j.id, "hostb[1]")
	w.await(next, "the other job", "substate = 42")
	w.shows(next, "exec_host = hosta/1+hostb/1*0+hostc/1*2")
	text := w.look(next)
	has(w.t, text, "exec_vnode = (hosta[3]:ncpus=1:mem=1048576kb)+(hostb", ":mem=1048576kb:ncpus=1)+(hostc:ncpus=2:mem=2097152kb)\n")
	if n := strings.Count(text[strings.Index(text, "exec_vnode"):strings.Index(text, ")+(hostc:")], "hostb"); n != 4 {
		w.t.Errorf("%d vnodes of hostb in %s", n, text)
	}
	w.ends(next, letters(0))
	w.ends(j.id, letters(2))
}

// again: a suspended job releases nothing; a job that is queued again has all it had.
func (w *rampdown) again() {
	j := w.start(j1)
	w.must("pbs_release_nodes", "-j", j.id, "hostb")
	w.must("qsig", "-s", "suspend", j.id)
	w.await(j.id, "the job is suspended", "job_state = S")
	w.refused(168, "pbs_release_nodes: Request invalid for state of job", "-j", j.id, "hostc")
	w.has(j.id, lessHostb)
	w.must("qsig", "-s", "resume", j.id)
	w.await(j.id, "the job goes on", "job_state = R")
	w.goes(j, lessHostb, "hosta hostb hostc")
	w.must("pbs_release_nodes", "-j", j.id, "hostb[1]", "hostc")
	w.must("qrerun", j.id)
	w.await(j.id, "the job runs again", "run_count = 2", "substate = 42")
	w.has(j.id, uncut)
	w.vnodes(p3(j.id))
	w.nodefile("hosta", j.id, "hosta hostb hostc")
	w.ends(j.id, "QSuczrucRSDE")
}

// early: nothing is released of a job that does not run.
func (w *rampdown) early() {
	for _, more := range [][]string{{"-l", "ncpus=100"}, {"-h"}, {"-a", "2359"}} {
		id := w.by(owner, append(append([]string{"qsub"}, more...), "--", "/bin/true")...)
		w.refused(168, "pbs_release_nodes: Request invalid for state of job", "-j", id, "hostb")
		w.must("qdel", id)
	}
}

// hooked: epilogue and end hooks run at a released host, in their order.
func (w *rampdown) hooked() {
	if os.Geteuid() != 0 {
		w.t.Skip("hooks are root's")
	}
	for _, event := range []string{"execjob_epilogue", "execjob_end"} {
		w.hookOf(event, fmt.Sprintf("import pbs\npbs.logjobmsg(pbs.event().job.id, %q)\n", event+" hook executed"), "hostb", "hostc")
		defer w.must("qmgr", "-c", "delete hook "+event)
	}
	j := w.start(j1)
	w.must("pbs_release_nodes", "-j", j.id, "hostb", "hostb[0]", "hostb[1]", "hostc")
	w.goes(j, alone, "hosta", "hostb", "hostc")
	id := quoted(j.id)
	for _, host := range []string{"hostb", "hostc"} {
		if w.logs(host, "mom_logs", "(?s)"+id+";DELETE_JOB2 received.*"+id+";execjob_epilogue hook executed.*"+id+";execjob_end hook executed") != 1 {
			w.t.Errorf("the log of %s does not tell of the hooks", host)
		}
	}
	w.shows(j.id, "job_state = R")
	w.ends(j.id, letters(1))
}

// hookOf makes a hook, and waits until hosts have it.
func (w *rampdown) hookOf(event, text string, hosts ...string) {
	w.t.Helper()
	file := filepath.Join(w.Dir, event+".py")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.must("qmgr", "-c", "create hook "+event+" event="+event)
	w.must("qmgr", "-c", "import hook "+event+" application/x-python default "+file)
	for _, host := range hosts {
		waitFor(w.t, patience, "the hook "+event+" at "+host, func() error {
			if w.logs(host, "mom_logs", event+`\.PY;copy hook-related`) == 0 {
				return errors.New("it has not come")
			}
			return nil
		})
	}
}
