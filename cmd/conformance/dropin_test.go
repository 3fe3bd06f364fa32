package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const siteNames = "127.0.0.1 localhost\n10.77.0.1 hosta\n10.77.0.2 hostb\n"

// TestDropIn: a site's tools find everything where PBS has it (specification: drop-in), on
// hosts of their own, by init script, commands, files and signals alone.
func TestDropIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.host(t, "hosta", siteNames, "PBS_SERVER=hosta\nPBS_START_SERVER=1\nPBS_START_SCHED=1\nPBS_START_COMM=1\nPBS_START_MOM=1\nPBS_CORE_LIMIT=40960\n")
	b := s.host(t, "hostb", siteNames, "PBS_SERVER=hosta\nPBS_START_MOM=1\n")
	join(t, a, "10.77.0.1/24", b, "10.77.0.2/24")
	dropInStarts(t, a)
	dropInObjects(t, a)
	dropInFiles(t, a)
	dropInCopies(t, a)
	dropInMom(t, a)
	dropInSecondHost(t, a, b)
	dropInHot(t, a)
	dropInRenamed(t, a)
	dropInStops(t, a)
}

// coreLimit is the PBS_CORE_LIMIT of hosta, in bytes.
var coreLimit = regexp.MustCompile(`Max core file size +40960 +40960 +bytes`)

// dropInStarts: the first start on a fresh host makes a cluster of one with its mom.
func dropInStarts(t *testing.T, a *siteHost) {
	t.Helper()
	if st := a.run(t, nil, a.initScript(), "status"); st.status != 3 || !strings.Contains(st.out, "pbs_server is not running") {
		t.Errorf("status before the start: %+v", st)
	}
	if st := a.run(t, []string{"PBS_START_MOM=0", "PBS_START_SCHED=0"}, a.initScript(), "start"); st.status != 0 || strings.Contains(st.out, "PBS mom") {
		t.Fatalf("the environment does not win over pbs.conf: %+v", st)
	}
	a.ok(t, a.initScript(), "start")
	for lock, name := range map[string]string{
		"server_priv/server.lock": "pbs_server", "server_priv/comm.lock": "pbs_comm", "sched_priv/sched.lock": "pbs_sched", "mom_priv/mom.lock": "pbs_mom",
	} {
		pid := a.pid(t, lock, name)
		for _, fd := range []string{"1", "2"} {
			if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd)); err != nil || !strings.HasPrefix(to, a.home) {
				t.Errorf("%s has %s for its output: %v", name, to, err)
			}
		}
		if limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid)); err != nil || !coreLimit.Match(limits) {
			t.Errorf("%s does not heed PBS_CORE_LIMIT: %v\n%s", name, err, limits)
		}
	}
	if out := a.ok(t, a.initScript(), "status"); strings.Count(out, "is pid") != 4 {
		t.Errorf("status says %s", out)
	}
	a.prints(t, "state = free", "pbsnodes", "-v", "hosta")
	if second := a.run(t, nil, a.sbin("pbs_server")); second.status == 0 || !strings.Contains(second.err, "another one is running") {
		t.Errorf("a second pbs_server: %+v", second)
	}
	server := a.ok(t, "qstat", "-Bf")
	for _, name := range strings.Fields(`server_state server_host scheduling total_jobs state_count default_queue log_events mail_from query_other_jobs
		resources_default.ncpus default_chunk.ncpus scheduler_iteration flatuid node_fail_requeue max_array_size pbs_license_min license_count
		pbs_version eligible_time_enable max_concurrent_provision`) {
		if !strings.Contains(server, "    "+name+" = ") {
			t.Errorf("qstat -Bf shows no %s:\n%s", name, server)
		}
	}
	if st := a.run(t, nil, "qstat", "-f", "@hosta"); st.status != 0 || st.out+st.err != "" {
		t.Errorf("qstat -f of no jobs: %+v", st)
	}
	sched := a.ok(t, "qmgr", "-c", "list sched")
	for _, name := range strings.Fields(`sched_host sched_priv sched_log sched_cycle_length scheduling state log_events do_not_span_psets throughput_mode
		job_run_wait only_explicit_psets preempt_queue_prio preempt_prio preempt_order preempt_sort server_dyn_res_alarm opt_backfill_fuzzy
		attr_update_period sched_preempt_enforce_resumption pbs_version`) {
		if !strings.Contains(sched, "    "+name+" = ") {
			t.Errorf("list sched shows no %s:\n%s", name, sched)
		}
	}
	for _, line := range []string{"pbs_rstat", "pbs_rstat -f", "pbs_rstat -F", "pbs_rstat -S", "pbs_rstat -B"} {
		if st := a.run(t, nil, strings.Fields(line)...); st.status != 0 || st.out+st.err != "" {
			t.Errorf("%s: %+v", line, st)
		}
	}
	for _, name := range []string{"pbs_rsub", "pbs_rdel", "pbs_ralter"} {
		if st := a.run(t, nil, name); st.status != 2 || !strings.HasPrefix(st.err, "usage:") {
			t.Errorf("%s: %+v", name, st)
		}
	}
	if out := a.ok(t, a.sbin("pbsfs")); !strings.Contains(out, "TREEROOT") {
		t.Errorf("pbsfs says %s", out)
	}
	a.ok(t, "qmgr", "-c", "set sched resource_group='ann 10 root 60,bob 11 root 40'")
	if out := a.ok(t, a.sbin("pbsfs"), "-t"); out != "TREEROOT(0)\n     ann(10)\n     bob(11)\n     unknown(1)" {
		t.Errorf("pbsfs -t says %s", out)
	}
	a.ok(t, "qmgr", "-c", "unset sched resource_group")
	a.ok(t, "pbs_sleep", "0")
	if st := a.run(t, nil, "pbs_python", "-c", "import sys; print(sys.version_info >= (3, 9))"); st.out != "True" && !strings.Contains(st.err, "no Python") {
		t.Errorf("pbs_python: %+v", st)
	}
	if st := a.run(t, nil, "pbs_python", "-c", ifl); st.out != "well" && !strings.Contains(st.err, "no Python") {
		t.Errorf("pbs_ifl: %+v", st)
	}
	if st := a.run(t, nil, "pbs_python", "-c", "import pbs; print(pbs.JOB_STATE_RUNNING)"); st.out != "4" && !strings.Contains(st.err, "no Python") {
		t.Errorf("import pbs: %+v", st)
	}
}

