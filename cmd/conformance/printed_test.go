package conformance

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"rampart/cmd/devrun"
)

// configured are settings of every kind of object. A shares an amount with a vnode that was made
// after it; the names of resources, queues and hooks need care, the comments quotes.
const configured = `create resource foo,bar type=long,flag=nh
create resource lic type=float,flag=q; create resource colour type=string_array,flag=h
create queue fast queue_type=execution,Priority=10,max_run="[u:PBS_GENERIC=2],[u:ann=5],[o:PBS_ALL=9]"
set queue fast max_run_res.ncpus = "[g:staff=4]", resources_max.walltime=1:30, resources_default.mem=1gb
set queue fast acl_users = "-bob,ann@*.site.org", acl_user_enable=t, enabled=t, comment="it's a 'fast' one, # of them"
create queue 1q queue_type=route; set queue 1q route_destinations = "fast,workq@srv", started=true, enabled=true
set server managers = "ann@*,root@*", operators += olga@hosta
set server resources_available.lic = 2.5, default_chunk.mem = 64mb, job_history_enable=true, job_history_duration=100:00:00
set server max_queued = "[p:PBS_GENERIC=100]", comment = 'a "quoted" word', query_other_jobs = false
set server default_qsub_arguments = "-m n -r y", acl_roots = root, default_queue = 1q, job_sort_formula = "2 * ncpus + 1"
set server acl_user_enable = true, acl_users = "root,ann"
set node hosta[0],hosta[1] resources_available.foo = 3, resources_available.colour = "red,dark green"
set node hosta resources_available.foo = @hosta[1]
set node hosta[0] comment = "it's new, rack 7; # 3", priority = 9, queue = fast, state = offline
set sched scheduler_iteration = 300, comment = "two, or three", log_events = 1023, preempt_order = "SC 50 R", job_sort_key = "ncpus HIGH, mem LOW"
create hook h1 event="execjob_begin,exechost_periodic",user=pbsadmin,freq=60,order=7,fail_action=offline_vnodes,enabled=f
create hook h2
set pbshook pbs_cgroups enabled = false, order = 5, alarm = 40
import hook h1 application/x-python base64 -
aW1wb3J0IHBicwo=

import hook h1 application/x-config base64 -
eyJhIjogMX0K

`

// cleared is what takes all of it away.
const cleared = `delete hook @default
unset pbshook pbs_cgroups enabled,order,alarm
delete node @default
delete queue @default
unset server managers,operators,resources_available,default_chunk,job_history_enable,job_history_duration,max_queued,comment
unset server query_other_jobs,default_qsub_arguments,job_sort_formula,acl_user_enable,acl_users
delete resource foo,bar,lic,colour
unset sched scheduler_iteration,comment,log_events,preempt_order,job_sort_key
`

// What qmgr prints of resources, queues, server, nodes, scheduler and hooks makes the same
// again, on the same cluster when all is gone and on another one, as scripts that save and
// restore a configuration rely on (specification: drop-in section 2).
func TestDropIn_PrintedMakesTheSame(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("hooks are root's")
	}
	moms := []string{"--replicas", "1", "--mom", "hosta:ncpus=2,mem=2gb/hosta[0]:ncpus=1,mem=1gb/hosta[1]:ncpus=1,mem=1gb"}
	c := newCluster(t, moms...)
	reads(t, c, configured)
	before := everything(t, c)
	for _, words := range []string{"rack 7", "or three", "create hook h2", "import hook h1 application/x-config", "= @hosta[1]", "create queue 1q", "default_queue = 1q", "foo"} {
		if !strings.Contains(before, words) {
			t.Errorf("nothing printed says %s:\n%s", words, before)
		}
	}
	reads(t, c, cleared)
	if got := everything(t, c); strings.Contains(got, "rack 7") || strings.Contains(got, "or three") || strings.Contains(got, "hook h") || strings.Contains(got, "alarm = 40") || strings.Contains(got, "fast") || strings.Contains(got, "foo") {
		t.Fatalf("this is still there:\n%s", got)
	}
	same := func(c *devrun.Cluster) {
		t.Helper()
		reads(t, c, before)
		waitFor(t, patience, "the mom to report its vnodes, and the same", func() error {
			if after := everything(t, c); after != before {
				return fmt.Errorf("it was printed\n%s\n\nand when that had been read\n%s", before, after)
			}
			return nil
		})
	}
	same(c)
	other := newCluster(t, moms...)
	reads(t, other, "delete node @default\ndelete queue @default\n")
	same(other)
}

// everything is what qmgr prints of all objects.
func everything(t *testing.T, c *devrun.Cluster) string {
	t.Helper()
	var all strings.Builder
	for _, what := range []string{"server", "node @default", "sched", "hook @default", "pbshook pbs_cgroups"} {
		out, err := c.Output(t.Context(), "qmgr", "-c", "print "+what)
		if err != nil {
			t.Fatalf("print %s: %v", what, err)
		}
		all.WriteString(out + "\n")
	}
	return all.String()
}

// reads has qmgr carry out directives, with nothing to say about them.
func reads(t *testing.T, c *devrun.Cluster, text string) {
	t.Helper()
	cmd := c.Command(t.Context(), "qmgr")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("qmgr: %v\n%s\nof\n%s", err, out, text)
	}
}
