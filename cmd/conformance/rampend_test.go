package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRampDown_StageOut plays RD-1 to RD-6. The files go to a host that is stopped, so that
// their way takes as long as it is looked at.
func TestRampDown_StageOut(t *testing.T) {
	if testing.Short() {
		t.Skip("RD-1 to RD-6 take long")
	}
	t.Parallel()
	w := newP3(t, newRampdownAside)
	for _, c := range []struct {
		name     string
		value    string // of the attribute at qsub
		set      func(w *rampdown, id string)
		hook     string // event and value that it sets
		shown    string // while the job runs
		released bool
	}{
		{"RD-1", "true", nil, "", "True", true},
		{"RD-2", "false", nil, "", "False", false},
		{"RD-3", "", nil, "", "", false},
		{"RD-4", "", func(w *rampdown, id string) { w.must("qalter", "-W", "release_nodes_on_stageout=true", id) }, "", "True", true},
		{"RD-5", "", nil, "queuejob True", "True", true},
		{"RD-6", "true", func(w *rampdown, id string) { w.must("qalter", "-N", "test", id) }, "modifyjob False", "False", false},
	} {
		if c.hook != "" && os.Geteuid() != 0 {
			continue // hooks are root's
		}
		w.sub(c.name, func(w *rampdown) {
			event, value, hooked := strings.Cut(c.hook, " ")
			if hooked {
				w.hookOf(event, "import pbs\npbs.logmsg(pbs.LOG_DEBUG, '"+event+" hook executed')\npbs.event().job.release_nodes_on_stageout = "+value+"\n")
				defer func() { w.must("qmgr", "-c", "delete hook "+event) }()
			}
			img := filepath.Join(w.Dir, "homes", "hosta", "tmp", c.name)
			more := []string{"-W", "stageout=" + img + "@files:" + away + img + ".out"}
			if c.value != "" {
				more = append(more, "-W", "release_nodes_on_stageout="+c.value)
			}
			if err := os.WriteFile(img, []byte("image"), 0o644); err != nil {
				t.Fatal(err)
			}
			j := w.start(j1, more...)
			if c.set != nil {
				c.set(w, j.id)
			}
			if c.shown != "" {
				w.shows(j.id, "release_nodes_on_stageout = "+c.shown)
			}
			if hooked && w.logs("s1", "server_logs", event+" hook executed$") == 0 {
				w.t.Errorf("the hook of %s was not run", event)
			}
			signalTo(w.t, w.Cluster, "files", syscall.SIGSTOP)
			w.must("qdel", j.id)
			w.await(j.id, "files on their way", "job_state = E", "substate = 51")
			phases := []assignment{uncut}
			if c.released {
				w.await(j.id, "the release", "Resource_List.ncpus = 3")
				w.vnodes(p3(j.id, "hostb", "hostc"))
				w.goes(j, alone, "hosta", "hostb", "hostc")
				phases = append(phases, alone)
			} else {
				w.has(j.id, uncut)
				w.vnodes(p3(j.id))
				w.charged("8", "6291456kb")
				for _, host := range []string{"hostb", "hostc"} {
					if w.logs(host, "mom_logs", quoted(j.id)+";DELETE_JOB2 received$") != 0 {
						w.t.Errorf("%s was released", host)
					}
				}
			}
			w.await(j.id, "files on their way", "job_state = E")
			signalTo(w.t, w.Cluster, "files", syscall.SIGCONT)
			letters := "QS"
			if c.set != nil {
				letters += "a"
			}
			if c.released {
				letters += "DuceE"
			} else {
				letters += "DE"
			}
			w.records(w.over(j.id, letters), phases...)
		})
	}
}

// TestRampDown_StageOutAtOnce wants of a stage-out that is over before the servers can ask for the release what the
// cases of TestRampDown_StageOut want of a slow one: the sisters are released, and the logs and records say so.
func TestRampDown_StageOutAtOnce(t *testing.T) {
	t.Parallel()
	w := newP3(t, newRampdown)
	w.sub("released", func(w *rampdown) {
		img := filepath.Join(w.Dir, "homes", "hosta", "tmp", "small")
		if err := os.WriteFile(img, []byte("image"), 0o644); err != nil {
			t.Fatal(err)
		}
		j := w.start(j1, "-W", "stageout="+img+"@hosta:"+img+".out", "-W", "release_nodes_on_stageout=true")
		w.must("qdel", j.id)
		w.over(j.id, "QSDuceE")
		for _, host := range []string{"hostb", "hostc"} {
			if n := w.logs(host, "mom_logs", ";0008;pbs_mom;Job;"+quoted(j.id)+";DELETE_JOB2 received$"); n != 1 {
				w.t.Errorf("DELETE_JOB2 came %d times to %s", n, host)
			}
			if n := w.logs("hosta", "mom_logs", ";0100;pbs_mom;Job;"+quoted(j.id)+";"+host+`\S* cput=\d\d:\d\d:\d\d mem=\d+kb$`); n != 1 {
				w.t.Errorf("%d reports of %s", n, host)
			}
		}
	})
}