// ifl uses PBS's programming interface.
const ifl = `
import os, pbs_ifl as ifl
assert ifl.pbs_connect("nowhere.invalid") == -1 and ifl.pbs_errno != 0
c = ifl.pbs_connect(None)
server = ifl.pbs_statserver(c, None, None)
assert server.name == "hosta" == ifl.pbs_default() and server.next is None, server.name
wanted = ifl.attrl("resources_available", next=ifl.attrl("state"))
node = ifl.pbs_statvnode(c, "hosta", wanted, None)
found = {(a.name, a.resource): a.value for a in node.attribs}
assert found["resources_available", "host"] == "hosta" and found["state", None] == "free" and len({name for name, _ in found}) == 2, found
roots = ifl.attropl("acl_roots", None, "root", ifl.INCR)
assert ifl.pbs_manager(c, ifl.MGR_CMD_SET, ifl.MGR_OBJ_SERVER, None, roots, None) == 0
with open("ifl.sh", "w") as f:
    f.write("#!/bin/sh\nsleep 600\n")
job = ifl.pbs_submit(c, ifl.attropl("Job_Name", None, "ifl", next=ifl.attropl("Resource_List", "walltime", "60", next=ifl.attropl("Hold_Types", None, "u"))), "ifl.sh", "workq", None)
assert ifl.pbs_statjob(c, job, ifl.attrl("Hold_Types"), None).attribs.value == "u" and ifl.pbs_holdjob(c, job, "o", None) == 0
os.remove("ifl.sh")
assert ifl.pbs_alterjob(c, job, ifl.attrl("Resource_List", "walltime", "90", next=ifl.attrl("Priority", None, "7")), None) == 0
held = ifl.attropl("job_state", None, "H", ifl.EQ, ifl.attropl("Job_Name", None, "ifl"))
assert ifl.pbs_selectjob(c, held, None) == [job]
found = {(a.name, a.resource): a.value for a in ifl.pbs_statjob(c, job, None, None).attribs}
assert found["Resource_List", "walltime"] == "00:01:30" and found["Priority", None] == "7", found
assert "PBS_O_HOST=hosta" in found["Variable_List", None], found
assert ifl.pbs_deljob(c, job, "force") == 0
assert ifl.pbs_deljob(c, "99999", None) == ifl.PBSE_UNKJOBID == ifl.pbs_errno and "99999" in ifl.pbs_geterrmsg(c)
assert ifl.pbs_statjob(c, "99999", None, None) is None
assert ifl.pbs_manager(c, ifl.MGR_CMD_CREATE, ifl.MGR_OBJ_QUEUE, "iflq", ifl.attropl("queue_type", None, "e"), None) == 0
assert [a.value for q in ifl.pbs_statque(c, "iflq", ifl.attrl("queue_type"), None) for a in q.attribs] == ["Execution"]
assert ifl.pbs_manager(c, ifl.MGR_CMD_CREATE, ifl.MGR_OBJ_QUEUE, "iflq", None, None) == 15025
assert ifl.pbs_manager(c, ifl.MGR_CMD_DELETE, ifl.MGR_OBJ_QUEUE, "iflq", None, None) == 0
assert ifl.pbs_manager(c, ifl.MGR_CMD_UNSET, ifl.MGR_OBJ_SERVER, None, roots, None) == 0
assert ifl.pbs_statsched(c, None, None).name == "default" and ifl.pbs_statresv(c, None, None, None) is None
assert ifl.pbs_disconnect(c) == 0 and ifl.pbs_disconnect(c) == -1
print("well")
`

