package conformance

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// A rampdown is a cluster with one of the complexes of the specification (ramp-down section 20).
// Its jobs are an ordinary user's where there are users.
type rampdown struct {
	*releasing
	hosts map[string][]string // vnodes of each, its natural one first
}

// four are the vnodes below the natural one of P3's first hosts.
func four(host string) (names []string) {
	for i := range 4 {
		names = append(names, fmt.Sprintf("%s[%d]", host, i))
	}
	return names
}

// newRampdown starts hosts, written as `rampart dev --mom` reads them.
func newRampdown(t *testing.T, moms ...string) *rampdown {
	t.Helper()
	return newRampdownOf(t, 1, moms...)
}

// newRampdownOf starts them with so many replicas.
func newRampdownOf(t *testing.T, replicas int, moms ...string) *rampdown {
	t.Helper()
	args := []string{"--replicas", strconv.Itoa(replicas)}
	w := &rampdown{hosts: map[string][]string{}}
	for _, mom := range moms {
		args = append(args, "--mom", mom)
		var names []string
		for vnode := range strings.SplitSeq(mom, "/") {
			name, _, _ := strings.Cut(vnode, ":")
			names = append(names, name)
		}
		w.hosts[names[0]] = names
	}
	w.releasing = &releasing{newCluster(t, args...), t}
	return w
}

// newRampdownAside starts them with three replicas, and has every command ask one that does not lead.
func newRampdownAside(t *testing.T, moms ...string) *rampdown {
	t.Helper()
	w := newRampdownOf(t, len(replicas), moms...)
	w.Cluster = through(w.Cluster, followers(leads(t, w.Cluster))...)
	return w
}

// on has the vnodes of these hosts, and no others, take jobs.
func (w *rampdown) on(hosts ...string) {
	w.t.Helper()
	states := map[string][]string{}
	for _, h := range slices.Sorted(maps.Keys(w.hosts)) {
		state := "offline"
		if slices.Contains(hosts, h) {
			state = "free"
		}
		states[state] = append(states[state], w.hosts[h]...)
	}
	for state, names := range states {
		w.must("qmgr", "-c", "set node "+strings.Join(names, ",")+" state = "+state)
	}
}

// sub plays a part of a test at the same cluster.
func (w *rampdown) sub(name string, play func(w *rampdown)) {
	w.t.Helper()
	w.t.Run(name, func(t *testing.T) {
		play(&rampdown{&releasing{w.Cluster, t}, w.hosts})
	})
}

// long plays what the short run of the tests leaves out.
func (w *rampdown) long(name string, play func(w *rampdown)) {
	w.t.Helper()
	if !testing.Short() {
		w.sub(name, play)
	}
}

// asUser puts the words before a command that have a user run it, if there are users.
func asUser(user string, command ...string) []string {
	if os.Geteuid() != 0 || user == "root" {
		return command
	}
	return append([]string{"setpriv", "--reuid", user, "--regid", user, "--clear-groups"}, command...)
}

func (w *rampdown) by(user string, command ...string) string {
	w.t.Helper()
	argv := asUser(user, command...)
	return w.must(argv[0], argv[1:]...)
}

// owner is whose jobs are.
const owner = "games"

// runs counts the jobs of all such clusters: they are told apart by it.
var runs atomic.Int32

// A held job runs programs on its second and third host that are known by their arguments.
type held struct {
	id      string
	markers [2]string
}

