package conformance

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// quick are waits that are over when every sister has answered or failed.
const quick = "$sister_join_job_alarm 20\n$job_launch_delay 20\n$job_launch_early true\n$max_poll_downtime 10\n"

// sub plays a part of a test at the same cluster.
func (w *startup) sub(name string, play func(w *startup)) {
	w.t.Helper()
	w.rampdown.sub(name, func(r *rampdown) { play(&startup{r}) })
}

// long plays what the short run of the tests leaves out.
func (w *startup) long(name string, play func(w *startup)) {
	w.t.Helper()
	if !testing.Short() {
		w.sub(name, play)
	}
}

// denied expects an exit status and the beginning of what is said to a user.
func (w *startup) denied(user string, status int, text string, command ...string) {
	w.t.Helper()
	argv := asUser(user, command...)
	cmd := w.Command(w.t.Context(), argv[0], argv[1:]...)
	var said strings.Builder
	cmd.Stderr = &said
	err := cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != status || !strings.HasPrefix(said.String(), text) {
		w.t.Errorf("%q: %v, %q, want %d and %q", command, err, said.String(), status, text)
	}
}

// TestReliable_Cases plays cases of the specification by the gateway of a replica that does not
// lead; one leader dies within a start.
func TestReliable_Cases(t *testing.T) {
	t.Parallel()
	w := newStartup(t, 3, quick, "queuejob", "execjob_begin", "execjob_launch")
	var gateways []string
	for _, name := range followers(leads(t, w.Cluster)) {
		gateways = append(gateways, filepath.Join(w.Home(name), "run", name+".sock"))
	}
	w.Env = append(w.Env, "PBS_GATEWAY="+strings.Join(gateways, ","))
	w.sub("RS-3", func(w *startup) { // there is no prologue hook
		x := startsA("hostd/0*3+hostc/0*2", evD+"+"+evC)
		id := w.submit(r1, "begin-hostb")
		w.starts(id, x, "hosta hostd hostc")
		w.chose(id, x)
		w.failed(id, "JOIN_JOB", "hostb")
		w.saw(id, "launch", "hostb hostb[0] hostb[1]")
		w.done(id, padding, x)
	})
	w.hooked("execjob_prologue")
	w.sub("RS-1", (*startup).offlining)
	for _, c := range []struct {
		name, how  string
		x          assignment
		hosts, bad string // what the program runs on, vnodes that the launch hook finds bad
	}{
		{"RS-6", "", startsA("hostb/0*0+hostc/0*2", evB+"+"+evC), "hosta hostb hostc", ""},
		{"RS-4", "raises-hostc", startsA("hostb/0*0+hoste/0*0", evB+"+"+evE), "hosta hostb hoste", "hostc"},
		{"RS-10", "fourth", assignment{
			"hosta/0*0+hostb/0*0+hostc/0*2+hoste/0", evA + "+" + evB + "+" + evC + "+(hoste:mem=1048576kb:ncpus=1)",
			sn + "+1:ncpus=1:mem=1gb", "7gb", "9", "4",
		}, "hosta hostb hostc hoste", ""},
	} {
		if testing.Short() && c.name != "RS-10" {
			continue
		}
		w.sub(c.name, func(w *startup) {
			id := w.submit(r1, c.how)
			w.starts(id, c.x, c.hosts)
			w.chose(id, c.x)
			w.saw(id, "prolo", "")
			w.saw(id, "launch", c.bad)
			if host, ok := strings.CutPrefix(c.how, "raises-"); ok {
				w.failed(id, "IM_EXEC_PROLOGUE", host)
			}
			w.shows(id, "tolerate_node_failures = job_start")
			w.done(id, padding, c.x)
		})
	}
	w.long("RS-12", func(w *startup) { // its vnodes are the job's alone: see busy
		id := w.submit(r1, "breaks-hostb,prologue-hostc", "-l", "place=scatter:excl")
		w.starts(id, ade, "hosta hostd hoste")
		w.failed(id, "JOIN_JOB", "hostb")
		w.failed(id, "IM_EXEC_PROLOGUE", "hostc")
		w.done(id, padding, ade)
	})
	w.long("RS-8", (*startup).threads)
	w.sub("RS-11", (*startup).tooLarge)
	w.sub("RS-17", (*startup).requested)
	w.sub("RS-19", (*startup).byNames)
	w.sub("RS-13", (*startup).leaderDies)
	w.sub("RS-21", (*startup).equalHosts)
	w.sub("without Python", (*startup).byServer)
	w.long("RS-7", (*startup).sisterLost)
	w.long("RS-5", (*startup).failedStarts)
}