var shownAttribute = regexp.MustCompile(`(?m)^    ([a-z_A-Z]+)(?:\.([a-z_A-Z]+))? = `)

// dropInObjects: tools delete everything, and make it again.
func dropInObjects(t *testing.T, a *siteHost) {
	t.Helper()
	if st := a.run(t, nil, "qmgr", "-c", "list resource"); st.status != 0 || st.out+st.err != "" {
		t.Errorf("list resource of none: %+v", st)
	}
	for object, readOnly := range map[string]string{
		"server": "server_state server_host total_jobs state_count resources_assigned license_count pbs_version power_provisioning",
		"sched":  "pbs_version", "queue workq": "total_jobs state_count hasnodes resources_assigned",
		"node hosta": "Mom Port last_state_change_time last_used_time license ntype pbs_version pcpus resources_assigned sharing jobs",
	} {
		var names []string
		for _, m := range shownAttribute.FindAllStringSubmatch(a.ok(t, "qmgr", "-c", "list "+object), -1) {
			if !slices.Contains(strings.Fields(readOnly), m[1]) {
				names = append(names, strings.TrimSuffix(m[1]+"."+m[2], "."))
			}
		}
		a.ok(t, "qmgr", "-c", "unset "+object+" "+strings.Join(names, ","))
	}
	a.ok(t, "qmgr", "-c", "delete queue workq")
	if left := a.ok(t, "qstat", "-Qf"); left != "" {
		t.Errorf("queues are left: %s", left)
	}
	a.ok(t, "qmgr", "-c", "delete node @default")
	if st := a.run(t, nil, "pbsnodes", "-a"); st.status == 0 || st.err != "pbsnodes: Server has no node list" {
		t.Errorf("pbsnodes without nodes: %+v", st)
	}
	if st := a.run(t, nil, "pbsnodes", "-v", "hosta"); st.status != 1 || !strings.HasPrefix(st.err, "Node: hosta,  Error: Unknown node") {
		t.Errorf("pbsnodes of an unknown node: %+v", st)
	}
	a.ok(t, "qmgr", "-c", "create resource foo type=long,flag=nh")
	a.ok(t, "qmgr", "-c", "delete resource foo")
	a.ok(t, "qmgr", "-c", "create queue workq queue_type=execution,enabled=True,started=True")
	a.ok(t, "qmgr", "-c", "set server default_queue=workq,acl_roots=root,resources_default.ncpus=1,default_chunk.ncpus=1,flatuid=True,scheduling=True")
	a.ok(t, "qmgr", "-c", "set server node_fail_requeue=310,job_history_enable=True")
	dropInNamed(t, a, "10.77.0.1")
	a.ok(t, "qmgr", "-c", "create node hosta")
	a.prints(t, "state = free", "pbsnodes", "-v", "hosta")
	const cycle = "Leaving Scheduling Cycle"
	before := strings.Count(a.log("sched_logs"), cycle)
	a.ok(t, "qmgr", "-c", "set server scheduling = True")
	waitFor(t, patience, "a cycle", func() error {
		if strings.Count(a.log("sched_logs"), cycle) == before {
			return fmt.Errorf("%d cycles", before)
		}
		return nil
	})
}

