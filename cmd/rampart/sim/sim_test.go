package sim

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "time/tzdata" // as in rampart

	"github.com/rogpeppe/go-internal/txtar"

	"rampart/mom/proc"
)

// folders are where scenarios are that must come to their end: of the language, of the documents, and of
// the cases of the specification that are about time, or that real clusters play, too.
var folders = []string{"testdata", "../../../docs/examples/sim", "../../conformance/testdata/sim", "../../conformance/testdata/reservations", "../../conformance/testdata/reserving"}

// alone names the scenario that a process of this binary is to play, and nothing else.
const alone = "RAMPART_TEST_SCENARIO"

// told has it write what -v tells, and nothing else.
const told = "RAMPART_TEST_TOLD"

// calmOnes has scenarios in which nothing befalls a replica played with one: most of the time that they take is what three of them
// tell each other. make test-long plays them with as many as they ask for.
const calmOnes = "RAMPART_TEST_ONE_REPLICA"

// named finds the lines of a script that name a replica, or something that befalls one.
var named = regexp.MustCompile(`(?m)\b(leader|follower|s[1-9])\b|^(at-command|cut|deafen|downgrade|kill|mute|partition|twice|upgrade)\b`)

func scriptOf(file string) string {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return ""
	}
	return string(archive.Comment)
}

func TestMain(m *testing.M) {
	file := os.Getenv(alone)
	if file == "" {
		os.Exit(m.Run())
	}
	if err := Calm(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	o := Options{Seed: 1}
	if os.Getenv(calmOnes) != "" && !named.MatchString(scriptOf(file)) {
		o.Replicas = 1
	}
	if os.Getenv(told) != "" {
		o.Verbose, o.Out = true, os.Stdout
	}
	report, err := Play(file, o)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if o.Verbose {
		return
	}
	fmt.Printf("%s in %s\n", report.Virtual.Round(time.Second), report.Took.Round(time.Millisecond))
}

// TestScenarios plays every scenario there is, each in a process of its own: see the package.
func TestScenarios(t *testing.T) {
	for _, dir := range folders {
		files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Errorf("no scenarios in %s: %v", dir, err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				self, err := os.Executable()
				if err != nil {
					t.Fatal(err)
				}
				child := exec.CommandContext(t.Context(), self)
				child.Env = append(os.Environ(), alone+"="+file)
				if testing.Short() {
					child.Env = append(child.Env, calmOnes+"=1")
				}
				out, err := child.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				t.Logf("%s%s of a processor", out, child.ProcessState.UserTime()+child.ProcessState.SystemTime())
			})
		}
	}
}

// The same file and seed give the same again: what each command prints, the records, and when it all happens. So many plays at
// once keep the machine busy.
func TestPlay_Again(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for file, plays := range map[string]int{
		"testdata/again-replicas.txtar": 5, "testdata/failover.txtar": 3, "testdata/faults-hosts.txtar": 3, "../../conformance/testdata/sim/fence.txtar": 3,
	} {
		var first atomic.Pointer[string]
		for n := range plays {
			t.Run(fmt.Sprint(filepath.Base(file), n), func(t *testing.T) {
				t.Parallel()
				child := exec.CommandContext(t.Context(), self)
				child.Env = append(os.Environ(), alone+"="+file, told+"=yes")
				out, err := child.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if got := string(out); !first.CompareAndSwap(nil, &got) && got != *first.Load() {
					a, b := differ(*first.Load(), got)
					t.Errorf("one play\n%s\nand another one\n%s", a, b)
				}
			})
		}
	}
}

// differ returns the first lines in which two texts differ.
func differ(a, b string) (string, string) {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i], bs[i]
		}
	}
	return "its end", "its end"
}

// play writes a scenario to a file and plays it.
func play(t *testing.T, text string, o Options) (file string, report Report, err error) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "x.txtar")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	report, err = Play(file, o)
	return file, report, err
}

