package conformance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// releasing is the complex P3 of the specification (ramp-down section 20), and beside it K5,
// whose hosts are offline while the other's jobs are placed.
type releasing struct {
	*devrun.Cluster
	t *testing.T
}

const (
	evA  = "(hosta[0]:mem=1048576kb:ncpus=1+hosta[1]:mem=1048576kb:ncpus=1+hosta[2]:ncpus=1)"
	evB  = "(hostb:mem=1048576kb:ncpus=1+hostb[0]:mem=1048576kb:ncpus=1+hostb[1]:ncpus=1)"
	evC  = "(hostc:ncpus=2:mem=2097152kb)"
	ehP3 = "hosta/0*0+hostb/0*0+hostc/0*2"
	j1   = "select=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb"
)

// fourVnodes are the vnodes of a host besides its own, as rampart dev --mom takes them.
func fourVnodes(host string) (text string) {
	for i := range 4 {
		text += fmt.Sprintf("/%s[%d]:ncpus=1,mem=1gb", host, i)
	}
	return text
}

func newReleasing(t *testing.T) *releasing {
	args := []string{"--mom", "hosta" + fourVnodes("hosta"), "--mom", "hostb:ncpus=1,mem=1gb" + fourVnodes("hostb"), "--mom", "hostc:ncpus=2,mem=2gb"}
	for i, cpus := range []int{1, 2, 2, 3, 3} {
		args = append(args, "--mom", fmt.Sprintf("h%d:ncpus=%d", i+1, cpus))
	}
	w := &releasing{newCluster(t, args...), t}
	w.only("hosta", "hostb", "hostc")
	return w
}

// only has nothing but these hosts, and all of their vnodes, take jobs.
func (w *releasing) only(hosts ...string) {
	w.t.Helper()
	all := []string{"hosta", "hostb", "hostc", "h1", "h2", "h3", "h4", "h5"}
	var off, on []string
	for _, h := range all {
		names := []string{h}
		if h == "hosta" || h == "hostb" {
			for i := range 4 {
				names = append(names, fmt.Sprintf("%s[%d]", h, i))
			}
		}
		if slices.Contains(hosts, h) {
			on = append(on, names...)
		} else {
			off = append(off, names...)
		}
	}
	w.must("qmgr", "-c", "set node "+strings.Join(off, ",")+" state = offline")
	w.must("qmgr", "-c", "set node "+strings.Join(on, ",")+" state = free")
}

func (w *releasing) must(command string, args ...string) string {
	w.t.Helper()
	out, err := w.Output(w.t.Context(), command, args...)
	if err != nil {
		w.t.Fatalf("%s %v: %v", command, args, err)
	}
	return strings.TrimSpace(out)
}

// refused expects an exit status and the beginning of what is said.
func (w *releasing) refused(status int, text string, args ...string) {
	w.t.Helper()
	cmd := w.Command(w.t.Context(), "pbs_release_nodes", args...)
	var said strings.Builder
	cmd.Stderr = &said
	err := cmd.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != status || !strings.HasPrefix(said.String(), text) {
		w.t.Errorf("pbs_release_nodes %q: %v, %q, want %d and %q", args, err, said.String(), status, text)
	}
}

// job submits one that runs long, and waits until it does.
func (w *releasing) job(sel string, more ...string) string {
	w.t.Helper()
	id := w.must("qsub", append(append([]string{"-l", sel, "-l", "place=scatter", "-o", "/dev/null", "-j", "oe"}, more...), "--", "/bin/sleep", "1000")...)
	w.await(id, "the job runs", "substate = 42")
	return id
}

func (w *releasing) look(id string) string {
	out, _ := w.Output(w.t.Context(), "qstat", "-fw", id)
	return out
}

// await waits until qstat -f shows all of these.
func (w *releasing) await(id, what string, lines ...string) {
	w.t.Helper()
	waitFor(w.t, patience, what, func() error {
		out := w.look(id)
		for _, l := range lines {
			if !strings.Contains(out, l) {
				return fmt.Errorf("no %q in %s", l, out)
			}
		}
		return nil
	})
}

// shows expects lines of qstat -f at once.
func (w *releasing) shows(id string, lines ...string) {
	w.t.Helper()
	out := w.look(id)
	for _, l := range lines {
		if !strings.Contains(out, "    "+l+"\n") {
			w.t.Errorf("no %q in %s", l, out)
		}
	}
}

