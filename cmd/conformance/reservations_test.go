package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"rampart/cmd/devrun"
)

// hostsOfEight are the hosts of the cases of reservations.
var hostsOfEight = []string{"--mom", "hosta:ncpus=8,mem=8gb", "--mom", "hostb:ncpus=8,mem=8gb", "--mom", "hostc:ncpus=8,mem=8gb"}

// reservationCluster starts a cluster for cases of reservations.
func reservationCluster(t *testing.T) *devrun.Cluster {
	t.Helper()
	c := newCluster(t, hostsOfEight...)
	if _, err := c.Output(t.Context(), "qmgr", "-c", "set server job_history_enable = True, log_events = 2047"); err != nil {
		t.Fatal(err)
	}
	return c
}

// realReservations are the scripts of reservations that the short tests play on real clusters, too, by cluster: those that show commands,
// hooks and jobs, and some of each other kind. All scripts are played by cmd/rampart/sim, where an hour takes none; what the others
// wait for is time alone.
var realReservations = [][]string{{"altered"}, {"hooks"}, {"kinds", "ofjobs"}}

// TestReservations plays the scripts of reservations, every other cluster's by the gateway of a replica that does not lead; the long
// tests play each on a cluster of its own.
func TestReservations(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it needs users")
	}
	clusters := realReservations
	if !testing.Short() {
		clusters = nil
		all, err := filepath.Glob("testdata/reservations/*.txtar")
		if err != nil || len(all) == 0 {
			t.Fatalf("no scripts: %v", err)
		}
		for _, name := range all {
			clusters = append(clusters, []string{strings.TrimSuffix(filepath.Base(name), ".txtar")})
		}
	}
	for i, names := range clusters {
		t.Run(strings.Join(names, "-"), func(t *testing.T) {
			t.Parallel()
			c := reservationCluster(t)
			var more []string
			if i%2 == 0 {
				more = append(more, "PBS_GATEWAY="+followersGateway(t, c))
			}
			for _, name := range names { // each by itself
				t.Run(name, func(t *testing.T) { cases(t, c, filepath.Join("reservations", name+".txtar"), more...) })
			}
			if err := checkLogs(c); err != nil {
				t.Error(err)
			}
		})
	}
}

// times NAME=SECONDS...: sets variables to times so many seconds ahead of now, as options of commands take them.
func times(ts *testscript.TestScript, neg bool, args []string) { setAhead(ts, args, "200601021504.05") }

// seconds NAME=SECONDS,SECONDS...: sets a variable to the seconds within their minute of times so many seconds ahead.
func seconds(ts *testscript.TestScript, neg bool, args []string) { setAhead(ts, args, "5") }

// setAhead sets variables to times, with a comma between several.
func setAhead(ts *testscript.TestScript, args []string, layout string) {
	now := time.Now()
	for _, arg := range args {
		name, list, _ := strings.Cut(arg, "=")
		var texts []string
		for text := range strings.SplitSeq(list, ",") {
			seconds, err := strconv.Atoi(text)
			ts.Check(err)
			texts = append(texts, now.Add(time.Duration(seconds)*time.Second).Format(layout))
		}
		ts.Setenv(name, strings.Join(texts, ","))
	}
}

// apart SECONDS TIME TIME: two times, as commands print them, lie so far from each other.
func apart(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: apart SECONDS TIME TIME")
	}
	first, err1 := time.Parse(time.ANSIC, args[1])
	second, err2 := time.Parse(time.ANSIC, args[2])
	ts.Check(errors.Join(err1, err2))
	if got := strconv.Itoa(int(second.Sub(first).Seconds())); got != args[0] {
		ts.Fatalf("%s is %s s behind %s, want %s", args[2], got, args[1], args[0])
	}
}

// goOn is at +SECONDS: time goes on.
func goOn(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || !strings.HasPrefix(args[0], "+") {
		ts.Fatalf("usage: at +SECONDS")
	}
	seconds, err := strconv.Atoi(args[0][1:])
	ts.Check(err)
	<-time.After(time.Duration(seconds) * time.Second)
}

// everywhere COMMAND...: each of the replicas, asked by its own gateway, says the same.
func everywhere(ts *testscript.TestScript, neg bool, args []string) {
	before, said := ts.Getenv("PBS_GATEWAY"), ""
	defer ts.Setenv("PBS_GATEWAY", before)
	for n, name := range replicas {
		ts.Setenv("PBS_GATEWAY", filepath.Join(ts.Getenv("RAMPART_DEV"), "homes", name, "run", name+".sock"))
		ts.Check(ts.Exec(args[0], args[1:]...))
		if now := ts.ReadFile("stdout"); n > 0 && now != said {
			ts.Fatalf("%s says\n%s, those before it\n%s", name, now, said)
		}
		said = ts.ReadFile("stdout")
	}
}

// declared is a line that tells the simulator which cluster there is: here the test has started it.
func declared(*testscript.TestScript, bool, []string) {}

// by returns the command NAME STATUS COMMAND..., which runs a command as a user, and wants an exit status of it.
func by(user string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("usage: USER STATUS COMMAND [ARG...]")
		}
		exitStatus(ts, false, append([]string{args[0], "setpriv", "--reuid", user, "--regid", user, "--clear-groups"}, args[1:]...))
	}
}

// reservation NAME: keeps the id that the last command has printed first in a variable, and the name of its queue in NAMEQ.
func reservation(ts *testscript.TestScript, neg bool, args []string) {
	id, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(ts.ReadFile("stdout")), "Resv ID: "), " ")
	queue, _, ok := strings.Cut(id, ".")
	if neg || len(args) != 1 || !ok {
		ts.Fatalf("usage: reservation NAME, after a command that prints an id")
	}
	ts.Setenv(args[0], id)
	ts.Setenv(args[0]+"Q", queue)
}

// reserve NAME ARG...: ann's reservation, which is confirmed.
func reserve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: reserve NAME ARG...")
	}
	by(ann)(ts, false, append([]string{"0", "pbs_rsub", "-I", "10"}, args[1:]...))
	if out := ts.ReadFile("stdout"); !strings.HasSuffix(out, " CONFIRMED\n") {
		ts.Fatalf("pbs_rsub %s: %s", strings.Join(args[1:], " "), out)
	}
	reservation(ts, false, args[:1])
}

// logged REGEXP: waits until the logs of the replicas have a line.
func logged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: logged REGEXP")
	}
	await(ts, false, []string{args[0], "sh", "-c", "cat $RAMPART_DEV/homes/s?/server_logs/2* $RAMPART_DEV/homes/s?/sched_logs/2*"})
}