// A line that fails is shown with its place, what was wanted and came, the time, and the logs of that moment.
func TestPlay_Failures(t *testing.T) {
	for _, c := range []struct {
		name, script, want string
		logged             bool // the last line of the log is part of want's place
	}{
		{"status", "as ann qsub -q nosuch -- sim 1\n", `x.txtar:1: as ann qsub -q nosuch -- sim 1
  wanted: exit status 0
  got: exit status 170
	stderr:
	qsub: Unknown queue
  time: 2005-04-22T15:00:00 UTC, 0s after the beginning`, false},
		{"no failure", "! exec qstat\n", `x.txtar:1: ! exec qstat
  wanted: an exit status other than 0
  got: exit status 0
  time: 2005-04-22T15:00:00 UTC, 0s after the beginning`, false},
		{"stdout", "as ann qsub -- sim 60\nat +60\nat 15:02:30\nstdout '^1'\n", `x.txtar:4: stdout '^1'
  wanted: stdout of qsub -- sim 60 to match ^1
  got: 0.srv
  time: 2005-04-22T15:02:30 UTC, 2m30s after the beginning
  log:
`, true},
		{"back", "clock 2010-03-01T10:00:00 Europe/Berlin\nat +60\nat 10:00:59\n", `x.txtar:3: at 10:00:59
  10:00:59 is past: it is 2010-03-01T10:01:00
  time: 2010-03-01T10:01:00 CET, 1m0s after the beginning`, false},
		{"program", "as ann qsub -- sim 60 exit=300\n", `x.txtar:1: as ann qsub -- sim 60 exit=300
  program of job 0.srv: sim 60 exit=300: exit=300 is no exit status
  time: 2005-04-22T15:00:00 UTC, 0s after the beginning`, false},
		{"settle", "as ann qsub -l walltime=1:00:00 -- sim ever\nat +1\nsettle 60\n", `x.txtar:3: settle 60
  wanted: nothing to be due within 1m0s
  got: 0.srv runs and will end
  time: 2005-04-22T15:01:01 UTC, 1m1s after the beginning`, false},
		{"cmp", "cmp a b\n-- a --\n1\n2\n3\n-- b --\n1\n4\n3\n", `x.txtar:1: cmp a b
  wanted: a to be as b
  got: from line 2 on (- wanted, + got)
	- 4
	+ 2
  time: 2005-04-22T15:00:00 UTC, 0s after the beginning`, false},
		{"file", "exec qsub /etc/passwd\n", `x.txtar:1: exec qsub /etc/passwd
  wanted: exit status 0
  got: exit status 1
	stderr:
	qsub: script file:: Open /etc/passwd: file does not exist`, false},
		{"nobody", "kill nobody\n", `x.txtar:1: kill nobody
  there is no replica and no host "nobody"`, false},
		{"capture", "exec qstat -B\ncapture X 'nosuch (.*)'\n", `x.txtar:2: capture X 'nosuch (.*)'
  wanted: stdout of qstat -B to match nosuch (.*)
  got: Server `, false},
		{"apart", "apart 60 'Mon Nov 23 11:34:13 2026' 'Mon Nov 23 11:34:14 2026'\n", `x.txtar:1: apart 60 'Mon Nov 23 11:34:13 2026' 'Mon Nov 23 11:34:14 2026'
  wanted: 60 seconds between them
  got: 1`, false},
		{"twice", "twice 0 1 qstat\n", `x.txtar:1: twice 0 1 qstat
  wanted: exit statuses 0 and 1
  got: 0 and 0`, false},
		{"json", "exec qstat -f -F json\njson '\"x\"' pbs_server\n", `x.txtar:2: json '"x"' pbs_server
  wanted: "x"
  got: "srv"`, false},
		{"reserve", "reserve A -R 1600 -D 60 -l ncpus=9\n", `x.txtar:1: reserve A -R 1600 -D 60 -l ncpus=9
  wanted: a confirmed reservation
  got: exit status 0
	stdout:
	R0.srv DENIED`, false},
		{"put off", "in 1 kill nobody\nat +2\n", `x.txtar:2: at +2
  there is no replica and no host "nobody"`, false},
		{"ambush", "ambush RevokeToken\nat +1\n", `x.txtar:1: ambush RevokeToken
  wanted: RevokeToken before the end of the scenario
  got: none`, false},
		{"at a command that does not come", "at-command RevokeToken proposed kill leader\nat +1\n", `x.txtar:1: at-command RevokeToken proposed kill leader
  wanted: RevokeToken before the end of the scenario
  got: none`, false},
		{"at a command about nobody's host", "at-command SubmitJob kill sister\nas ann qsub -- sim 1\n", `x.txtar:2: as ann qsub -- sim 1
  SubmitJob is about no job with a sister`, false},
		{"at a command of no host", "at-command JobEnded of s1 kill leader\n", `x.txtar:1: at-command JobEnded of s1 kill leader
  "s1" is no execution host`, false},
		{"nobody at a command", "at-command SubmitJob freeze nobody\nas ann qsub -- sim 1\n", `x.txtar:2: as ann qsub -- sim 1
  there is no replica and no host "nobody"`, false},
		{"disk of a mom", "stall hosta\n", `x.txtar:1: stall hosta
  "hosta" is no replica`, false},
		{"kind of writes", "stall leader tape\n", `x.txtar:1: stall leader tape
  "tape" is no kind of writes: want one of append, stable, delete, snapshot, ledger`, false},
		{"slow tape", "drag leader 1 tape\n", `x.txtar:1: drag leader 1 tape
  "tape" is no kind of writes: want one of append, stable, delete, snapshot, ledger`, false},
		{"word about a replica", "slander leader\n", `x.txtar:1: slander leader
  "s1" is no execution host`, false},
		{"build of a mom", "upgrade hosta\n", `x.txtar:1: upgrade hosta
  "hosta" is no replica`, false},
		{"the same build", "upgrade leader\n", `x.txtar:1: upgrade leader
  s1 has that build already`, false},
		{"the only one", "wreck leader\n", `x.txtar:1: wreck leader
  s1 is the only replica: nothing would be left`, false},
		{"itself", "cut hosta s1 hosta\n", `x.txtar:1: cut hosta s1 hosta
  hosta cannot be cut off from itself`, false},
		{"mom that goes on", "thaw hosta\n", `x.txtar:1: thaw hosta
  the mom of hosta is not stopped`, false},
		{"variable", "env C=qsubx\nexec $C\n", `x.txtar:2: exec $C
  there is no command "qsubx"`, false},
		{"administration", "exec rampart cluster nosuch\n", `x.txtar:1: exec rampart cluster nosuch
  wanted: exit status 0
  got: exit status 1
	stderr:
	rampart: "nosuch" is no command; see rampart help`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, _, err := play(t, c.script, Options{})
			var f *Failure
			if !errors.As(err, &f) {
				t.Fatalf("%v, want a failure", err)
			}
			got, _ := strings.CutPrefix(err.Error(), filepath.Dir(file)+"/")
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if c.logged && !strings.Contains(got[len(c.want)-1:], ";pbs_sched;Req;;Starting Scheduling Cycle\n") {
				t.Errorf("no lines of logs:\n%s", got)
			}
		})
	}
}