// offlining: hooks take out of service what fails. The job is looked at while it is queued, too.
func (w *startup) offlining() {
	w.must("qmgr", "-c", "set server scheduling = False")
	id := w.submit(r1, "begin-hostb,prologue-hostc,offline")
	w.shows(id, "job_state = Q", "Resource_List.select = "+sp, "Resource_List.site = "+r1[len("select="):], "Resource_List.mem = 10gb",
		"Resource_List.ncpus = 13", "Resource_List.nodect = 5", "schedselect = "+sp, "tolerate_node_failures = job_start")
	w.must("qmgr", "-c", "set server scheduling = True")
	off := []string{"hostb", "hostb[0]", "hostb[1]", "hostc"}
	w.starts(id, ade, "hosta hostd hoste", off...)
	w.chose(id, ade)
	want := map[string]string{}
	for _, v := range off {
		want[v] = "offline"
		w.tells("hosta", id, "launch:offline vnode_list_fail["+v+"]$")
		line := ";0100;Server@[^;]*;Node;" + quoted(v) + ";Updated vnode " + quoted(v) + "'s attribute state=offline per mom hook request$"
		if w.logs("s1", "server_logs", line) == 0 {
			w.t.Errorf("the server does not say that %s is offline", v)
		}
	}
	w.vnodes(want)
	w.failed(id, "JOIN_JOB", "hostb")
	w.failed(id, "IM_EXEC_PROLOGUE", "hostc")
	w.saw(id, "prolo", "hostb hostb[0] hostb[1]")
	w.saw(id, "launch", "hostb hostb[0] hostb[1] hostc")
	for _, host := range []string{"hostb", "hostc"} {
		w.log("hosta", ";0080;pbs_mom;Node;[^;]*;job node_list_fail: node "+host+"$")
	}
	w.log("hosta", ";0080;pbs_mom;Node;[^;]*;job node_list_good: node hoste$")
	w.done(id, padding, ade)
	if n := w.logs("hostc", "mom_logs", ";0008;pbs_mom;Job;"+quoted(id)+";DELETE_JOB2 received$"); n != 1 {
		w.t.Errorf("DELETE_JOB2 came %d times to hostc, which had joined", n)
	}
	w.must("qmgr", "-c", "set node "+strings.Join(off, ",")+" state = free")
}

// log wants a line of a mom's log.
func (w *startup) log(host, pattern string) {
	w.t.Helper()
	if w.logs(host, "mom_logs", pattern) == 0 {
		w.t.Errorf("the log of %s has no line %s", host, pattern)
	}
}

// threads: what cannot be counted on vnodes stays in the request.
func (w *startup) threads() {
	x, from := ade, padding
	chunks := strings.Split(sn, "+")
	for i, more := range []string{":mpiprocs=3:ompthreads=2", ":mpiprocs=3:ompthreads=3", ":mpiprocs=2:ompthreads=2"} {
		chunks[i] += more
	}
	x.sel = strings.Join(chunks, "+")
	from.sel = strings.NewReplacer("+1:", "+2:").Replace(x.sel)
	id := w.submit("select="+strings.ReplaceAll(x.sel[2:], "+1:", "+"), "begin-hostb,prologue-hostc")
	w.starts(id, x, "hosta hosta hosta hostd hostd hostd hoste hoste")
	w.chose(id, x)
	w.done(id, from, x)
}

// tooLarge: what is left does not do, and the hook has the job deleted. What it has taken out of
// service before stays so.
func (w *startup) tooLarge() {
	id := w.submit(r1, "large,begin-hostb,offline")
	waitFor(w.t, patience, "the job to be deleted", func() error {
		if text := w.look(id); text != "" {
			return errors.New(text)
		}
		return nil
	})
	w.short(id)
	off := []string{"hostb", "hostb[0]", "hostb[1]"}
	want := w.busy(id, "", false)
	for _, v := range off {
		want[v] = "offline"
	}
	w.vnodes(want)
	w.must("qmgr", "-c", "set node "+strings.Join(off, ",")+" state = free")
	w.vnodes(w.busy(id, "", false))
}

