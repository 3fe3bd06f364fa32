package conformance

import (
	"fmt"
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
	deadline := time.Now().Add(patience)
	for last := ""; !strings.Contains(last, "job_state = F"); {
		if time.Now().After(deadline) {
			t.Fatalf("the job did not run:\n%s", last)
		}
		poll()
		last = do("qstat", "-xf", id)
	}
}

// settable is a line of print server.
var settable = regexp.MustCompile(`^set server ([a-z_A-Z]+)`)

// withoutState is what nobody can set of what is printed of the scheduler.
var withoutState = regexp.MustCompile(`(?m)^set sched state .*\n`)

// What `print server`, `print node @default` and `print sched` say makes the same queues,
// resources, server, nodes and scheduler again, as scripts that save and restore a
// configuration rely on.
func TestDropIn_PrintedServerMakesTheSame(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--replicas", "1", "--mom", "hosta:ncpus=2,mem=2gb/hosta[0]:ncpus=1,mem=1gb")
	qmgr := func(text string) {
		t.Helper()
		cmd := c.Command(t.Context(), "qmgr")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("qmgr: %v\n%s", err, out)
		}
	}
	printed := func(what string) string {
		t.Helper()
		out, err := c.Output(t.Context(), "qmgr", "-c", "print "+what)
		if err != nil {
			t.Fatal(err)
		}
		return out + "\n"
	}
	everything := func() string { return printed("server") + printed("node @default") + printed("sched") }
	qmgr(`create resource foo,bar type=long,flag=nh
create resource lic type=float,flag=q; create resource colour type=string_array,flag=h
create queue fast queue_type=execution,Priority=10,max_run="[u:PBS_GENERIC=2],[u:ann=5],[o:PBS_ALL=9]"
set queue fast max_run_res.ncpus = "[g:staff=4]", resources_max.walltime=1:30, resources_default.mem=1gb
set queue fast acl_users = "-bob,ann@*.site.org", acl_user_enable=t, enabled=t, comment="it's a 'fast' one, # of them"
create queue in queue_type=route; set queue in route_destinations = "fast,workq@srv", started=true, enabled=true
set server managers = "ann@*,root@*", operators += olga@hosta
set server resources_available.lic = 2.5, default_chunk.mem = 64mb, job_history_enable=true, job_history_duration=100:00:00
set server max_queued = "[p:PBS_GENERIC=100]", comment = 'a "quoted" word', query_other_jobs = false
set server default_qsub_arguments = "-m n -r y", acl_roots = root
set node hosta,hosta[0] resources_available.foo = 3, resources_available.colour = "red,dark green"
set node hosta[0] comment = "it's new, rack 7; # 3", priority = 9, queue = fast, state = offline
set sched scheduler_iteration = 300, comment = "two, or three", log_events = 1023
`)
	before := everything()
	first, again := printed("server")+printed("node @default"), printed("sched")
	again = again[strings.Index(again, "set sched scheduling"):] // what is before it belongs to the host that leads
	qmgr("delete node @default\ndelete queue @default\n" +
		"unset server managers,operators,resources_available,default_chunk,job_history_enable,job_history_duration,max_queued,comment,query_other_jobs,default_qsub_arguments\n" +
		"delete resource foo,bar,lic,colour\nunset sched scheduler_iteration,comment,log_events\n")
	if got := everything(); strings.Contains(got, "rack 7") || strings.Contains(got, "or three") || got == before {
		t.Fatalf("this is still there:\n%s", got)
	}
	qmgr(first + withoutState.ReplaceAllString(again, ""))
	waitFor(t, patience, "the mom to report its vnodes, and the same", func() error {
		if after := everything(); after != before {
			return fmt.Errorf("it was printed\n%s\n\nand when that had been read\n%s", before, after)
		}
		return nil
	})
}