// What cannot be a scenario is refused with every line that is wrong, before anything runs.
func TestParse_Faults(t *testing.T) {
	_, err := parse("x", []byte(`clock 2005-04-22
clock 1999-01-01T00:00:00Z
clock 2005-04-22T15:00:00
clock 2005-04-22T15:00:00 Middle/Earth
clock 2005-04-22T15:00:00Z
clock 2005-04-22T15:00:00Z
replicas 3 far
replicas 9
host s1
host hosta ncpus
host hosta ncpus=1 /hosta[0] mem=1gb
host hostb /hosta[0]
host hosta
host $HOST
host hostd ncpus=-4
host hostd /hostd[0] mem=abc
frobnicate
qstat -f
exec qstatx
as ann
await x as ann
exit 1 as ann nosuch
at tomorrow
at +x
stdout
! at +1
!
exec qstat 'x
slow hosta x
host hostc
settle -1
stepclock s1 soon
tear s1 -4
sicken hosta flu
in 5 sicken hosta
drag s1 soon
cut hosta
at-command SubmitJob
at-command SubmitJob proposed
at-command SubmitJob proposed at +1
at-command SubmitJob slow hosta x
at-command JobEnded of hosta
-- ../x --
-- a --
-- a --
-- hostz:mom_priv/config --
-- hosta:/etc/passwd --
`))
	want := `x:1: clock: "2005-04-22" ends in no Z, and no zone stands behind it
x:2: clock: virtual time begins 2000-01-02T00:00:00Z
x:3: clock: "2005-04-22T15:00:00" ends in no Z, and no zone stands behind it
x:4: clock: there is no time zone "Middle/Earth"
x:6: clock: it was set in line 5
x:7: replicas: "far" is no class of round-trip times: lan, metro or wan
x:8: usage: replicas N [CLASS] [older], from 1 to 7
x:9: host: "s1" cannot be the name of an execution host
x:10: host: "ncpus" of hosta is not RES=VALUE
x:12: host: there is a host or vnode "hosta[0]" already
x:13: host: there is a host or vnode "hosta" already
x:14: host knows no variables
x:15: host: "ncpus=-4" of hostd: "-4" is no value of type long that a vnode can have
x:16: host: "mem=abc" of hostd[0]: "abc" is no value of type size that a vnode can have
x:17: unknown word "frobnicate"
x:18: unknown word "qstat": a command stands behind exec, or behind as USER
x:19: there is no command "qstatx"
x:20: usage: [!] as USER COMMAND [ARGUMENT...]
x:21: usage: [!] await REGEXP [as USER] COMMAND [ARGUMENT...]
x:22: there is no command "nosuch"
x:23: "tomorrow" is no time: want +SECONDS, hh:mm:ss or YYYY-MM-DDThh:mm:ss
x:24: "x" is no time: want seconds, [[HH:]MM:]SS, or a number of days such as 3d
x:25: usage: [!] stdout [-count=N] REGEXP
x:26: at cannot be negated
x:27: want a word behind the exclamation mark
x:28: a quote is not closed
x:29: "x" is no time: want seconds, [[HH:]MM:]SS, or a number of days such as 3d
x:31: "-1" is no time: want seconds, [[HH:]MM:]SS, or a number of days such as 3d
x:32: "soon" is no time: want seconds, [[HH:]MM:]SS, or a number of days such as 3d
x:33: "-4" is no number of bytes
x:34: "flu" is no illness: want one of 'no processes', 'no space', 'space at times'
x:35: usage: sicken HOST ILLNESS
x:36: "soon" is no time: want seconds, [[HH:]MM:]SS, or a number of days such as 3d
x:37: usage: cut leader|follower|NAME leader|follower|NAME...
x:38: usage: at-command COMMAND [of HOST] [proposed] WORD...
x:39: usage: at-command COMMAND [of HOST] [proposed] WORD...
x:40: "at" cannot happen at a command
x:41: "x" is no time: want seconds, [[HH:]MM:]SS, or a number of days such as 3d
x:42: usage: at-command COMMAND [of HOST] [proposed] WORD...
x:43: file "../x" leads elsewhere
x:45: there are two files "a"
x:46: file "hostz:mom_priv/config" is for the home of hostz, which is no host
x:47: file "hosta:/etc/passwd" leads elsewhere`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	_, err = parse("x", []byte("ambush Submit\n"))
	if want := `x:1: "Submit" is no command of the log; they are `; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), " SubmitJob ") {
		t.Errorf("got %v, want %s and all names", err, want)
	}
	_, err = parse("x", []byte("exec qstat\nhost hostb\n"))
	if want := "x:2: host comes before everything that happens"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"", ""},
		{"  # nothing", ""},
		{"exec  qstat\t-f # all", "exec|qstat|-f"},
		{"stdout 'a  b' 'it''s' '' x'y'z", "stdout|a  b|it's||xyz"},
		{"echo $A '$A' ${A}x a#b", "echo|1|$A|1x|a#b"},
	} {
		words, err := split(c.line)
		var got []string
		for _, w := range words {
			got = append(got, w.expand(func(string) string { return "1" }))
		}
		if err != nil || strings.Join(got, "|") != c.want {
			t.Errorf("split(%q): %q, %v, want %q", c.line, got, err, c.want)
		}
	}
}