// TestRampDown_ServersEnd plays RD-29 and RD-30: a sister is silent while the servers end and come back.
func TestRampDown_ServersEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("RD-29 and RD-30 take long")
	}
	t.Parallel()
	w := newP3(t, newRampdown)
	const jx = "select=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=1:mem=1gb"
	fewer := assignment{"hosta/0*0+hostb/0*0", evA + "+(hostb[1]:ncpus=1)", selA + "+1:ncpus=1", "2097152kb", "4", "2"}
	original := assignment{"hosta/0*0+hostb/0*0+hostc/0", evA + "+" + evB + "+(hostc:ncpus=1:mem=1048576kb)", jx[len("select="):], "5gb", "7", "3"}
	restart := func(w *rampdown, how string, between func()) {
		before := len(w.Ended("s1"))
		w.must("qterm", "-t", how)
		waitFor(w.t, patience, "the server to end", func() error {
			if got := w.Ended("s1"); len(got) == before {
				return fmt.Errorf("%v", got)
			}
			return nil
		})
		between()
		if err := w.Restart(w.t.Context(), "s1"); err != nil {
			w.t.Fatal(err)
		}
	}
	release := func(w *rampdown, place string) held {
		j := w.submit(jx, place, "sleep 1000")
		w.await(j.id, "the job runs", "substate = 42")
		w.live(j, 1, 1)
		w.has(j.id, original)
		signalTo(w.t, w.Cluster, "hostc", syscall.SIGSTOP)
		w.must("pbs_release_nodes", "-j", j.id, "hostb", "hostb[0]", "hostc")
		w.has(j.id, fewer)
		return j
	}
	deleted := func(w *rampdown, id string) int {
		return w.logs("hostc", "mom_logs", quoted(id)+";DELETE_JOB2 received$")
	}
	w.sub("RD-29", func(w *rampdown) {
		j := release(w, "scatter:excl")
		restart(w, "quick", func() {})
		w.await(j.id, "the servers", "job_state = R")
		w.has(j.id, fewer)
		want := map[string]string{"hostc": "state-unknown,down,job-exclusive " + j.id + "/0 1 1048576kb"}
		for _, v := range []string{"hosta[0]", "hosta[1]", "hostb", "hostb[0]"} {
			want[v] = "job-exclusive " + j.id + "/0 1 1048576kb"
		}
		for _, v := range []string{"hosta[2]", "hostb[1]"} {
			want[v] = "job-exclusive " + j.id + "/0 1 0kb"
		}
		w.vnodes(want)
		w.charged("7", "5242880kb")
		if deleted(w, j.id) != 0 {
			w.t.Error("a stopped mom has got DELETE_JOB2")
		}
		signalTo(w.t, w.Cluster, "hostc", syscall.SIGCONT)
		w.vnodes(map[string]string{"hostc": "free"})
		if n := deleted(w, j.id); n != 1 {
			w.t.Errorf("DELETE_JOB2 came %d times", n)
		}
		w.live(j, 1, 0)
		w.records(w.ends(j.id, letters(1)), original, fewer)
	})
	w.sub("RD-30", func(w *rampdown) {
		j := release(w, "scatter")
		restart(w, "immediate", func() { signalTo(w.t, w.Cluster, "hostc", syscall.SIGCONT) })
		w.await(j.id, "the job runs again", "run_count = 2", "substate = 42")
		w.has(j.id, original)
		w.charged("7", "5242880kb")
		want := p3(j.id)
		want["hostc"] = "free " + j.id + "/0 1 1048576kb"
		w.vnodes(want)
		if w.logs("s1", "server_logs", quoted(j.id)+";Job Run at request of .* on exec_vnode "+strings.NewReplacer("(", `\(`, ")", `\)`, "[", `\[`, "]", `\]`, "+", `\+`).Replace(original.ev)+"$") != 2 {
			w.t.Error("the server's log does not tell of the second run")
		}
		w.must("qdel", j.id)
	})
}
