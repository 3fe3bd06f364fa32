package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A startup is the complex P5 of the specification (reliable-startup section 15), with the
// five equal hosts of RS-21 beside it, and the hooks of its cases.
type startup struct{ *rampdown }

const (
	evD  = "(hostd:ncpus=3:mem=2097152kb)"
	evE  = "(hoste:mem=1048576kb:ncpus=1+hoste[0]:mem=1048576kb:ncpus=1)"
	r1   = "select=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb"
	sn   = "1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb"
	sp   = "1:ncpus=3:mem=2gb+2:ncpus=3:mem=2gb+2:ncpus=2:mem=2gb"
	evP5 = evA + "+" + evB + "+" + evD + "+" + evC + "+" + evE
	ehP5 = "hosta/0*0+hostb/0*0+hostd/0*3+hostc/0*2+hoste/0*0"
)

// What a job of P5 has before and after it is cut down.
var (
	padding = assignment{ehP5, evP5, sp, "10gb", "13", "5"}
	startsA = func(eh, ev string) assignment {
		return assignment{"hosta/0*0+" + eh, evA + "+" + ev, sn, "6gb", "8", "3"}
	}
	ade = startsA("hostd/0*3+hoste/0*0", evD+"+"+evE)
)

// The hooks of the cases. A job says in its account what they do with it, so that the hooks
// need not change between cases: "begin-HOST" and "prologue-HOST" reject there, "breaks-HOST"
// and "raises-HOST" raise an exception there, "late-HOST" (when the job begins), "waits" (at the
// prologues of sisters) and "holds" (at launch) wait for the word to go on.
var startupHooks = map[string]string{
	"queuejob": `
import pbs
j = pbs.event().job
pbs.logmsg(pbs.LOG_DEBUG, "queuejob hook executed")
sel = j.Resource_List["select"]
how = (j.Account_Name or "").split(",")
if "requested" in how: # RS-16
    j.Resource_List["select_reliable_startup"] = sel.increment_chunks(1)
else:
    j.Resource_List["site"] = str(sel)
    j.Resource_List["select"] = sel.increment_chunks(1)
    j.tolerate_node_failures = "job_start"
`,
	"execjob_begin": `
import os, pbs, time
e = pbs.event()
how, me = (e.job.Account_Name or "").split(","), pbs.get_local_nodename()
pbs.logjobmsg(e.job.id, "Executing begin")
for i in range(200):
    if "late-" + me not in how or os.path.exists("DIR/go"):
        break
    time.sleep(0.1)
if "begin-" + me in how:
    e.reject("bad node")
if "breaks-" + me in how:
    raise RuntimeError("bad node")
`,
	"execjob_prologue": `
import os, pbs, time
e = pbs.event()
how, me = (e.job.Account_Name or "").split(","), pbs.get_local_nodename()
pbs.logjobmsg(e.job.id, "Executing prolo")
for v in e.vnode_list:
    pbs.logjobmsg(e.job.id, "prolo: found vnode_list[%s]" % v)
for v in e.vnode_list_fail:
    pbs.logjobmsg(e.job.id, "prolo: found vnode_list_fail[%s]" % v)
if e.job.in_ms_mom():
    if "names" in how:
        e.job.release_nodes(e.vnode_list_fail)
else:
    if "prologue-" + me in how:
        e.reject("bad node")
    if "raises-" + me in how:
        raise RuntimeError("bad node")
    if "sleeps" in how:
        pbs.logjobmsg(e.job.id, "sleeping for 30 secs")
        time.sleep(30)
    for i in range(200):
        if "waits" not in how or os.path.exists("DIR/go"):
            break
        time.sleep(0.1)
`,
	"execjob_launch": `
import os, pbs, time
e = pbs.event()
if "PBS_NODEFILE" not in e.env:
    e.accept()
how = (e.job.Account_Name or "").split(",")
pbs.logjobmsg(e.job.id, "Executing launch")
for v in e.vnode_list:
    pbs.logjobmsg(e.job.id, "launch: found vnode_list[%s]" % v)
for v in e.vnode_list_fail:
    pbs.logjobmsg(e.job.id, "launch: found vnode_list_fail[%s]" % v)
    if "offline" in how:
        pbs.logjobmsg(e.job.id, "launch:offline vnode_list_fail[%s]" % v)
        e.vnode_list_fail[v].state = pbs.ND_OFFLINE
if "names" in how:
    e.accept()
keep = e.job.select_requested
if keep is None:
    keep = e.job.Resource_List["site"]
if "fourth" in how:
    keep = str(keep) + "+ncpus=1:mem=1gb"
if "large" in how:
    keep = "ncpus=3:mem=2gb+ncpus=5:mem=3gb"
pj = e.job.release_nodes(keep_select=keep)
if pj is None and "large" in how:
    e.job.delete()
    e.reject("unsuccessful at LAUNCH")
if pj is None:
    e.job.Hold_Types = pbs.hold_types("s")
    e.job.rerun()
    e.reject("unsuccessful at LAUNCH")
for i in range(200):
    if "holds" not in how or os.path.exists("DIR/go"):
        break
    time.sleep(0.1)
pbs.logjobmsg(e.job.id, "launch: job.exec_vnode=%s" % pj.exec_vnode)
pbs.logjobmsg(e.job.id, "launch: job.exec_host=%s" % pj.exec_host)
pbs.logjobmsg(e.job.id, "launch: job.schedselect=%s" % pj.schedselect)
`,
}