// short wants the words about hosts that do not do.
func (w *startup) short(id string) {
	w.t.Helper()
	w.tells("hosta", id, "could not satisfy select chunk (ncpus=", "NEED chunks for keep_select (", "HAVE chunks from job's exec_vnode: ")
	w.log("hosta", "execjob_launch request rejected by 'execjob_launch'")
	w.log("hosta", ";"+quoted(id)+";.*unsuccessful at LAUNCH")
}

// requested: the request is padded in a resource of its own.
func (w *startup) requested() {
	x := startsA("hostd/0*3+hostc/0*2", evD+"+"+evC)
	id := w.submit(r1, "requested,begin-hostb")
	w.starts(id, x, "hosta hostd hostc")
	w.shows(id, "Resource_List.select_requested = "+sn, "Resource_List.select_reliable_startup = "+sp, "tolerate_node_failures = all")
	for _, l := range w.finished(id, "QSsucsDeE", padding, x)[1:3] {
		has(w.t, l, " Resource_List.select_requested="+sn+" ", " Resource_List.select_reliable_startup="+sp+" ")
	}
}

// byNames: the prologue gives back what is bad.
func (w *startup) byNames() {
	x := assignment{
		"hosta/0*0+hostd/0*3+hostc/0*2+hoste/0*0", evA + "+" + evD + "+" + evC + "+" + evE,
		selA + "+1:ncpus=3:mem=2097152kb+" + selC + "+1:mem=2097152kb:ncpus=2", "8388608kb", "10", "4",
	}
	id := w.submit(r1, "names,begin-hostb")
	w.starts(id, x, "hosta hostd hostc hoste")
	w.done(id, padding, x)
}

// leaderDies: nothing is released of a job that is being started, and whoever leads then goes on
// with it.
func (w *startup) leaderDies() {
	id := w.submit(r1, "waits,begin-hostb")
	waitFor(w.t, patience, "the start", func() error {
		if w.logs("hosta", "mom_logs", quoted(id)+";job_start_error.+from node hostb") == 0 || w.logs("hoste", "mom_logs", quoted(id)+";Executing prolo") == 0 {
			return errors.New("it has not come so far")
		}
		return nil
	})
	w.shows(id, "job_state = R", "substate = 41")
	w.denied(owner, 168, "pbs_release_nodes: Request invalid for state of job", "pbs_release_nodes", "-j", id, "-a")
	dead := killLeader(w.t, w.Cluster)
	defer w.goOn()()
	x := startsA("hostd/0*3+hostc/0*2", evD+"+"+evC)
	w.starts(id, x, "hosta hostd hostc")
	restart(w.t, w.Cluster, dead)
	w.done(id, padding, x)
	if n := w.logs("hosta", "mom_logs", quoted(id)+";Started, pid"); n != 1 {
		w.t.Errorf("the program was started %d times", n)
	}
}

// equalHosts: the second and the fifth host fail.
func (w *startup) equalHosts() {
	hosts := []string{"h1", "h2", "h3", "h4", "h5"}
	w.on(hosts...)
	defer w.on("hosta", "hostb", "hostc", "hostd", "hoste")
	w.must("qmgr", "-c", "set server scheduling = False")
	id := w.submit("select=ncpus=3:mem=1gb+ncpus=2:mem=2gb+ncpus=1:mem=3gb", "requested,begin-h2,prologue-h5", "-l", "place=scatter:excl")
	w.shows(id, "Resource_List.mem = 11gb", "Resource_List.ncpus = 9", "Resource_List.nodect = 5")
	w.must("qmgr", "-c", "set server scheduling = True")
	w.await(id, "the job runs", "substate = 42")
	x := assignment{
		"h1/0*3+h3/0*2+h4/0", "(h1:ncpus=3:mem=1048576kb)+(h3:ncpus=2:mem=2097152kb)+(h4:ncpus=1:mem=3145728kb)",
		"1:ncpus=3:mem=1gb+1:ncpus=2:mem=2gb+1:ncpus=1:mem=3gb", "6gb", "6", "3",
	}
	w.has(id, x)
	w.vnodes(map[string]string{
		"h1": "job-exclusive " + id + "/0," + id + "/1," + id + "/2 3 1048576kb", "h3": "job-exclusive " + id + "/0," + id + "/1 2 2097152kb",
		"h4": "job-exclusive " + id + "/0 1 3145728kb", "h2": "free", "h5": "free",
	})
	w.ran(id, "h1", "h3", "h4")
	w.ends(id, "QSsucsDeE")
}

