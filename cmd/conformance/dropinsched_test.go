package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDropIn_Schedulers: a site makes a further scheduler, starts, configures, moves, kills and stops it as that of a PBS, by commands,
// files and signals alone (specification: drop-in section 2).
func TestDropIn_Schedulers(t *testing.T) {
	t.Parallel()
	a := newSite(t).host(t, "hosta", siteNames, "PBS_SERVER=hosta\nPBS_START_SERVER=1\nPBS_START_SCHED=1\nPBS_START_COMM=1\nPBS_START_MOM=1\n")
	a.ok(t, a.initScript(), "start")
	a.prints(t, "state = free", "pbsnodes", "-v", "hosta")
	if s := a.run(t, nil, a.sbin("pbs_sched"), "-I", "sc1"); s.status == 0 || !strings.Contains(s.err, "Unknown Scheduler sc1") {
		t.Errorf("a scheduler that there is not: %+v", s)
	}
	for _, line := range []string{
		"create sched sc1 partition=P1,sched_host=hosta", "create queue q1 queue_type=e,enabled=t,started=t,partition=P1", "set node hosta partition=P1",
		"set server acl_roots=root,flatuid=True",
	} {
		a.ok(t, "qmgr", "-c", line)
	}
	a.prints(t, "    state = down", "qmgr", "-c", "list sched sc1")
	a.ok(t, a.sbin("pbs_sched"), "-I", "sc1")
	a.prints(t, "    state = idle", "qmgr", "-c", "list sched sc1")
	pid := a.pid(t, "sched_priv_sc1/sched.lock", "pbs_sched")
	if second := a.run(t, nil, a.sbin("pbs_sched"), "-I", "sc1"); second.status == 0 || !strings.Contains(second.err, "another one is running") {
		t.Errorf("a second one: %+v", second)
	}
	a.ok(t, "qmgr", "-c", "set sched sc1 scheduling=True")
	a.logged(t, "sched_logs_sc1", "Starting Scheduling Cycle")
	id := a.ok(t, "qsub", "-q", "q1", "-j", "oe", "-o", "/dev/null", "--", filepath.Join(a.site.exec, "bin", "pbs_sleep"), "900")
	a.prints(t, "substate = 42", "qstat", "-f", id)
	a.logged(t, "sched_logs_sc1", ";Job;"+id+";Job run\n")
	if strings.Contains(a.log("sched_logs"), ";Job;"+id+";Job run\n") {
		t.Error("the default scheduler's log has the job of another")
	}

	// Its files are its own.
	config := filepath.Join(a.home, "sched_priv_sc1", "sched_config")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte(strings.Replace(string(text), "strict_ordering: false", "strict_ordering: true", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	hup(t, pid)
	a.logged(t, "sched_logs_sc1", "reconfigure;strict_ordering = true (was False)\n")
	a.prints(t, "    strict_ordering = True", "qmgr", "-c", "list sched sc1")
	if out := a.ok(t, "qmgr", "-c", "list sched default strict_ordering"); strings.Contains(out, "True") {
		t.Errorf("the default scheduler has it, too: %s", out)
	}
	a.ok(t, a.sbin("pbsfs"), "-I", "sc1", "-s", "ann", "100")
	if out := a.ok(t, a.sbin("pbsfs"), "-I", "sc1"); !strings.Contains(out, "ann") {
		t.Errorf("its tree: %s", out)
	}
	if out := a.ok(t, a.sbin("pbsfs")); strings.Contains(out, "ann") {
		t.Errorf("the tree of the default scheduler: %s", out)
	}

	// A folder that cannot be used stops it; another one is gone on with.
	a.ok(t, "qmgr", "-c", "set sched sc1 sched_priv="+filepath.Join(a.home, "sched_priv_nowhere"))
	a.prints(t, "    comment = PBS failed validation checks for sched_priv directory", "qmgr", "-c", "list sched sc1")
	a.prints(t, "    scheduling = False", "qmgr", "-c", "list sched sc1")
	other := filepath.Join(a.home, "sched_priv_other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	a.ok(t, "qmgr", "-c", "set sched sc1 sched_priv="+other)
	a.logged(t, "sched_logs_sc1", "Scheduler is reconfiguring")
	waitFor(t, patience, "the pid in the other folder", func() error {
		_, err := os.ReadFile(filepath.Join(other, "sched.lock"))
		return err
	})
	a.prints(t, "    state = idle", "qmgr", "-c", "list sched sc1")

	// Killed, or ended, it plans no more.
	pid = a.pid(t, "sched_priv_other/sched.lock", "pbs_sched")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	a.prints(t, "    state = down", "qmgr", "-c", "list sched sc1")
	a.ok(t, a.sbin("pbs_sched"), "-I", "sc1")
	a.prints(t, "    state = idle", "qmgr", "-c", "list sched sc1")
	if err := syscall.Kill(a.pid(t, "sched_priv_other/sched.lock", "pbs_sched"), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	a.prints(t, "    state = down", "qmgr", "-c", "list sched sc1")
	a.ok(t, "qmgr", "-c", "delete sched sc1")
	a.ok(t, "qdel", "-W", "force", id)
	a.ok(t, a.initScript(), "stop")
}