// newStartup starts the hosts and waits until they have the hooks of these events.
func newStartup(t *testing.T, replicas int, config string, events ...string) *startup {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("hooks are root's")
	}
	moms := []string{
		"hosta" + fourVnodes("hosta"), "hostb:ncpus=1,mem=1gb" + fourVnodes("hostb"), "hostd:ncpus=5,mem=5gb",
		"hostc:ncpus=2,mem=2gb", "hoste:ncpus=1,mem=1gb" + fourVnodes("hoste"),
	}
	for i := range 5 {
		moms = append(moms, fmt.Sprintf("h%d:ncpus=4,mem=4gb", i+1))
	}
	w := &startup{newRampdownOf(t, replicas, moms...)}
	w.on("hosta", "hostb", "hostc", "hostd", "hoste")
	if err := os.Mkdir(w.said(""), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(w.said(""), 0o777); err != nil {
		t.Fatal(err)
	}
	w.configure("hosta", config)
	w.configure("h1", config)
	for _, event := range events {
		w.hooked(event)
	}
	return w
}

// goOn is the word for which hooks wait; off takes it back.
func (w *startup) goOn() (off func()) {
	w.t.Helper()
	if err := os.WriteFile(w.said("go"), nil, 0o644); err != nil {
		w.t.Fatal(err)
	}
	return func() { _ = os.Remove(w.said("go")) } // it may be gone
}

// said is the file in which a job says where its programs have run.
func (w *startup) said(id string) string { return filepath.Join(w.Dir, "said", id) }

// configure gives a mother superior its waits.
func (w *startup) configure(host, text string) {
	w.t.Helper()
	file := filepath.Join(w.Home(host), "mom_priv", "config")
	kept, _ := os.ReadFile(file) // there may be none
	before, _, _ := strings.Cut(string(kept), "\n# waits\n")
	if err := errors.Join(os.WriteFile(file, []byte(before+"\n# waits\n"+text), 0o600), w.Signal(host, syscall.SIGHUP)); err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "$")), " ")
		if name == "sister_join_job_alarm" || name == "job_launch_delay" {
			w.logged(host, ";0002;pbs_mom;Svr;"+name+";"+value+"$")
		}
	}
}

// hooked makes a hook and waits until those hosts have it that run it.
func (w *startup) hooked(event string) {
	w.t.Helper()
	text, hosts := strings.ReplaceAll(startupHooks[event], "DIR", w.said("")), []string{}
	if event != "queuejob" {
		for h := range w.hosts {
			hosts = append(hosts, h)
		}
	}
	w.hookOf(event, text, hosts...)
}

