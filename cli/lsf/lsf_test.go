package lsf

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// testSession is a session that asks nobody, in a folder with an lsf.conf.
func testSession(out io.Writer, environ ...string) *session {
	files := fstest.MapFS{"etc/lsf.conf": {Data: []byte("# site\nLSF_UNIT_FOR_LIMITS = GB\n")}}
	return &session{command: bsub(), env: &cli.Env{
		Stdout: out, Stderr: out, Zone: time.UTC,
		Environ: func() []string { return environ },
		Getwd:   func() (string, error) { return "/home/ann/work", nil },
		Open:    func(name string) (fs.File, error) { return files.Open(strings.TrimPrefix(name, "/")) },
		Terminal: func() bool {
			return false
		},
	}}
}

func jobOf(name string, attributes ...string) job {
	o := &api.Object{Name: name}
	for i := 0; i < len(attributes); i += 2 {
		n, r, _ := strings.Cut(attributes[i], ".")
		o.Attributes = append(o.Attributes, &api.Attribute{Name: n, Resource: r, Value: attributes[i+1]})
	}
	return newJob(o)
}

func TestRunLimit(t *testing.T) {
	for text, want := range map[string]int64{"10": 600, "1:30": 5400, "0.5": 30, "100": 6000, "2:00": 7200} {
		if got, err := runLimit("W", text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1:60", "x", "1:x", "10/hosta", "0:0", "1e99"} {
		if got, err := runLimit("W", text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestMemory(t *testing.T) {
	sub := &submission{session: testSession(io.Discard)}
	there := &submission{session: testSession(io.Discard, "LSF_ENVDIR=/etc")}
	nowhere := &submission{session: testSession(io.Discard, "LSF_ENVDIR=/none")}
	for _, c := range []struct {
		s    *submission
		text string
		want int64
	}{
		{sub, "5", 5 << 20}, {there, "5", 5 << 20}, {nowhere, "5", 5}, {sub, "5M", 5 << 10}, {sub, "1.5gb", 3 << 19}, {sub, "7KB", 7},
	} {
		if got, err := c.s.memory(c.text); err != nil || got != c.want {
			t.Errorf("%s: %d, %v, want %d", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "M", "0", "-5M", "5X", "5MM", "1e30T", "nan"} {
		if got, err := sub.memory(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// attributesOf plays the options of a command line.
func attributesOf(t *testing.T, args ...string) (map[string]string, *submission, error) {
	t.Helper()
	s := &submission{session: testSession(io.Discard, "HOME=/home/ann", "PATH=/bin", "A=x,y", "LSB_JOBID=3", "_=/bin/bsub")}
	line := s.command.Grammar.Parse(args)
	if len(line.Faults) > 0 {
		t.Fatalf("%q: %q", args, line.Faults)
	}
	err := s.read(t.Context(), cli.OptionsOf(line))
	all := map[string]string{}
	for _, a := range s.attributes {
		all[strings.TrimSuffix(a.Name+"."+a.Resource, ".")] = a.Value
	}
	return all, s, err
}

func TestSubmission(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string // name, value
	}{
		{"sleep|10", []string{
			"Job_Name", "sleep_10", "Resource_List.ncpus", "1", "lsf_resreq", "select[type==any]", "Rerunable", "False", "Join_Path", "oe", "sandbox", "O_WORKDIR",
			"argument_list", pbs.Wrap(pbs.Argument, "-c", "sleep 10"), "executable", pbs.Wrap(pbs.Executable, "/bin/sh"),
			"Variable_List", `PBS_O_HOME=/home/ann,PBS_O_PATH=/bin,PBS_O_WORKDIR=/home/ann/work,PBS_O_SYSTEM=Linux,HOME=/home/ann,PATH=/bin,A=x\,y`,
		}},
		{"-n|4|-R|span[ptile=2]|-W|5|-M|2M|-x|-m|h1|true", []string{
			"Resource_List.ncpus", "4", "lsf_resreq", "span[ptile=2]", "Resource_List.walltime", "300", "Resource_List.pmem", "2048kb",
			"Resource_List.place", "exclhost", "Resource_List.host", "h1",
		}},
		{"-J|a[1-9:2]%3|-o|out/%J.%I|-e|/tmp/e%%|-r|true", []string{
			"Job_Name", "a", "array_indices_submitted", "1-9:2", "max_run_subjobs", "3",
			"Output_Path", "/home/ann/work/out/^job_number^.^array_index^", "Error_Path", "/tmp/e%", "Join_Path", "", "Rerunable", "True",
		}},
		{"-m|a+1 ~b others|true", []string{"Resource_List.host", "a+1,~b,others"}},
		{"-J|[1-2]|true", []string{"Job_Name", "true", "array_indices_submitted", "1-2", "Rerunable", ""}},
		{"-o|%J.%I|-H|-N|-B|-u|bob|-P|p|-sp|7|true", []string{"Output_Path", "/home/ann/work/^job_number^.0", "Hold_Types", "u", "Mail_Points", "be", "Mail_Users", "bob", "project", "p", "Priority", "7"}},
		{"-env|none,B=2,HOME|-cwd|sub|true", []string{"Variable_List", "PBS_O_HOME=/home/ann,PBS_O_PATH=/bin,PBS_O_WORKDIR=/home/ann/work/sub,PBS_O_SYSTEM=Linux,B=2,HOME=/home/ann"}},
		{"-i|it's|cat", []string{"argument_list", pbs.Wrap(pbs.Argument, "-c", "exec < 'it'\\''s'\ncat"), "Job_Name", "cat"}},
	} {
		got, _, err := attributesOf(t, strings.Split(c.args, "|")...)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		for i := 0; i < len(c.want); i += 2 {
			if got[c.want[i]] != c.want[i+1] {
				t.Errorf("%s: %s = %q, want %q", c.args, c.want[i], got[c.want[i]], c.want[i+1])
			}
		}
	}
	for _, args := range []string{
		"-n|0|true", "-n|x|true", "-n|2,1|true", "-R||true", "-m||true", "-m|a,b|true", "-m|!a b|true", "-m|a@c|true", "-J|a b|true", "-J|a[1,,3]|true", "-J|a[3-1]|true", "-J|a[0-3]|true",
		"-J|a[1-3|true", "-J|a[1-3]%0|true", "-q|a b|true", "-sp|0|true", "-o||true", "-i|in.%J|true", "-w|done(1)|| done(2)|true", "-We|x|true", "-I|true",
	} {
		words := strings.Split(strings.ReplaceAll(args, "|| ", "\x00"), "|")
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "\x00", "|| ")
		}
		if got, _, err := attributesOf(t, words...); err == nil {
			t.Errorf("%s: %v", args, got)
		}
	}
}

func TestDependShown(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"afterok:12.srv@srv":                 "done(12)",
		"afterany:1[].srv:2.srv,after:3.srv": "ended(1) && ended(2) && started(3)",
		"afternotok:7.srv,beforeok:9.srv":    "exit(7)",
		"on:2":                               "on:2",
		"singleton":                          "singleton",
	} {
		if got := dependShown(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestJob(t *testing.T) {
	j := jobOf("12[3].srv", "Job_Owner", "ann@hosta", "job_state", "R", "Job_Name", "sleep_1", "array_index", "3", "executable", pbs.Wrap(pbs.Executable, "/bin/sh"),
		"argument_list", pbs.Wrap(pbs.Argument, "-c", "sleep 1"), "exec_host", "hosta/0*2+hostb/1+hosta/2", "exec_vnode", "(hosta:ncpus=2)+(hostb:ncpus=1)+(hosta[1]:ncpus=1)")
	if j.id != "12[3]" || j.user != "ann" || j.state != "RUN" || j.name() != "sleep 1[3]" || j.named() || j.command() != "sleep 1" || shown(j.shares(), " ") != "3*hosta hostb" {
		t.Errorf("%q %q %q %q %v %q %q", j.id, j.user, j.state, j.name(), j.named(), j.command(), shown(j.shares(), " "))
	}
	j = jobOf("12.srv", "Job_Name", "work", "executable", "/bin/echo", "argument_list", "a b")
	if j.name() != "work" || !j.named() || j.command() != "/bin/echo a b" || !matchesName("wo*", j) || matchesName("w", j) || !matchesName("work", j) {
		t.Errorf("%q %v %q", j.name(), j.named(), j.command())
	}
	for exit, want := range map[int]int{0: 0, 3: 3, 256 + 9: 137, 256 + 15: 143, -1: 255, 255: 255} {
		if got := shellStatus(exit); got != want {
			t.Errorf("exit status %d is %d to a shell, want %d", exit, got, want)
		}
	}
	if got := exitWords(jobOf("1.srv", "Exit_status", "271")); got != "Exited by signal 15" {
		t.Error(got)
	}
	if got := counted(futureShares(jobOf("1.srv", "estimated.exec_vnode", "(qat25:ncpus=2)+(qat24:ncpus=2)+(qat26:ncpus=2)")), " "); got != "2*qat25 2*qat24 2*qat26" {
		t.Error(got)
	}
}

func TestFormat(t *testing.T) {
	out := new(bytes.Buffer)
	v := &jobsView{session: testSession(out), out: bufio.NewWriter(out), header: true}
	j := jobOf("12.srv", "Job_Owner", "ann@h", "job_state", "Q", "Job_Name", "a-name-that-is-long", "Resource_List.walltime", "01:00:00")
	for _, c := range []struct{ text, want string }{
		{"jobid stat", "JOBID   STAT \n12      PEND \n"},
		{"ID:-5 name:8", "JOBID JOB_NAME\n   12 *is-long\n"},
		{"jobid exec_host rtl delimiter='^'", "JOBID^EXEC_HOST^RUNTIMELIMIT\n12^-^60.0\n"},
		{"slots time_left exclusive app sla description delimiter='^'", "SLOTS^TIME_LEFT^EXCLUSIVE^APPLICATION^SERVICE_CLASS^JOB_DESCRIPTION\n1^-^N^-^-^-\n"},
	} {
		f, err := parseFormat(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		out.Reset()
		f.begin(v)
		f.row(v, j)
		_ = v.out.Flush()
		if got := out.String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	for _, text := range []string{"", "nosuch", "jobid:x", "jobid:0", "jobid:99999", "jobid delimiter=''", "jobid delimiter='ab'"} {
		if _, err := parseFormat(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	names := map[string]bool{}
	for _, x := range fields {
		if names[x.name] || x.width <= 0 {
			t.Errorf("field %s", x.name)
		}
		names[x.name] = true
	}
}

// What scripts ask for of a job that runs.
func TestFields_Running(t *testing.T) {
	out := new(bytes.Buffer)
	v := &jobsView{session: testSession(out), out: bufio.NewWriter(out)}
	j := jobOf("12.srv", "job_state", "R", "substate", "42", "ctime", "1000", "stime", "1090", "exec_host", "hosta/0*2", "exec_vnode", "(hosta:ncpus=2)",
		"Resource_List.ncpus", "2", "Resource_List.walltime", "02:00:00", "Resource_List.place", "free:exclhost", "resources_used.walltime", "00:30:00",
		"resources_used.cput", "00:15:00", "resources_used.mem", "2048kb", "resources_used.vmem", "4096kb", "Variable_List", "PBS_O_WORKDIR=/w,A=b", "lsf_app", "fluent")
	for name, want := range map[string]string{
		"slots": "2", "min_req_proc": "2", "max_req_proc": "2", "pend_time": "90", "time_left": "1:30 L", "%complete": "25.00% L", "idle_factor": "0.50",
		"max_mem": "2 Mbytes", "swap": "4 Mbytes", "exclusive": "Y", "sub_cwd": "/w", "application": "fluent", "user_group": "", "specified_start_time": "",
	} {
		i := slices.IndexFunc(fields, func(x field) bool { return x.name == name })
		if i < 0 {
			t.Errorf("no field %s", name)
		} else if got := fields[i].of(v, j); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add("jobid:-5 stat delimiter='|'")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := parseFormat(text)
		if err == nil && len(x.columns) == 0 {
			t.Errorf("%q has no columns", text)
		}
	})
}

func FuzzNameOf(f *testing.F) {
	f.Add("echo 'a b' | wc")
	f.Fuzz(func(t *testing.T, line string) {
		if line != "" && !strings.Contains(line, "\x00") {
			got := pbs.Unwrap(pbs.Argument, pbs.Wrap(pbs.Argument, "-c", line))
			if strings.ToValidUTF8(line, "") == line && (len(got) != 2 || got[1] != line) {
				t.Errorf("%q is read as %q", line, got)
			}
			if name := nameOf(line); strings.ContainsAny(name, " \n/") {
				t.Errorf("%q is named %q", line, name)
			}
		}
	})
}

// The long form breaks its lines as LSF does, and -UF does not.
func TestLine(t *testing.T) {
	out := new(bytes.Buffer)
	v := &jobsView{session: testSession(out), out: bufio.NewWriter(out)}
	v.line(strings.Repeat("x", 79+58+1))
	_ = v.out.Flush()
	blank := strings.Repeat(" ", 21)
	if want := strings.Repeat("x", 79) + "\n" + blank + strings.Repeat("x", 58) + "\n" + blank + "x\n"; out.String() != want {
		t.Errorf("%q", out)
	}
}

// The begin time is the next such one; where a year is said, that very one, and what no calendar has is refused.
func TestBeginTime(t *testing.T) {
	now := time.Date(2026, 1, 31, 15, 4, 5, 0, time.UTC)
	for text, want := range map[string]string{
		"15:05": "2026-01-31 15:05", "15:04": "2026-02-01 15:04", "0:00": "2026-02-01 00:00", "31:16:00": "2026-01-31 16:00",
		"31:15:00": "2026-03-31 15:00", "2:10:30": "2026-02-02 10:30", "12:24:18:00": "2026-12-24 18:00", "1:1:0:0": "2027-01-01 00:00",
		"2:29:12:00": "2028-02-29 12:00", "2025:12:24:18:00": "2025-12-24 18:00",
	} {
		if got, err := beginTime(text, now); err != nil || got.Format("2006-01-02 15:04") != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "15", "24:00", "12:60", "-1:00", "a:b", "32:1:00", "2:30:1:00", "13:1:1:00", "2026:2:29:1:00", "1:2026:2:28:1:00", "1:00:"} {
		if got, err := beginTime(text, now); err == nil {
			t.Errorf("%s is %s", text, got)
		}
	}
}

// TestRedirection: of an interactive job the files of its output are the shell's affair, and bjobs shows the command without them.
func TestRedirection(t *testing.T) {
	sub := &submission{session: testSession(io.Discard), line: "make it", input: "in's"}
	sub.set("Output_Path", "", "/home/ann/out.^job_number^")
	if err := sub.redirect(); err != nil || sub.line != "exec < 'in'\\''s'\nmake it" {
		t.Errorf("%q, %v", sub.line, err)
	}
	sub = &submission{session: testSession(io.Discard), line: "make it", console: struct{ cli.Console }{}}
	sub.set("Output_Path", "", "/home/ann/out.^job_number^")
	sub.set("Error_Path", "", "/home/ann/err")
	if err := sub.redirect(); err != nil || sub.line != "exec > '/home/ann/out.'\"$LSB_JOBID\"'' 2> '/home/ann/err'\nmake it" {
		t.Errorf("%q, %v", sub.line, err)
	}
	j := jobOf("1.srv", "executable", pbs.Wrap(pbs.Executable, shell), "argument_list", pbs.Wrap(pbs.Argument, "-c", sub.line))
	if j.commandLine() != "make it" {
		t.Errorf("the command is %q", j.commandLine())
	}
}
