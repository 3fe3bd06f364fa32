package conformance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// usingHooks is a cluster for tests of hooks.
type usingHooks struct {
	kept
	t *testing.T
}

func newUsingHooks(t *testing.T, hosts ...string) usingHooks {
	t.Helper()
	if _, err := exec.LookPath("python3"); os.Geteuid() != 0 || err != nil {
		t.Skip("hooks are Python, and root's")
	}
	var moms []string
	for _, h := range hosts {
		moms = append(moms, "--mom", h)
	}
	h := usingHooks{kept{newCluster(t, moms...)}, t}
	h.must(t, "qmgr", "-c", "set server job_history_enable = True")
	return h
}

// hook makes a hook and waits until the hosts have it.
func (h usingHooks) hook(name, attributes, script string, hosts ...string) {
	h.t.Helper()
	file := filepath.Join(h.t.TempDir(), name)
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		h.t.Fatal(err)
	}
	h.must(h.t, "qmgr", "-c", "create hook "+name+" "+attributes)
	h.must(h.t, "qmgr", "-c", "import hook "+name+" application/x-python default "+file)
	for _, host := range hosts {
		h.says(host, name+".PY;copy hook-related file request received")
	}
}

// says waits until the log of a mom has a text.
func (h usingHooks) says(host, text string) {
	h.t.Helper()
	h.saysTimes(host, text, 1)
}

// saysTimes waits until it has it so many times.
func (h usingHooks) saysTimes(host, text string, times int) {
	h.t.Helper()
	waitFor(h.t, 2*patience, "a line at "+host, func() error {
		if n := strings.Count(h.log(host), text); n < times {
			return fmt.Errorf("%d times %q, want %d", n, text, times)
		}
		return nil
	})
}

// shows waits until a command prints all of the texts, and none of those that begin with "!".
func (h usingHooks) shows(command []string, texts ...string) {
	h.t.Helper()
	waitFor(h.t, 4*patience, strings.Join(texts, ", "), func() error {
		out, err := h.Output(h.t.Context(), command[0], command[1:]...)
		if err != nil {
			return err
		}
		for _, text := range texts {
			word, absent := strings.CutPrefix(text, "!")
			if strings.Contains(out, word) == absent {
				return errors.New(out)
			}
		}
		return nil
	})
}

func full(job string) []string { return []string{"qstat", "-xfw", job} }

// TestHooks_Periodic plays HK-10, and HK-1: a periodic hook sees all that it can reach, changes the vnode of
// its host, and makes one that belongs to the first host that wanted it.
func TestHooks_Periodic(t *testing.T) {
	t.Parallel()
	hosts := []string{"hosta", "hostb"}
	h := newUsingHooks(t, "hosta:ncpus=8,mem=8gb", "hostb:ncpus=8,mem=8gb")
	h.hook("bad", "event=execjob_begin,fail_action=offline_vnodes", `
import pbs
if str(pbs.event().job.Job_Name) == "hk10":
    raise RuntimeError("bang")
`, hosts...)
	broken := h.must(t, "qsub", "-N", "hk10", "-o", "/dev/null", "-j", "oe", "-l", "select=1:ncpus=1:host=hosta", "--", "/bin/true")
	h.shows([]string{"pbsnodes", "-v", "hosta"}, "state = offline", "comment = offlined by hook 'bad' due to hook error\n")
	h.must(t, "qdel", broken)
	h.must(t, "qmgr", "-c", "delete hook bad")
	h.must(t, "qmgr", "-c", "set node hosta state=free")
	job := h.must(t, "qsub", "-N", "hk1", "-o", "/dev/null", "-j", "oe", "-l", "select=2:ncpus=1", "-l", "place=scatter", "--", "/bin/sleep", "1000")
	h.shows(full(job), "substate = 42")
	h.hook("period", "event=exechost_periodic,freq=5,alarm=5", `
import pbs
e, s, me = pbs.event(), pbs.server(), pbs.get_local_nodename()
def say(text):
    pbs.logmsg(pbs.LOG_DEBUG, text)
if e.type == pbs.EXECHOST_PERIODIC and e.type & pbs.HOOK_EVENT_EXECHOST_PERIODIC:
    say("event is EXECHOST_PERIODIC")
for name in ("hook_name", "hook_type", "requestor", "requestor_host", "alarm", "freq", "order"):
    say("%s is %s" % (name, getattr(e, name)))
say("server is %s, state %s" % (s.name, s.server_state))
for q in s.queues():
    say("queue %s of type %s, started %s" % (q.name, q.queue_type, q.started))
for j in s.jobs():
    say("job %s of queue %s, state %d, %d attributes" % (j.id, j.queue, j.job_state, len([getattr(j, n) for n in j.attributes])))
for r in s.resvs():
    say("resv %s" % r.resvid)
for v in s.vnodes():
    say("vnode %s, %d attributes" % (v.name, len([getattr(v, n) for n in v.attributes])))
for i, j in e.job_list.items():
    say("local job %s is %s" % (i, j.id))
v = e.vnode_list[me]
for name in v.resources_available.keys():
    value = v.resources_available[name]
    say("local %s is %s, a %s" % (name, value, type(value).__name__))
v.pcpus, v.ntype, v.state, v.sharing = 7, pbs.ND_PBS, pbs.ND_OFFLINE, pbs.ND_FORCE_EXCL
v.resources_available["ncpus"] = 17
v.resources_available["file"] = pbs.size("17tb")
v.resources_available["mem"] = pbs.size("700gb")
v.comment = "Comment update done  by %s hook @ %s" % (e.hook_name, me)
a = e.vnode_list["aspasia"] = pbs.vnode("aspasia")
a.resources_available["file"] = pbs.size("500tb")
a.resources_available["mem"] = pbs.size("300gb")
`, hosts...)
	for _, host := range hosts {
		for _, text := range []string{
			"event is EXECHOST_PERIODIC", "hook_name is period", "hook_type is site", "requestor is pbs_mom", "requestor_host is " + host,
			"alarm is 5", "freq is 5", "order is 1", "server is ", "queue workq of type Execution, started True", "job " + job + " of queue workq, state 4",
			"vnode hosta, ", "vnode hostb, ", "local job " + job + " is " + job, "local ncpus is 8, a int", "local mem is 8gb, a size",
		} {
			h.says(host, "Hook;pbs_python;"+text)
		}
		h.shows([]string{"pbsnodes", "-v", host}, "offline", "resources_available.ncpus = 17\n", "resources_available.file = 17tb\n",
			"resources_available.mem = 700gb\n", "comment = Comment update done  by period hook @ "+host+"\n", "sharing = force_excl\n", "pcpus = 7\n", "ntype = PBS\n")
	}
	h.shows([]string{"pbsnodes", "-v", "aspasia"}, "resources_available.file = 500tb\n", "resources_available.mem = 300gb\n")
	waitFor(t, 2*patience, "the refusal of the second host's vnode", func() error {
		files, _ := filepath.Glob(filepath.Join(h.Home("s1"), "server_logs", "*"))
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err == nil && strings.Contains(string(text), "Not allowed to update vnode 'aspasia', as it is owned by a different mom") {
				return nil
			}
		}
		return errors.New("it is not told")
	})
	h.must(t, "qdel", job)
}

