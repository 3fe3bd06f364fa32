package conformance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"rampart/cmd/devrun"
)

// patience is how long a script waits for what must come. The scripts share hosts: a job may wait
// until those of others have left them.
const patience = 2 * time.Minute

func TestCases(t *testing.T) { cases(t, shared, "*.txtar") }

// TestCases_Apart plays the scripts that would be in the way of others: they have settings of the
// server and hosts for themselves.
func TestCases_Apart(t *testing.T) {
	cases(t, newCluster(t, "--replicas", "3", "--mom", "big:ncpus=8,mem=8gb"), "apart/*.txtar")
}

// TestCases_AtAFollower plays the scripts again on a new cluster, by the gateway of a replica that
// does not lead; in short tests only the numbered cases of the specification.
func TestCases_AtAFollower(t *testing.T) {
	names := "*.txtar"
	if testing.Short() {
		names = "[A-Z]*.txtar"
	}
	c := newCluster(t, complexP3...)
	cases(t, c, names, "PBS_GATEWAY="+followersGateway(t, c))
}

// cases plays the scripts whose names match on a cluster, with some variables more.
func cases(t *testing.T, c *devrun.Cluster, names string, more ...string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", names))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts %s: %v", names, err)
	}
	root := filepath.Join(scratch, t.Name()) // the folders of scripts are kept
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	var owned keyedMutex
	testscript.Run(t, testscript.Params{
		Files:       files,
		WorkdirRoot: root,
		Setup: func(e *testscript.Env) error {
			for _, v := range slices.Concat(c.Env, more) {
				name, value, _ := strings.Cut(v, "=")
				if strings.HasPrefix(name, "PBS_") || name == "PATH" || name == "RAMPART_DEV" {
					e.Setenv(name, value)
				}
			}
			e.Setenv("SERVER", "srv")
			e.Setenv("USER", "root")
			for name, value := range map[string]string{"ANN": ann, "BOB": bob, "FROM": "s[123]"} {
				e.Setenv(name, value)
			}
			err := os.WriteFile(filepath.Join(e.WorkDir, "sim"), []byte(program), 0o755)
			return errors.Join(err, os.Chmod(e.WorkDir, 0o777)) // jobs of other users deliver to it
		},
		Condition: func(cond string) (bool, error) { return cond == "root" && os.Geteuid() == 0, nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await":    await,
			"capture":  capture,
			"converse": converse,
			"records":  func(ts *testscript.TestScript, neg bool, args []string) { records(ts, c, neg, args) },
			"owns":     owned.owns,
			"status":   exitStatus,
			"as":       as,
			"loglines": func(ts *testscript.TestScript, neg bool, args []string) {
				ts.Check(checkLogs(c))
			},
			"json":        jsonValue,
			"times":       times,
			"seconds":     seconds,
			"apart":       apart,
			"at":          goOn,
			"everywhere":  everywhere,
			"clock":       declared,
			"replicas":    declared,
			"host":        declared,
			"ann":         by(ann),
			"bob":         by(bob),
			"reservation": reservation,
			"reserve":     reserve,
			"logged":      logged,
		},
	})
}

// ann and bob are the users of the cases, whom each machine has, with groups of their names.
const ann, bob = "daemon", "games"

// program is what rampart sim knows as sim: a program of a job that does what its arguments say.
const program = `#!/bin/sh
runs=$1 status=0
shift
for word; do
	case $word in
	exit=*) status=${word#exit=} ;;
	term=ignore) trap "" TERM ;;
	esac
done
[ "$runs" = ever ] && runs=86400
sleep "$runs"
exit "$status"
`

// await REGEXP COMMAND...: runs the command until its standard output matches.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: await REGEXP COMMAND [ARG...]")
	}
	want, err := regexp.Compile("(?ms)" + args[0])
	ts.Check(err)
	var last string
	for began := time.Now(); time.Since(began) < patience; poll(began) {
		err := ts.Exec(args[1], args[2:]...)
		last = ts.ReadFile("stdout")
		if err == nil && want.MatchString(last) != neg {
			return
		}
	}
	ts.Fatalf("%s: never matched %s; last seen: %s%s", strings.Join(args[1:], " "), args[0], last, ts.ReadFile("stderr"))
}