func TestDeclared(t *testing.T) {
	for _, c := range []struct {
		lines string
		want  proc.Program
		ends  bool
		err   string
	}{
		{"sim 600 exit=3 mem=200mb cput=500", proc.Program{Runs: 10 * time.Minute, Status: 3, RSS: 200 << 20, CPU: 500. / 600}, true, ""},
		{"#!/bin/sh\necho hello\n/usr/bin/sim 1:00 term=ignore", proc.Program{Runs: time.Minute, Output: "hello\n", IgnoresTerm: true}, true, ""},
		{"sim 10 mem=1gb exit=1\nsim 20 mem=1mb", proc.Program{Runs: 30 * time.Second, RSS: 1 << 30}, true, ""},
		{"/bin/sleep 1.5", proc.Program{Runs: 1500 * time.Millisecond}, true, ""},
		{"sim 0", proc.Program{}, true, ""},
		{"/bin/true", proc.Program{}, true, ""},
		{"sim ever mem=1kb", proc.Program{Runs: forEver, RSS: 1 << 10}, false, ""},
		{"./a.out", proc.Program{Runs: forEver}, false, ""},
		{"sim", proc.Program{Runs: forEver}, false, "sim: " + errDeclaration.Error()},
		{"sim 1 mem=lots", proc.Program{Runs: forEver}, false, "sim 1 mem=lots: mem=lots is no size"},
		{"sim 1 x", proc.Program{Runs: forEver}, false, "sim 1 x: " + errDeclaration.Error()},
		{"sim ever cput=1", proc.Program{Runs: forEver}, false, "sim ever cput=1: cput is used in the time of a program, and this one has no end"},
	} {
		got, ends, err := declared(strings.Split(c.lines, "\n"))
		if text := fmt.Sprint(err); !reflect.DeepEqual(got, c.want) || ends != c.ends || c.err == "" && err != nil || c.err != "" && text != c.err {
			t.Errorf("%q: %+v, %v, %v, want %+v, %v, %q", c.lines, got, ends, err, c.want, c.ends, c.err)
		}
	}
}