// vnode waits until pbsnodes shows a vnode like this.
func (w *releasing) vnode(name string, lines ...string) {
	w.t.Helper()
	waitFor(w.t, patience, name, func() error {
		out, _ := w.Output(w.t.Context(), "pbsnodes", "-v", name)
		for _, l := range lines {
			if !strings.Contains(out, l) {
				return fmt.Errorf("no %q in %s", l, out)
			}
		}
		return nil
	})
}

func (w *releasing) assigned(cpus, mem string) {
	w.t.Helper()
	waitFor(w.t, patience, "resources_assigned", func() error {
		out := w.must("qstat", "-Bf")
		if !strings.Contains(out, "resources_assigned.ncpus = "+cpus+"\n") || !strings.Contains(out, "resources_assigned.mem = "+mem+"\n") {
			return errors.New(out)
		}
		return nil
	})
}

// logs counts the lines of a daemon's logs that match.
func (w *releasing) logs(name, folder, pattern string) int {
	files, _ := filepath.Glob(filepath.Join(w.Home(name), folder, "*"))
	n := 0
	for _, f := range files {
		text, _ := os.ReadFile(f)
		n += len(regexp.MustCompile("(?m)"+pattern).FindAll(text, -1))
	}
	return n
}

// ends deletes a job and waits for its records.
func (w *releasing) ends(id, letters string) []string {
	w.t.Helper()
	w.must("qdel", id)
	var lines []string
	waitFor(w.t, patience, "the records of "+id, func() error {
		var err error
		if lines, err = recordsOf(w.Cluster, "s1", id); err == nil && types(lines) != letters {
			err = errors.New(strings.Join(lines, "\n"))
		}
		return err
	})
	return lines
}

func has(t *testing.T, line string, wanted ...string) {
	t.Helper()
	for _, s := range wanted {
		if !strings.Contains(line, s) {
			t.Errorf("no %q in %s", s, line)
		}
	}
}

