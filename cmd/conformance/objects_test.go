package conformance

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// All queues, the default one too, all nodes and all custom resources can be deleted, every
// attribute of the server unset, and all made again: what test suites and rescue scripts do
// (specification: drop-in section 2).
func TestDropIn_EverythingIsMadeAgain(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "hosta:ncpus=2,mem=2gb")
	do := func(name string, args ...string) string {
		t.Helper()
		out, err := c.Output(t.Context(), name, args...)
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return out
	}
	qmgr := func(directives ...string) {
		t.Helper()
		for _, d := range directives {
			do("qmgr", "-c", d)
		}
	}
	qmgr("create resource foo type=long,flag=nh", "set node hosta resources_available.foo=2")
	var names []string
	for line := range strings.Lines(do("qmgr", "-c", "print server")) {
		if m := settable.FindStringSubmatch(line); m != nil && !strings.Contains(strings.Join(names, ","), m[1]) {
			names = append(names, m[1])
		}
	}
	if len(names) < 15 {
		t.Fatalf("print server shows %q only", names)
	}
	qmgr("unset server "+strings.Join(names, ","), "delete node @default", "delete queue @default", "delete resource foo")
	for _, gone := range [][]string{{"qmgr", "-c", "list resource"}, {"qmgr", "-c", "list queue @default"}} {
		if out := do(gone[0], gone[1:]...); out != "" {
			t.Errorf("%q still shows %s", gone, out)
		}
	}
	if out, err := c.Output(t.Context(), "pbsnodes", "-a"); err == nil || !strings.Contains(err.Error(), "Server has no node list") {
		t.Errorf("pbsnodes -a without nodes: %v, %s", err, out)
	}
	if out, err := c.Output(t.Context(), "qsub", "--", "/bin/true"); err == nil {
		t.Errorf("qsub without a queue gives %s", out)
	}
	qmgr(
		"create queue workq queue_type=execution,enabled=true,started=true",
		"set server default_queue=workq,flatuid=true", "set server acl_roots=root", "set server job_history_enable=true",
		"create node hosta", "create resource foo type=long,flag=nh", "set node hosta resources_available.foo=2",
	)
	id := strings.TrimSpace(do("qsub", "-o", "/dev/null", "-e", "/dev/null", "-l", "select=1:ncpus=1:foo=2", "--", "/bin/true"))
	for began := time.Now(); ; poll(began) {
		shown := do("qstat", "-xf", id)
		if strings.Contains(shown, "job_state = F") {
			break
		}
		if time.Since(began) > patience {
			t.Fatalf("the job did not run:\n%s", shown)
		}
	}
}

// settable is a line of print server.
var settable = regexp.MustCompile(`^set server ([a-z_A-Z]+)`)