// submit submits a job that sleeps, and waits until it runs.
func (h *siteHost) submit(t *testing.T) string {
	t.Helper()
	id := h.ok(t, "qsub", "-j", "oe", "-o", "/dev/null", "-l", "select=1:ncpus=1:host=hosta", "--", filepath.Join(h.site.exec, "bin", "pbs_sleep"), "900")
	h.prints(t, "substate = 42", "qstat", "-f", id)
	return id
}

// dropInFiles: the files that tools edit, read at SIGHUP.
func dropInFiles(t *testing.T, a *siteHost) {
	t.Helper()
	config := filepath.Join(a.home, "sched_priv", "sched_config")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	strict := strings.Replace(string(text), "strict_ordering: false", "strict_ordering: true", 1)
	if err := os.WriteFile(config, []byte(strict+"what: ever\ncpus_per_ssinode: 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	scheduler := a.pid(t, "sched_priv/sched.lock", "pbs_sched")
	hup(t, scheduler)
	a.logged(t, "sched_logs", ";0040;pbs_sched;Sched;reconfigure;Scheduler is reconfiguring\n")
	a.logged(t, "sched_logs", "what is no setting of the scheduler")
	a.logged(t, "sched_logs", "cpus_per_ssinode: 2 has no effect")
	a.logged(t, "sched_logs", "reconfigure;strict_ordering = true (was False)\n")
	a.prints(t, "    strict_ordering = True", "qmgr", "-c", "list sched")
	a.logged(t, "sched_logs", "Starting Scheduling Cycle")
	if err := os.WriteFile(config, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(scheduler, syscall.SIGPIPE); err != nil {
		t.Fatal(err)
	}
	a.logged(t, "sched_logs", ";Req;sig_pipe;We've received a sigpipe:")
	hup(t, scheduler)
	a.logged(t, "sched_logs", "reconfigure;strict_ordering = false (was True)\n")

	environment := filepath.Join(a.home, "pbs_environment")
	if err := os.WriteFile(environment, []byte("PATH=/bin:/usr/bin\nSITE_WORD=hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	mom := filepath.Join(a.home, "mom_priv", "config")
	if err := os.WriteFile(mom, []byte("$clienthost hosta\n$logevent 0xffffffff\n$usecp *:/nowhere /tmp\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	hup(t, a.pid(t, "mom_priv/mom.lock", "pbs_mom"))
	out := filepath.Join(a.site.dir, "out")
	id := ""
	waitFor(t, patience, "a job with the site's environment", func() error {
		id = a.ok(t, "qsub", "-W", "block=true", "-j", "oe", "-o", out, "--", "/bin/sh", "-c", "echo $SITE_WORD $(wc -l <$PBS_NODEFILE); ls -l $PBS_NODEFILE")
		if said, _ := os.ReadFile(out); !strings.HasPrefix(string(said), "hello 1\n-rw-r--r--") {
			return fmt.Errorf("%s", said)
		}
		return nil
	})
	for _, line := range []string{
		";0080;pbs_mom;Job;" + id + ";copy file request received\n", ";0100;pbs_mom;Job;" + id + ";Obit sent\n",
	} {
		a.logged(t, "mom_logs", line)
	}
	for _, line := range []string{"Job Queued at request of root@hosta, owner = ", "Job Run at request of Scheduler@hosta on exec_vnode (hosta:ncpus=1)", "Exit_status=0 resources_used", "dequeuing from workq, state"} {
		a.logged(t, "server_logs", ";"+id+";"+line)
	}
	for _, file := range []string{"server_logs", "sched_logs", "mom_logs", "comm_logs"} {
		if text := a.log(file); text == "" {
			t.Errorf("no %s", file)
		}
	}
	if conf, err := os.ReadFile(a.confPath()); err != nil || !strings.Contains(string(conf), "SITE_KEY=kept") {
		t.Errorf("pbs.conf was changed: %v", err)
	}
}

// awaitDead waits for the end of a process, though nobody may have reaped it.
func awaitDead(t *testing.T, pid int) {
	t.Helper()
	waitFor(t, patience, "the end of a process", func() error {
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && len(line) > 0 {
			return fmt.Errorf("process %d is %q", pid, line)
		}
		return nil
	})
}

func hup(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

// dropInMom: STOP and CONT, a crash of the server, and a mom that is started again without
// and with -p; a restart keeps its jobs.
func dropInMom(t *testing.T, a *siteHost) {
	t.Helper()
	id := a.submit(t)
	mom := a.pid(t, "mom_priv/mom.lock", "pbs_mom")
	if err := syscall.Kill(mom, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	a.ok(t, "qdel", id)
	if err := syscall.Kill(mom, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	a.prints(t, "job_state = F", "qstat", "-xf", id)

	id = a.submit(t)
	server := a.pid(t, "server_priv/server.lock", "pbs_server")
	if err := syscall.Kill(server, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitDead(t, server)
	a.ok(t, a.initScript(), "start")
	a.prints(t, "substate = 42", "qstat", "-f", id)

	only := []string{"PBS_START_SERVER=0", "PBS_START_SCHED=0", "PBS_START_COMM=0"}
	if st := a.run(t, only, a.initScript(), "restart"); st.status != 0 {
		t.Fatalf("restart of the mom: %+v", st)
	}
	a.prints(t, "state = free", "pbsnodes", "-v", "hosta")
	if out := a.ok(t, "qstat", "-f", id); !strings.Contains(out, "run_count = 1\n") || !strings.Contains(out, "job_state = R\n") {
		t.Errorf("a restart did not keep the job:\n%s", out)
	}
	if st := a.run(t, only, a.initScript(), "stop"); st.status != 0 {
		t.Fatalf("stop of the mom: %+v", st)
	}
	a.ok(t, a.initScript(), "start")
	a.prints(t, "run_count = 2", "qstat", "-f", id)
	a.prints(t, "substate = 42", "qstat", "-f", id)
	if st := a.run(t, only, a.initScript(), "stop"); st.status != 0 {
		t.Fatalf("stop of the mom: %+v", st)
	}
	a.ok(t, a.sbin("pbs_mom"), "-p")
	a.prints(t, "state = free", "pbsnodes", "-v", "hosta")
	if out := a.ok(t, "qstat", "-f", id); !strings.Contains(out, "run_count = 2\n") || !strings.Contains(out, "job_state = R\n") {
		t.Errorf("pbs_mom -p did not adopt:\n%s", out)
	}
	a.ok(t, "qdel", id)
}

// dropInSecondHost: a host of another server says what to run, and that works.
func dropInSecondHost(t *testing.T, a, b *siteHost) {
	t.Helper()
	st := b.run(t, nil, b.initScript(), "start")
	var steps [][]string
	for line := range strings.Lines(st.err) {
		if step, ok := strings.CutPrefix(line, "\t"); ok {
			steps = append(steps, strings.Fields(step))
		}
	}
	if st.status == 0 || len(steps) != 2 {
		t.Fatalf("a start without a mom: %+v", st)
	}
	token := a.ok(t, steps[0]...)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, word := range steps[1] {
		if word == "-" { // standard input
			steps[1][i] = file
		}
	}
	b.ok(t, steps[1]...)
	b.ok(t, b.initScript(), "start")
	a.prints(t, "state = free", "pbsnodes", "-v", "hostb")
	out := filepath.Join(a.site.dir, "where")
	a.ok(t, "qsub", "-W", "block=true", "-j", "oe", "-o", out, "-l", "select=1:host=hostb", "--", "/bin/hostname")
	if said, _ := os.ReadFile(out); string(said) != "hostb\n" {
		t.Errorf("a job for hostb ran on %q", said)
	}
	b.ok(t, b.initScript(), "stop")
}

// dropInStops: qterm leaves jobs running, and the init script takes all down.
func dropInStops(t *testing.T, a *siteHost) {
	t.Helper()
	id := a.submit(t)
	server := a.pid(t, "server_priv/server.lock", "pbs_server")
	a.ok(t, "qterm", "-t", "quick")
	a.ok(t, a.initScript(), "start") // which waits for the end of the one before
	awaitDead(t, server)
	if out := a.ok(t, "qstat", "-f", id); !strings.Contains(out, "run_count = 1\n") || !strings.Contains(out, "job_state = R\n") {
		t.Errorf("after qterm -t quick and a start:\n%s", out)
	}
	a.ok(t, "qdel", id)
	a.prints(t, "job_state = F", "qstat", "-xf", id)
	a.ok(t, a.initScript(), "stop")
	if st := a.run(t, nil, a.initScript(), "status"); st.status != 3 || strings.Contains(st.out, "is pid") {
		t.Errorf("after the stop: %+v", st)
	}
}