// RD-7 to RD-13, RD-16, RD-21, RD-32, RD-38, RD-39, RK-1, RK-11, RK-12, LG-4, LG-6, and what
// is left of RD-29 when a replica dies instead of qterm. All is asked at replicas that do not lead.
func TestReleaseNodes(t *testing.T) {
	t.Parallel()
	w := newReleasing(t)
	leader, err := w.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Cluster = through(w.Cluster, followers(leader)...)
	id := w.job(j1)
	w.shows(id, "exec_vnode = "+evA+"+"+evB+"+"+evC, "exec_host = "+ehP3, "schedselect = 1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb")
	// RD-7, RD-10, RD-11
	w.refused(2, "usage:")
	w.refused(2, "usage:", "-j", id)
	w.refused(2, "pbs_release_nodes: No jobid given\n", "-a")
	w.refused(153, "pbs_release_nodes: Unknown Job Id 300000", "-j", "300000", "-a")
	w.refused(2, "usage:", "-j", id, "-a", "hostb")
	w.refused(162, "pbs_release_nodes: Can't free 'hosta[0]' since it's on a primary execution host\n", "-j", id, "hostb[0]", "hostb[1]", "hosta[0]", "hostc")
	w.refused(162, "pbs_release_nodes: node(s) requested to be released not part of the job: hosta[3]\n", "-j", id, "hostb", "hostb[0]", "hosta[3]", "hostb[1]", "hostc")
	// RD-16, RD-39
	w.must("pbs_release_nodes", "-j", id, "hostb")
	after := evA + "+" + strings.Replace(evB, "hostb:mem=1048576kb:ncpus=1+", "", 1) + "+" + evC
	sel := "1:mem=2097152kb:ncpus=3+1:mem=1048576kb:ncpus=2+1:ncpus=2:mem=2097152kb"
	w.shows(id, "exec_vnode = "+after, "exec_host = "+ehP3, "schedselect = "+sel, "Resource_List.select = "+sel,
		"Resource_List.mem = 5242880kb", "Resource_List.ncpus = 7", "Resource_List.nodect = 3")
	w.vnode("hostb", "state = job-busy", "jobs = "+id+"/0")
	w.assigned("8", "6291456kb")
	w.must("qmgr", "-c", "set server show_hidden_attribs = True")
	w.shows(id, "exec_vnode_orig = "+evA+"+"+evB+"+"+evC, "exec_vnode_deallocated = (hostb:mem=1048576kb:ncpus=1)")
	w.must("qmgr", "-c", "set server show_hidden_attribs = False")
	if strings.Contains(w.look(id), "exec_vnode_orig") {
		t.Error("hidden attributes are shown")
	}
	// the rest of hostb and hostc: RD-13, RD-38, LG-4
	w.must("pbs_release_nodes", "-j", id, "hostc")
	w.refused(162, "pbs_release_nodes: node(s) requested to be released not part of the job: hostc\n", "-j", id, "hostc")
	w.vnode("hostc", "state = free", "resources_assigned.ncpus = 0")
	w.must("pbs_release_nodes", "-j", id, "-a")
	w.vnode("hostb", "state = free", "resources_assigned.ncpus = 0")
	w.shows(id, "exec_vnode = "+evA, "exec_host = hosta/0*0", "schedselect = 1:mem=2097152kb:ncpus=3", "job_state = R")
	w.assigned("3", "2097152kb")
	w.refused(162, "pbs_release_nodes: Server returned error 15010 for job", "-j", id, "-a")
	for host, n := range map[string]int{"hosta": 0, "hostb": 1, "hostc": 1} {
		if got := w.logs(host, "mom_logs", ";0008;pbs_mom;Job;"+regexp.QuoteMeta(id)+";DELETE_JOB2 received$"); got != n {
			t.Errorf("DELETE_JOB2 is %d times in the log of %s, want %d", got, host, n)
		}
	}
	if w.logs("s1", "server_logs", ";0100;Server@s1;Node;hostc;clearing job "+regexp.QuoteMeta(id)+" from node hostc$") != 1 ||
		w.logs("s1", "server_logs", `;0100;Server@s1;Node;hostc;deallocating 2 cpu\(s\) from job `+regexp.QuoteMeta(id)+"$") != 1 {
		t.Error("LG-4: the server's log does not tell of hostc")
	}
	lines := w.ends(id, "QSucucucDeE")
	original := []string{" exec_host=" + ehP3 + " exec_vnode=" + evA + "+" + evB + "+" + evC + " Resource_List.mem=6gb Resource_List.ncpus=8 Resource_List.nodect=3 "}
	has(t, lines[2], original...)
	has(t, lines[3], " exec_host="+ehP3+" exec_vnode="+after+" Resource_List.mem=5242880kb Resource_List.ncpus=7 Resource_List.nodect=3 ", " resource_assigned.ncpus=7")
	has(t, lines[9], " exec_vnode="+evA+" ")
	has(t, w.must("rampart", "job", "timeline", id), "hostc ", "\nPHASE ", "|1", "\n4 ", " released\nall ")
	has(t, lines[10], original...)
	if u, c := lines[2][:19], lines[3][:19]; u != c {
		t.Errorf("u at %s, c at %s", u, c)
	}
	t.Run("states", func(t *testing.T) { (&releasing{w.Cluster, t}).states(t) })
	t.Run("failover", func(t *testing.T) { (&releasing{w.Cluster, t}).failover(t) })
	w.only("h1", "h2", "h3", "h4", "h5")
	t.Run("keep", func(t *testing.T) { (&releasing{w.Cluster, t}).keep(t) })
}

