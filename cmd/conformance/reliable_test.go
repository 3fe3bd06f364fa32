package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The hooks of the cases RS-1 and RS-17: all jobs get spare chunks, a host refuses to join, and
// before the program the job is cut down to what was asked for.
var reliableHooks = map[string]string{
	"queuejob": `
import pbs
j = pbs.event().job
sel = j.Resource_List["select"]
if j.Job_Name == "padded":
    j.Resource_List["select_reliable_startup"] = sel.increment_chunks(1)
`,
	"execjob_begin": `
import pbs
pbs.logmsg(pbs.LOG_DEBUG, "Executing begin")
if pbs.get_local_nodename() == "hostb":
    pbs.event().reject("bad node")
`,
	"execjob_launch": `
import pbs
e = pbs.event()
if "PBS_NODEFILE" in e.env and e.job.in_ms_mom() and e.job.Account_Name != "server":
    for v in e.vnode_list_fail:
        pbs.logjobmsg(e.job.id, "launch: found vnode_list_fail[%s]" % v)
        e.vnode_list_fail[v].state = pbs.ND_OFFLINE
    pj = e.job.release_nodes(keep_select=e.job.select_requested)
    if pj is None:
        e.job.Hold_Types = pbs.hold_types("s")
        e.job.rerun()
        e.reject("unsuccessful at LAUNCH")
    pbs.logjobmsg(e.job.id, "launch: job.exec_vnode=%s" % pj.exec_vnode)
    pbs.logjobmsg(e.job.id, "launch: job.schedselect=%s" % pj.schedselect)
    pbs.logjobmsg(e.job.id, "launch: released %s" % " ".join(sorted(pj)))
`,
}

const (
	evD = "(hostd:ncpus=3:mem=2097152kb)"
	evE = "(hoste:mem=1048576kb:ncpus=1+hoste[0]:mem=1048576kb:ncpus=1)"
	r1  = "select=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb"
	sn  = "1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb"
	sp  = "1:ncpus=3:mem=2gb+2:ncpus=3:mem=2gb+2:ncpus=2:mem=2gb"
)

// newReliable is the complex P5 of the specification (reliable-startup section 15) with waits
// that end early.
func newReliable(t *testing.T) *releasing {
	w := &releasing{newCluster(
		t, "--mom", "hosta"+fourVnodes("hosta"), "--mom", "hostb:ncpus=1,mem=1gb"+fourVnodes("hostb"), "--mom", "hostd:ncpus=5,mem=5gb",
		"--mom", "hostc:ncpus=2,mem=2gb", "--mom", "hoste:ncpus=1,mem=1gb"+fourVnodes("hoste"),
	), t}
	config := filepath.Join(w.Home("hosta"), "mom_priv", "config")
	text, _ := os.ReadFile(config) // there may be none
	text = append(text, "\n$sister_join_job_alarm 20\n$job_launch_delay 20\n$job_launch_early true\n"...)
	if err := errors.Join(os.WriteFile(config, text, 0o600), w.Signal("hosta", syscall.SIGHUP)); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *releasing) hook(event string) {
	w.t.Helper()
	file := filepath.Join(w.Dir, event+".py")
	if err := os.WriteFile(file, []byte(reliableHooks[event]), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.must("qmgr", "-c", "create hook "+event+" event="+event)
	w.must("qmgr", "-c", "import hook "+event+" application/x-python default "+file)
	if event == "queuejob" {
		return
	}
	for _, host := range []string{"hosta", "hostb"} {
		waitFor(w.t, patience, "the hook "+event+" at "+host, func() error {
			if w.logs(host, "mom_logs", event+`\.PY;copy hook-related`) == 0 {
				return errors.New("it has not come")
			}
			return nil
		})
	}
}

// RS-1, RS-5, RS-15 to RS-17: a padded job starts on the hosts that are well, with hooks and
// without Python.
func TestReliableStartup(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("hooks are root's")
	}
	w := newReliable(t)
	for _, event := range []string{"queuejob", "execjob_begin", "execjob_launch"} {
		w.hook(event)
	}
	run := func(how string, more ...string) string {
		id := w.must("qsub", append([]string{"-N", "padded", "-l", r1, "-l", "place=scatter", "-o", filepath.Join(w.Dir, how), "-j", "oe"}, more...)...)
		return id
	}
	// RS-1, RS-17: by the hook.
	id := run("hook", "--", "/bin/sleep", "60")
	w.await(id, "the job runs", "substate = 42")
	w.shows(id, "exec_vnode = "+evA+"+"+evD+"+"+evC, "exec_host = hosta/0*0+hostd/0*3+hostc/0*2", "Resource_List.select = "+sn,
		"Resource_List.select_requested = "+sn, "Resource_List.select_reliable_startup = "+sp, "schedselect = "+sn,
		"Resource_List.mem = 6gb", "Resource_List.ncpus = 8", "Resource_List.nodect = 3", "tolerate_node_failures = all")
	w.assigned("8", "6291456kb")
	for _, v := range []string{"hostb", "hostb[0]", "hostb[1]"} {
		w.vnode(v, "state = offline")
	}
	w.vnode("hostb[2]", "state = free")
	w.vnode("hoste", "state = free")
	for _, line := range []string{
		`job_start_error.+from node hostb.+could not JOIN_JOB`, `ignoring error from hostb.+as job is tolerant of node failures`,
		`launch: found vnode_list_fail\[hostb\[1\]\]`, `pruned from exec_vnode=\(hosta`, `pruned to exec_vnode=\(hosta`,
		`launch: job.schedselect=` + strings.ReplaceAll(sn, "+", `\+`), `launch: released hostb hostb\[0\] hostb\[1\] hoste hoste\[0\]`,
		`job node_list_fail: node hostb`, `job node_list_good: node hostd`, `sister_join_job_alarm;20`, `job_launch_delay;20`,
	} {
		if w.logs("hosta", "mom_logs", line) == 0 {
			t.Errorf("the log of hosta has no line %q", line)
		}
	}
	for _, l := range w.ends(id, "QSsucsDeE") {
		t.Log(l)
	}
	w.must("qmgr", "-c", "set node hostb,hostb[0],hostb[1] state = free")

	// The server does it, with no hook at launch; a leader dies before.
	w.must("qmgr", "-c", "set hook execjob_launch enabled = false")
	w.must("qmgr", "-c", "set server prune_at_job_start = True")
	const victim = "s2" // the records of s1 are read
	waitFor(t, patience, victim+" to lead", func() error {
		_, err := w.Output(t.Context(), "rampart", "cluster", "transfer", victim)
		if leader, unknown := w.Leader(t.Context()); leader != victim {
			err = fmt.Errorf("%s leads: %w", leader, errors.Join(err, unknown))
		}
		return err
	})
	kill(t, w.Cluster, victim)
	waitFor(t, patience, "another replica to lead", func() error {
		if leader, err := w.Leader(t.Context()); err != nil || leader == victim {
			return fmt.Errorf("%q leads: %w", leader, err)
		}
		return nil
	})
	if how := w.Ended(victim); len(how) != 1 || how[0] != "signal: killed" {
		t.Fatalf("the ends of %s, which led: %q", victim, how)
	}
	id = run("server", "--", "/bin/sleep", "60")
	w.await(id, "the job runs", "substate = 42")
	w.shows(id, "exec_vnode = "+evA+"+"+evD+"+"+evC, "Resource_List.select = "+sn, "Resource_List.nodect = 3")
	w.ends(id, "QSsucsDeE")
}