// TestCgroups_ReliableStartup plays RC-1 and RC-2: a padded job gives a vnode of a host back whose
// jobs have cgroups, or not, when a hook on its mother superior does not want that.
func TestCgroups_ReliableStartup(t *testing.T) {
	t.Parallel()
	h := newUsingHooks(t, "hosta:ncpus=2,mem=1gb", "hostb:ncpus=2,mem=1gb", "hostc:ncpus=2,mem=1gb")
	h.must(t, "qmgr", "-c", "set pbshook pbs_cgroups enabled = True")
	hosts := []string{"hosta", "hostb", "hostc"}
	for _, host := range hosts {
		h.says(host, "pbs_cgroups.HK;copy hook-related file")
	}
	wait := filepath.Join(t.TempDir(), "go")
	h.hook("padding", "event=queuejob", `
import pbs
j = pbs.event().job
if str(j.Job_Name).startswith("rc"):
    j.Resource_List["site"] = str(j.Resource_List["select"])
    j.Resource_List["select"] = j.Resource_List["select"].increment_chunks(1)
    j.tolerate_node_failures = "job_start"
`)
	h.hook("launch", "event=execjob_launch", `
import os, pbs, time
j = pbs.event().job
if str(j.Job_Name).startswith("rc") and j.in_ms_mom():
    for i in range(200):
        if os.path.exists("`+wait+`"):
            break
        time.sleep(0.1)
    j.release_nodes(keep_select=j.Resource_List["site"])
`, hosts...)
	h.hook("resize", "event=execjob_resize", `
import pbs
j = pbs.event().job
if str(j.Job_Name) == "rc2" and j.in_ms_mom():
    pbs.event().reject("Cannot resize the job")
`, hosts...)
	submit := func(name string) string {
		return h.must(t, "qsub", "-N", name, "-o", "/dev/null", "-j", "oe", "-l", "select=1:host=hosta:ncpus=1+1:ncpus=1", "-l", "place=vscatter", "--", "/bin/sleep", "1000")
	}
	assigned := func(job string) []string {
		_, rest, _ := strings.Cut(h.must(t, "qstat", "-fw", job), "exec_vnode = ")
		text, _, _ := strings.Cut(rest, "\n")
		return strings.Split(text, "+")
	}
	job := submit("rc1")
	h.shows(full(job), "substate = 41", "exec_vnode = ")
	before := assigned(job)
	if len(before) != 3 {
		t.Fatalf("padded: %q", before)
	}
	h.has(t, job, hosts...)
	if err := os.WriteFile(wait, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	h.shows(full(job), "substate = 42")
	if after := assigned(job); len(after) != 2 {
		t.Errorf("cut down: %q", after)
	}
	gone, _, _ := strings.Cut(strings.Trim(before[2], "()"), ":")
	other := h.must(t, "qsub", "-N", "other", "-o", "/dev/null", "-j", "oe", "-l", "select=1:ncpus=1:mem=100mb:vnode="+gone, "--", "/bin/sleep", "1000")
	h.shows(full(other), "substate = 42")
	h.must(t, "qdel", job, other)

	job = submit("rc2")
	h.says("hosta", "Job;"+job+";Cannot resize the job")
	waitFor(t, 2*patience, "the requeue", func() error {
		files, _ := filepath.Glob(filepath.Join(h.Home("s1"), "server_logs", "*"))
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err == nil && strings.Contains(string(text), "Job;"+job+";Job requeued") {
				return nil
			}
		}
		return errors.New("it is not told")
	})
	h.must(t, "qdel", job)
}
