package conformance

import (
	"os"
	"regexp"
	"testing"
)

// What a hook may not give back of a job that is being started is refused in the words of the command
// (specification: ramp-down section 4, rows 15 to 18): release_nodes returns None, the mother superior's
// log says why, and the job starts with all that it has.
func TestRampDown_RefusedAtStart(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("hooks are root's")
	}
	t.Parallel()
	w := newRampdown(t, "hosta:ncpus=1/hosta[0]:ncpus=1", "hostb:ncpus=1", "hostc:ncpus=1")
	w.must("qmgr", "-c", "set node hostb resources_available.vntype = cray_login")
	w.must("qmgr", "-c", "set node hostc resources_available.arch = linux_cpuset")
	w.hookOf("execjob_prologue", `
import pbs
e = pbs.event()
if e.job.in_ms_mom():
    for names in ["hosta[0]", "hostb", "hostc", "other hosta[7]", "hostb hosta"]:
        got = e.job.release_nodes(node_list={n: None for n in names.split()})
        pbs.logjobmsg(e.job.id, "%s: %s" % (names, got))
`, "hosta", "hostb", "hostc")
	id := w.by(owner, "qsub", "-W", "tolerate_node_failures=job_start", "-l", "select=1:ncpus=2:host=hosta+1:ncpus=1:host=hostb+1:ncpus=1:host=hostc",
		"-o", "/dev/null", "-j", "oe", "--", "/bin/sleep", "1000")
	w.await(id, "the job runs", "substate = 42", "exec_vnode = (hosta:ncpus=1+hosta[0]:ncpus=1)+(hostb:ncpus=1)+(hostc:ncpus=1)\n")
	for _, line := range []string{
		"cannot prune: Can't free 'hosta[0]' since it's on a primary execution host",
		"hosta[0]: None",
		"cannot prune: not currently supported on Cray X* series nodes: hostb",
		"hostb: None",
		"cannot prune: not currently supported on nodes whose resources are part of a cpuset: hostc",
		"hostc: None",
		"cannot prune: node(s) requested to be released not part of the job: ",
		"other hosta[7]: None",
		"cannot prune: Can't free 'hosta' since it's on a primary execution host",
		"hostb hosta: None",
	} {
		if w.logs("hosta", "mom_logs", quoted(id)+";"+regexp.QuoteMeta(line)) != 1 {
			t.Errorf("the log of hosta does not tell once: %s", line)
		}
	}
	w.ends(id, letters(0))
}
