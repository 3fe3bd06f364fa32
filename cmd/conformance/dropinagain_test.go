package conformance

import (
	"os"
	"strings"
	"testing"
)

// dropInNamed: a vnode that stands for the host in place of its own, by another name, until it is deleted.
func dropInNamed(t *testing.T, a *siteHost, name string) {
	t.Helper()
	a.ok(t, "qmgr", "-c", "create node "+name+" Mom=hosta")
	a.prints(t, "state = free", "pbsnodes", "-v", name)
	if out := a.ok(t, "qmgr", "-c", "print node "+name); !strings.Contains(out, "create node "+name+" Mom=hosta") {
		t.Errorf("qmgr prints %s", out)
	}
	id := a.submit(t)
	a.prints(t, name+"/0", "qstat", "-n", id)
	a.ok(t, "qdel", id)
	a.prints(t, "job_state = F", "qstat", "-xf", id)
	a.ok(t, "qmgr", "-c", "delete node "+name)
}

// dropInHot: what qterm has ended starts again where it ran, with scheduling off, too.
func dropInHot(t *testing.T, a *siteHost) {
	t.Helper()
	id := a.submit(t)
	a.ok(t, "qmgr", "-c", "set server scheduling = False")
	server := a.pid(t, "server_priv/server.lock", "pbs_server")
	a.ok(t, "qterm", "-t", "immediate")
	awaitDead(t, server)
	a.ok(t, a.sbin("pbs_server"), "-t", "hot")
	a.prints(t, "run_count = 2\n", "qstat", "-f", id)
	a.prints(t, "substate = 42", "qstat", "-f", id)
	a.prints(t, "server_state = Idle", "qstat", "-Bf")
	a.ok(t, "qmgr", "-c", "set server scheduling = True")
	a.ok(t, "qdel", id)
}

// dropInRenamed: the server goes by the name that PBS_SERVER gives it, and older jobs are found by their numbers.
func dropInRenamed(t *testing.T, a *siteHost) {
	t.Helper()
	older := a.ok(t, "qsub", "-h", "--", "/bin/true")
	number := strings.TrimSuffix(older, ".hosta")
	server := a.pid(t, "server_priv/server.lock", "pbs_server")
	a.ok(t, "qterm", "-t", "quick")
	awaitDead(t, server)
	conf, err := os.ReadFile(a.confPath())
	if err != nil {
		t.Fatal(err)
	}
	a.conf(t, strings.Replace(string(conf), "PBS_SERVER=hosta\n", "PBS_SERVER=grid\nPBS_SERVER_HOST_NAME=hosta\n", 1))
	a.ok(t, a.initScript(), "start")
	a.prints(t, "Server: grid", "qstat", "-Bf")
	newer := a.ok(t, "qsub", "-W", "depend=afterany:"+number, "--", "/bin/true")
	if !strings.HasSuffix(newer, ".grid") {
		t.Errorf("a new job is %s", newer)
	}
	a.prints(t, "depend = afterany:"+older+"@", "qstat", "-f", newer)
	a.ok(t, "qdel", older, newer)
}