// sets changes an attribute of a hook on all hosts.
func (w *startup) sets(event, attribute string) {
	w.t.Helper()
	had := map[string]int{}
	for h := range w.hosts {
		had[h] = w.logs(h, "mom_logs", event+`\.HK;copy hook-related`)
	}
	w.must("qmgr", "-c", "set hook "+event+" "+attribute)
	for h := range w.hosts {
		waitFor(w.t, patience, "the hook "+event+" of "+h, func() error {
			if event != "queuejob" && w.logs(h, "mom_logs", event+`\.HK;copy hook-related`) == had[h] {
				return errors.New("no word has come")
			}
			return nil
		})
	}
}

// submit queues R1 for an ordinary user, or another request; how is what the hooks do with it.
// The job says on which hosts its programs have run, and goes on until it is deleted.
func (w *startup) submit(sel, how string, more ...string) string {
	w.t.Helper()
	file := filepath.Join(w.Dir, "r1")
	text := strings.ReplaceAll(`#!/bin/bash
exec >DIR/said/$PBS_JOBID 2>&1
(exec -a steady@DIR@$PBS_JOBID sleep 1000) &
PATH=DIR/bin:$PATH
where='s=${PBS_TASK_SOCKET##*/homes/}; echo ${s%%/*}'
echo file $PBS_NODEFILE
n=0
for h in $(cat $PBS_NODEFILE); do
	echo node $h
	echo sum $(pbsdsh -n $n -- /bin/sh -c 'echo $((6 * 7))')
	echo dsh $(pbsdsh -n $n -- /bin/sh -c "$where")
	echo rsh $(pbs_tmrsh $h "$where")
	echo att $(pbs_tmrsh $h "DIR/bin/pbs_attach -j $PBS_JOBID /bin/sh -c '$where'")
	n=$((n + 1))
done
echo sum $((6 * 7))
echo said
wait
`, "DIR", w.Dir)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	if how == "" {
		how = "nothing"
	}
	args := []string{"qsub", "-N", "R1", "-S", "/bin/bash", "-W", "umask=022", "-l", sel, "-A", how, "-o", "/dev/null", "-j", "oe"}
	if !strings.Contains(strings.Join(more, " "), "place=") {
		more = append(more, "-l", "place=scatter")
	}
	return w.by(owner, append(append(args, more...), file)...)
}

// logged waits for a line of a mom's log.
func (w *startup) logged(host, pattern string) {
	w.t.Helper()
	waitFor(w.t, patience, host+" to log "+pattern, func() error {
		if w.logs(host, "mom_logs", pattern) == 0 {
			return errors.New("it has not")
		}
		return nil
	})
}

// tells wants lines about a job in a mom's log, written as they are.
func (w *startup) tells(host, id string, lines ...string) {
	w.t.Helper()
	for _, line := range lines {
		if w.logs(host, "mom_logs", ";Job;"+quoted(id)+";"+pattern(line)) == 0 {
			w.t.Errorf("the log of %s does not say of %s: %s", host, id, line)
		}
	}
}

// pattern is a line as a regular expression; a space and three points stand for anything.
func pattern(line string) string {
	line = strings.NewReplacer("(", `\(`, ")", `\)`, "[", `\[`, "]", `\]`, "+", `\+`).Replace(line)
	return strings.ReplaceAll(line, " ...", ".+")
}

// failed wants the words about sisters that have failed at a step, of a job that tolerates it.
func (w *startup) failed(id, step string, hosts ...string) {
	w.t.Helper()
	for _, h := range hosts {
		w.tells("hosta", id, "job_start_error ... from node "+h+" could not "+step+" successfully",
			"ignoring error from "+h+" as job is tolerant of node failures")
	}
}

// saw wants the vnodes that a hook has found bad, and no others.
func (w *startup) saw(id, hook, bad string) {
	w.t.Helper()
	for name, vnodes := range map[string]string{"vnode_list_fail": bad, "vnode_list": strings.Join(vnodesIn(evP5), " ")} {
		if got := w.logs("hosta", "mom_logs", ";Job;"+quoted(id)+";"+hook+": found "+name+`\[`); got != len(strings.Fields(vnodes)) {
			w.t.Errorf("%s has found %d vnodes in %s, want %s", hook, got, name, vnodes)
		}
		for v := range strings.FieldsSeq(vnodes) {
			w.tells("hosta", id, hook+": found "+name+"["+v+"]$")
		}
	}
}