// byServer: no hook cuts the job down, so the server does.
func (w *startup) byServer() {
	w.must("qmgr", "-c", "set server prune_at_job_start = True")
	defer func() { w.must("qmgr", "-c", "unset server prune_at_job_start") }()
	w.sets("execjob_launch", "enabled = false")
	defer w.sets("execjob_launch", "enabled = true")
	x := startsA("hostd/0*3+hostc/0*2", evD+"+"+evC)
	id := w.submit(r1, "requested,begin-hostb")
	w.starts(id, x, "hosta hostd hostc")
	w.finished(id, "QSsucsDeE", padding, x)
}

// sisterLost: a job that tolerates failures only while it starts does not go on without a host.
func (w *startup) sisterLost() {
	id := w.submit(r1, "begin-hostb,prologue-hostc")
	w.starts(id, ade, "hosta hostd hoste")
	if err := w.Signal("hostd", syscall.SIGKILL); err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := w.Restart(w.t.Context(), "hostd"); err != nil {
			w.t.Error(err)
		}
		w.vnode("hostd", "state = free")
	}()
	waitFor(w.t, 3*patience, "the loss", func() error {
		if w.logs("hosta", "mom_logs", quoted(id)+";im_eof, lost communication with hostd.+killing job now$") == 0 || w.logs("hosta", "mom_logs", quoted(id)+";kill_job$") == 0 {
			return errors.New("it is not told")
		}
		return nil
	})
	w.tells("hosta", id, "node EOF 2 (hostd)$")
	w.must("qdel", "-W", "force", id)
}

// failedStarts: a job whose start fails is held, in the end. It starts when nothing fails any more,
// with all it was given. The scheduler would take its time to try as often as it does before that.
func (w *startup) failedStarts() {
	id := w.submit(r1, "begin-hostb,raises-hostd")
	w.await(id, "the hold", "job_state = H", "Hold_Types = s")
	w.failed(id, "JOIN_JOB", "hostb")
	w.failed(id, "IM_EXEC_PROLOGUE", "hostd")
	w.short(id)
	w.sets("queuejob", "enabled = false")
	w.must("qalter", "-W", "tolerate_node_failures=none", id)
	w.must("qalter", "-W", "run_count=20", id)
	for _, step := range []string{"JOIN_JOB", "IM_EXEC_PROLOGUE"} {
		ignored := w.logs("hosta", "mom_logs", quoted(id)+";ignoring error from")
		failures := quoted(id) + ";job_start_error.+could not " + step
		before := w.logs("hosta", "mom_logs", failures)
		w.must("qrls", "-h", "s", id)
		waitFor(w.t, 6*patience, "the hold after failures at "+step, func() error {
			if text := w.look(id); !strings.Contains(text, "job_state = H") || w.logs("hosta", "mom_logs", failures) == before {
				return errors.New(text)
			}
			return nil
		})
		w.shows(id, "comment = job held, too many failed attempts to run")
		if got := w.logs("hosta", "mom_logs", quoted(id)+";ignoring error from"); got != ignored {
			w.t.Errorf("%d errors are ignored", got-ignored)
		}
		w.sets(map[string]string{"JOIN_JOB": "execjob_begin", "IM_EXEC_PROLOGUE": "execjob_prologue"}[step], "enabled = false")
	}
	w.must("qrls", "-h", "s", id)
	w.await(id, "the job runs", "substate = 42")
	w.has(id, padding)
	w.log("hosta", ";"+quoted(id)+": no nodes released as job does not tolerate node failures$")
	w.must("qdel", id)
}