// poll is the pause between two looks at a condition, which somebody began to look at then.
func poll(began time.Time) { <-time.After(devrun.Pause(time.Since(began))) }

// A keyedMutex holds what scripts own.
type keyedMutex struct{ held sync.Map } // of *sync.Mutex by name

// owns HOST|users|sched...: no other script that owns one of them goes on before this one has ended.
// Scripts that fill a host, or look at its state, own it; the others place jobs that stay on host big.
// Those that act as other users, or change what users may do, own users; those that change how jobs
// are ordered and preempted own sched.
func (m *keyedMutex) owns(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: owns HOST|users|sched...")
	}
	for _, name := range slices.Sorted(slices.Values(args)) {
		one, _ := m.held.LoadOrStore(name, new(sync.Mutex))
		one.(*sync.Mutex).Lock()
		ts.Defer(one.(*sync.Mutex).Unlock)
	}
}

// capture NAME [REGEXP]: keeps the standard output of the last command in a variable, or what the first group of the pattern finds.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: capture NAME [REGEXP]")
	}
	text := ts.ReadFile("stdout")
	if len(args) == 2 {
		want, err := regexp.Compile("(?m)" + args[1])
		ts.Check(err)
		found := want.FindStringSubmatch(text)
		if len(found) < 2 {
			ts.Fatalf("capture: no group of %s in %s", args[1], text)
		}
		text = found[1]
	}
	ts.Setenv(args[0], strings.TrimSpace(text))
}

// status N COMMAND...: the command exits with N.
func exitStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s: exit status %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// as USER COMMAND...: runs the command as another user, root only.
func as(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: as USER COMMAND [ARG...]")
	}
	err := ts.Exec("setpriv", append([]string{"--reuid", args[0], "--regid", args[0], "--clear-groups"}, args[1:]...)...)
	if (err != nil) != neg {
		ts.Fatalf("as %s: %v", strings.Join(args, " "), err)
	}
}

// records ID TYPES: waits until the ledgers of all replicas hold exactly records of
// these types for the job, in this order, and agree; they become the standard output.
func records(ts *testscript.TestScript, c *devrun.Cluster, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: records ID TYPES")
	}
	var last []string
	for began := time.Now(); time.Since(began) < patience; poll(began) {
		all := map[string]bool{}
		for _, replica := range replicas {
			lines, err := recordsOf(c, replica, args[0])
			ts.Check(err)
			all[strings.Join(lines, "\n")], last = true, lines
		}
		if len(all) == 1 && types(last) == args[1] {
			ts.Check(ts.Exec("printf", "%s\n", strings.Join(last, "\n")))
			return
		}
	}
	ts.Fatalf("records of %s: never %s on all replicas; last seen:\n%s", args[0], args[1], strings.Join(last, "\n"))
}

var replicas = []string{"s1", "s2", "s3"}

func recordsOf(c *devrun.Cluster, replica, job string) ([]string, error) {
	lines, err := c.Accounting(replica)
	return slices.DeleteFunc(lines, func(l string) bool {
		fields := strings.SplitN(l, ";", 4)
		return len(fields) != 4 || fields[2] != job
	}), err
}

func types(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.SplitN(l, ";", 4)[1])
	}
	return b.String()
}

var logLine = regexp.MustCompile(`^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d(\.\d{6})?;[0-9a-f]{4};[^;]+;(Svr|Que|Job|Req|Fil|Act|Node|Resv|Sched|Hook|Resc|TPP);[^;]*;.*$`)

// checkLogs compares every line of every daemon log with the form of LG-1.
func checkLogs(c *devrun.Cluster) error {
	files, err := filepath.Glob(filepath.Join(c.Dir, "homes", "*", "*_logs", "[0-9]*"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no daemon logs: %v", err)
	}
	kinds := map[string]bool{}
	for _, f := range files {
		kinds[filepath.Base(filepath.Dir(f))] = true
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(data)) {
			if !strings.HasSuffix(line, "\n") {
				break // it is being written
			}
			if !logLine.MatchString(strings.TrimSuffix(line, "\n")) {
				return fmt.Errorf("%s: %q has not the form of a log line", f, line)
			}
		}
	}
	for _, kind := range []string{"server_logs", "mom_logs", "sched_logs"} {
		if !kinds[kind] {
			return fmt.Errorf("no %s", kind)
		}
	}
	return nil
}