// vnodesIn returns the names of the vnodes of an assignment.
func vnodesIn(ev string) (names []string) {
	for part := range strings.SplitSeq(strings.NewReplacer("(", "", ")", "").Replace(ev), "+") {
		name, _, _ := strings.Cut(part, ":")
		names = append(names, name)
	}
	return names
}

// cpus of the vnodes that have more than one.
var cpus = map[string]int{"hostc": 2, "hostd": 5}

// busy are the vnodes of P5 while a job has some of them, but for those that are named.
func (w *startup) busy(id, ev string, exclusive bool, but ...string) map[string]string {
	want := map[string]string{}
	for _, h := range []string{"hosta", "hostb", "hostc", "hostd", "hoste"} {
		for _, v := range w.hosts[h] {
			want[v] = "free"
		}
	}
	for part := range strings.SplitSeq(strings.NewReplacer("(", "", ")", "").Replace(ev), "+") {
		if part == "" {
			continue
		}
		name, n, mem := "", 0, "0kb"
		for i, field := range strings.Split(part, ":") {
			key, value, _ := strings.Cut(field, "=")
			switch {
			case i == 0:
				name = field
			case key == "ncpus":
				n, _ = strconv.Atoi(value)
			case key == "mem":
				mem = value
			}
		}
		state, jobs := "job-busy", []string{}
		if n < cpus[name] {
			state = "free"
		}
		if exclusive {
			state = "job-exclusive"
		}
		for slot := range n {
			jobs = append(jobs, fmt.Sprintf("%s/%d", id, slot))
		}
		want[name] = fmt.Sprintf("%s %s %d %s", state, strings.Join(jobs, ","), n, mem)
	}
	for _, v := range but {
		delete(want, v)
	}
	return want
}

// ran wants the programs of a job to have run on these hosts.
func (w *startup) ran(id string, hosts ...string) {
	w.t.Helper()
	want := "file " + filepath.Join(w.Home(hosts[0]), "aux", id) + "\n"
	for _, h := range hosts {
		want += fmt.Sprintf("node %s\nsum 42\ndsh %s\nrsh %s\natt %s\n", h, h, h, h)
	}
	want += "sum 42\nsaid\n"
	waitFor(w.t, patience, "the programs of "+id, func() error {
		text, err := os.ReadFile(w.said(id))
		if err == nil && string(text) != want {
			err = fmt.Errorf("%s, want %s", text, want)
		}
		return err
	})
	w.nodefile(hosts[0], id, strings.Join(hosts, " "))
}

// starts is "starts as X" of the specification.
func (w *startup) starts(id string, x assignment, hosts string, but ...string) {
	w.t.Helper()
	w.await(id, "the job runs", "job_state = R", "substate = 42")
	w.has(id, x)
	w.vnodes(w.busy(id, x.ev, strings.Contains(w.look(id), "scatter:excl"), but...))
	mem, inGB := strings.CutSuffix(x.mem, "gb")
	if n, _ := strconv.Atoi(mem); inGB {
		mem = fmt.Sprintf("%dkb", n<<20)
	}
	w.charged(x.ncpus, mem)
	w.tells("hosta", id, "pruned from exec_vnode="+evP5+"$", "pruned to exec_vnode="+x.ev+"$")
	w.ran(id, strings.Fields(hosts)...)
}

// chose wants what the launch hook has been told.
func (w *startup) chose(id string, x assignment) {
	w.t.Helper()
	w.tells("hosta", id, "launch: job.exec_vnode="+x.ev+"$", "launch: job.schedselect="+x.sel+"$")
}

// done deletes a job that was cut down once, and looks at its records.
func (w *startup) done(id string, from, x assignment) {
	w.t.Helper()
	w.finished(id, "QSucsDeE", from, x)
}

func (w *startup) finished(id, letters string, from, x assignment) []string {
	w.t.Helper()
	lines := w.ends(id, letters)
	w.records(lines, from, x)
	of := from
	for _, l := range lines {
		switch types([]string{l}) {
		case "S", "s":
			of.in(w.t, l)
		case "u":
			of = x
		}
	}
	return lines
}