// --update writes what cmp got, and leaves everything else as it is.
func TestPlay_Update(t *testing.T) {
	const text = "# A comment.\nas ann qsub -- sim 60\ncmp stdout id\ncmp other id\n-- other --\n0.srv\n-- id --\n%s-- empty --\n"
	file, report, err := play(t, fmt.Sprintf(text, "7.srv\n"), Options{Update: true})
	if err != nil || !report.Updated {
		t.Fatalf("%+v, %v", report, err)
	}
	got, err := os.ReadFile(file)
	if want := fmt.Sprintf(text, "0.srv\n"); err != nil || string(got) != want {
		t.Errorf("got\n%s%v\nwant\n%s", got, err, want)
	}
	if report, err = Play(file, Options{}); err != nil || report.Updated {
		t.Errorf("once more: %+v, %v", report, err)
	}
}

// After a line that fails nothing is written: what came may be wrong.
func TestPlay_UpdateFails(t *testing.T) {
	const text = "as ann qsub -- sim 60\ncmp stdout id\nexit 1 qstat\n-- id --\n7.srv\n"
	file, report, err := play(t, text, Options{Update: true})
	if _, failed := errors.AsType[*Failure](err); !failed || report.Updated {
		t.Errorf("%+v, %v, want a failure", report, err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("got\n%s%v\nwant it as it was", got, err)
	}
}

// Somebody who has had enough is heard while time goes on.
func TestPlay_Interrupted(t *testing.T) {
	asked := 0
	_, report, err := play(t, "at +30d\n", Options{Quit: func() bool { asked++; return asked > 10 }})
	if !errors.Is(err, ErrInterrupted) || report.Virtual > time.Hour {
		t.Errorf("%+v, %v", report, err)
	}
}

// Verbose shows each line with its time, and what came of it.
func TestPlay_Verbose(t *testing.T) {
	var out bytes.Buffer
	file, _, err := play(t, "at +5\nas ann qsub -- sim 60\nexit 153 qstat 7\n", Options{Verbose: true, Out: &out})
	want := fmt.Sprintf(`2005-04-22T15:00:00 %s:1: at +5
2005-04-22T15:00:05 %[1]s:2: as ann qsub -- sim 60
	0.srv
2005-04-22T15:00:05 %[1]s:3: exit 153 qstat 7
	qstat: Unknown Job Id 7.srv
	exit status 153
`, file)
	if err != nil || out.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, out.String(), want)
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			f.Add(string(data))
		}
	}
	f.Add("clock 2005-04-22T15:00:00Z\nhost a /a[0] ncpus=1\n! exec $X 'a\n-- a:b --\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse("x", []byte(text))
		if err != nil {
			return
		}
		for _, m := range s.hosts {
			if m.Name == "" || strings.ContainsAny(m.Name, "/ ") {
				t.Errorf("%q is the name of a host", m.Name)
			}
		}
	})
}

// The document shows the examples as they are played.
func TestDocument_ShowsTheExamples(t *testing.T) {
	page, err := os.ReadFile("../../../docs/sim.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../../docs/examples/sim/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var block strings.Builder
		for line := range strings.Lines(string(data)) {
			if line != "\n" {
				block.WriteString("    ")
			}
			block.WriteString(line)
		}
		if !strings.Contains(string(page), block.String()) {
			t.Errorf("docs/sim.md does not show %s as it is", filepath.Base(file))
		}
	}
	for word := range verbs {
		if !strings.Contains(string(page), "`"+word) {
			t.Errorf("docs/sim.md does not tell of %s", word)
		}
	}
}

// What the pbs.conf of the machine says is nothing to a scenario's cluster.
func TestSetProcess_NoConfOfTheMachine(t *testing.T) {
	t.Setenv("PBS_CONF_FILE", "/etc/site.conf")
	takeBack := setProcess(time.UTC, 1, t.TempDir())
	if got := os.Getenv("PBS_CONF_FILE"); got != os.DevNull {
		t.Errorf("daemons read %s", got)
	}
	takeBack()
	if got := os.Getenv("PBS_CONF_FILE"); got != "/etc/site.conf" {
		t.Errorf("left behind: %s", got)
	}
}