// RD-9, RD-32, RD-35, RD-36, and another user's attempt (RD-8, LG-6).
func (w *releasing) states(t *testing.T) {
	for _, v := range []string{"-1", "11", "tru"} {
		out, err := w.Command(t.Context(), "qsub", "-W", "release_nodes_on_stageout="+v, "--", "/bin/true").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "illegal -W value") {
			t.Errorf("release_nodes_on_stageout=%s: %v %s", v, err, out)
		}
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nuntil $PBS_EXEC/bin/pbs_release_nodes hostb; do sleep 1; done\nsleep 1000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := w.must("qsub", "-l", j1, "-l", "place=scatter", "-W", "release_nodes_on_stageout=t",
		"-o", "/dev/null", "-j", "oe", script)
	w.await(own, "the job releases by itself", "Resource_List.ncpus = 7", "release_nodes_on_stageout = True")
	w.ends(own, "QSucDeE")
	held := w.must("qsub", "-h", "-l", "select=3:ncpus=1", "-l", "place=scatter", "--", "/bin/true")
	w.refused(168, "pbs_release_nodes: Request invalid for state of job\n", "-j", held, "-a")
	if os.Geteuid() == 0 {
		cmd := w.Command(t.Context(), "setpriv", "--reuid", "2", "--regid", "2", "--clear-groups", "pbs_release_nodes", "-j", held, "-a")
		out, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 159 || !strings.HasPrefix(string(out), "pbs_release_nodes: Unauthorized Request") {
			t.Errorf("another user: %v %s", err, out)
		}
	}
	w.must("qdel", held)
	array := w.must("qsub", "-J", "1-3", "-l", j1, "-l", "place=scatter", "-o", "/dev/null", "-j", "oe", "--", "/bin/sleep", "1000")
	first := strings.Replace(array, "[]", "[1]", 1)
	w.await(first, "the subjob runs", "substate = 42")
	w.refused(181, "pbs_release_nodes: not supported for Array Jobs or multiple sub-jobs\n", "-j", array, "hostb")
	w.must("pbs_release_nodes", "-j", first, "hostb")
	w.shows(first, "Resource_List.ncpus = 7")
	w.vnode("hostb", "jobs = "+first+"/0")
	w.must("qdel", array)
	w.vnode("hostb", "state = free")
	w.vnode("hosta[0]", "state = free")
}

// A sister that does not answer keeps its vnode until it does, whoever leads; a mother
// superior that does not is row 21, and nothing has changed.
func (w *releasing) failover(t *testing.T) {
	id := w.job(j1)
	if err := w.Signal("hostc", syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.must("pbs_release_nodes", "-j", id, "hostb", "hostb[0]", "hostc")
	leader, err := w.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Signal(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.await(id, "another leader", "exec_host = hosta/0*0+hostb/0*0", "Resource_List.mem = 2097152kb", "Resource_List.ncpus = 4")
	w.vnode("hostc", "jobs = "+id+"/0", "resources_assigned.ncpus = 2")
	if err := w.Signal("hostc", syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.vnode("hostc", "state = free", "resources_assigned.ncpus = 0")
	if err := w.Signal("hosta", syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.refused(222, "pbs_release_nodes: Server could not connect to MOM", "-j", id, "-a")
	if err := w.Signal("hosta", syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.shows(id, "exec_host = hosta/0*0+hostb/0*0", "Resource_List.ncpus = 4")
	if err := w.Restart(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	w.must("pbs_release_nodes", "-j", id, "hostb[1]")
	w.vnode("hostb", "state = free")
	w.ends(id, "QSucucDeE")
}

func (w *releasing) keep(t *testing.T) {
	for wish, want := range map[string][]string{
		"select=ncpus=2+ncpus=3:mpiprocs=2": {"schedselect = 1:ncpus=1+1:ncpus=2+1:ncpus=3:mpiprocs=2", "Resource_List.mpiprocs = 2", "Resource_List.ncpus = 6", "Resource_List.nodect = 3"},
		"2":                                 {"schedselect = 1:ncpus=1+2:ncpus=2", "Resource_List.ncpus = 5", "Resource_List.nodect = 3"},
	} {
		id := w.job("select=ncpus=1+2:ncpus=2+2:ncpus=3:mpiprocs=2")
		w.refused(2, "pbs_release_nodes: -a and -k options cannot be used together\nusage:", "-j", id, "-a", "-k", "1")
		w.refused(2, "pbs_release_nodes: cannot supply node list with -k option\nusage:", "-j", id, "-k", "1", "h2")
		w.refused(156, `pbs_release_nodes: only a "select=" string is valid in -k option`, "-j", id, "-k", "place=scatter")
		w.refused(187, "pbs_release_nodes: Unknown resource: unkownres", "-j", id, "-k", "select=ncpus=2:unkownres=3")
		w.refused(162, "pbs_release_nodes: Server returned error 15010 for job", "-j", id, "-k", "select=ncpus=4")
		w.refused(162, "pbs_release_nodes: Server returned error 15010 for job", "-j", id, "-k", "5")
		w.must("pbs_release_nodes", "-j", id, "-k", "4")
		w.must("pbs_release_nodes", "-j", id, "-k", wish)
		w.shows(id, want...)
		w.ends(id, "QSucDeE")
		w.vnode("h5", "state = free")
		w.vnode("h1", "state = free")
	}
}