// submit starts a job of these resources; after the programs on the sisters its script goes
// on with rest, which runs long.
func (w *rampdown) submit(sel, place, rest string, more ...string) held {
	w.t.Helper()
	n := int(runs.Add(1))
	j := held{markers: [2]string{strconv.Itoa(41000 + n), strconv.Itoa(42000 + n)}}
	file := filepath.Join(w.Dir, "job"+j.markers[0])
	text := "#!/bin/sh\nPATH=" + w.Dir + "/bin:$PATH\n"
	nodes := []int{1, 2}
	if strings.Contains(sel, "mpiprocs") { // each line of the node file is one
		nodes = []int{3, 6}
	}
	for i, m := range j.markers {
		if strings.Count(sel, "+") > i {
			text += fmt.Sprintf("pbsdsh -n %d /bin/sleep %s &\n", nodes[i], m)
		}
	}
	if err := os.WriteFile(file, []byte(text+rest+"\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
	args := append([]string{"qsub", "-S", "/bin/sh", "-l", sel, "-o", "/dev/null", "-j", "oe"}, more...)
	if place != "" {
		args = append(args, "-l", "place="+place)
	}
	j.id = w.by(owner, append(args, file)...)
	return j
}

// start waits until a job runs, and programs of its do on both sisters.
func (w *rampdown) start(sel string, more ...string) held {
	w.t.Helper()
	j := w.submit(sel, "scatter", "sleep 1000", more...)
	w.await(j.id, "the job runs", "substate = 42")
	w.live(j, 1, 1)
	return j
}

// live waits until so many programs run on the second and the third host.
func (w *rampdown) live(j held, want ...int) {
	w.t.Helper()
	for i, n := range want {
		waitFor(w.t, patience, "programs on a sister", func() error {
			got := 0
			for _, line := range processes(w.t, "/bin/sleep\x00"+j.markers[i]) {
				if strings.HasPrefix(line, "/bin/sleep\x00") { // and not pbsdsh, which has asked for it
					got++
				}
			}
			if got != n {
				return fmt.Errorf("%d on sister %d, want %d", got, i+1, n)
			}
			return nil
		})
	}
}

// vnodes waits until vnodes have the state, jobs, ncpus and memory that are wanted, written
// with blanks between; "free" alone has none of the others.
func (w *rampdown) vnodes(want map[string]string) {
	w.t.Helper()
	waitFor(w.t, patience, "vnodes", func() error {
		out, err := w.Output(w.t.Context(), "pbsnodes", "-av")
		if err != nil {
			return err
		}
		got := map[string]map[string]string{}
		name := ""
		for line := range strings.Lines(out) {
			key, value, ok := strings.Cut(strings.TrimSpace(line), " = ")
			if ok {
				got[name][key] = value
			} else if key != "" {
				name = key
				got[name] = map[string]string{}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			g := got[name]
			text := g["state"]
			if g["jobs"] != "" || g["resources_assigned.ncpus"] != "0" {
				text += " " + strings.ReplaceAll(g["jobs"], ", ", ",") + " " + g["resources_assigned.ncpus"]
				if strings.Count(want[name], " ") == 3 {
					text += " " + g["resources_assigned.mem"]
				}
			}
			if text != want[name] {
				err = errors.Join(err, fmt.Errorf("%s: %q, want %q", name, text, want[name]))
			}
		}
		return err
	})
}

// charged waits until server and queue show what jobs have.
func (w *rampdown) charged(ncpus, mem string) {
	w.t.Helper()
	for _, argv := range [][]string{{"qstat", "-Bf"}, {"qstat", "-Qf", "workq"}} {
		waitFor(w.t, patience, "resources_assigned", func() error {
			out := w.must(argv[0], argv[1:]...)
			for name, value := range map[string]string{"ncpus": ncpus, "mem": mem} {
				_, rest, _ := strings.Cut(out, "resources_assigned."+name+" = ")
				got, _, _ := strings.Cut(rest, "\n")
				var gb int
				if _, err := fmt.Sscanf(got, "%dgb", &gb); err == nil {
					got = fmt.Sprintf("%dkb", gb<<20)
				}
				if value != "" && got != value {
					return fmt.Errorf("%s is not %s: %s", name, value, out)
				}
			}
			return nil
		})
	}
}

// nodefile compares the hosts of a job's node file.
func (w *rampdown) nodefile(ms, id, want string) {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.Home(ms), "aux", id))
	var hosts []string
	for line := range strings.Lines(string(text)) {
		host, _, _ := strings.Cut(strings.TrimSpace(line), ".")
		hosts = append(hosts, host)
	}
	if got := strings.Join(hosts, " "); err != nil || got != want {
		w.t.Errorf("node file of %s: %q, %v, want %q", id, got, err, want)
	}
}

// An assignment is what a job has, or a record shows; sel is its Resource_List.select.
type assignment struct{ eh, ev, sel, mem, ncpus, nodect string }

// has expects qstat to show an assignment.
func (w *rampdown) has(id string, a assignment) {
	w.t.Helper()
	w.shows(id, "exec_host = "+a.eh, "exec_vnode = "+a.ev, "Resource_List.mem = "+a.mem, "Resource_List.ncpus = "+a.ncpus,
		"Resource_List.nodect = "+a.nodect, "Resource_List.select = "+a.sel)
	w.shows(id, "schedselect = "+ones(a.sel))
}

// in expects a record to show it.
func (a assignment) in(t *testing.T, record string) {
	t.Helper()
	has(t, record+" ", " exec_host="+a.eh+" ", " exec_vnode="+a.ev+" ", " Resource_List.mem="+a.mem+" ", " Resource_List.ncpus="+a.ncpus+" ",
		" Resource_List.nodect="+a.nodect+" ", " Resource_List.select="+a.sel+" ")
}

// records expects those of a job whose assignment changed so, after its end.
func (w *rampdown) records(lines []string, phases ...assignment) {
	w.t.Helper()
	n := 0
	for _, line := range lines {
		switch types([]string{line}) {
		case "u":
			phases[n].in(w.t, line)
			n++
		case "c":
			phases[n].in(w.t, line)
		case "e":
			phases[len(phases)-1].in(w.t, line)
		case "E":
			phases[0].in(w.t, line)
		}
	}
	if n != len(phases)-1 {
		w.t.Errorf("%d releases are in %q", n, lines)
	}
}

// over waits for the records of a job that ends.
func (w *rampdown) over(id, letters string) (lines []string) {
	w.t.Helper()
	waitFor(w.t, patience, "the records of "+id, func() error {
		var err error
		if lines, err = recordsOf(w.Cluster, "s1", id); err == nil && types(lines) != letters {
			err = errors.New(strings.Join(lines, "\n"))
		}
		return err
	})
	return lines
}

// letters are the types of the records of a job that is deleted after so many releases.
func letters(releases int) string {
	if releases == 0 {
		return "QSDE"
	}
	return "QS" + strings.Repeat("uc", releases) + "DeE"
}
