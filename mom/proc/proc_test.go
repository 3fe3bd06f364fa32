//go:build linux

package proc

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rampart/transport/build"
)

// TestMain makes the test binary a shim, or a mom that is killed, when it is run
// under those names.
func TestMain(m *testing.M) {
	switch os.Args[0] {
	case ShimName:
		syscall.Exit(ShimMain(os.Args[1:])) // os.Exit waits a second under the race detector
	case "crashing-mom":
		os.Exit(crashingMom(os.Args[1]))
	}
	os.Exit(m.Run())
}

func newLinux(t *testing.T) *Linux {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLinux(self)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// folder is one in which shims may be writing their last when the test ends.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "shims")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			if err := os.RemoveAll(dir); err == nil {
				return
			} else if time.Now().After(end) {
				t.Errorf("remove the folder: %v", err)
				return
			}
		}
	})
	return dir
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func shell(dir, script string) Spec {
	return Spec{
		Version: specVersion, Job: "1.srv", Path: "/bin/sh", Args: []string{"-sh"}, Stdin: script,
		Env: []string{"PATH=/usr/bin:/bin", "PBS_JOBCOOKIE=" + filepath.Base(dir) + "cookie"},
		Dir: dir, Cookie: filepath.Base(dir) + "cookie",
		Stdout: filepath.Join(dir, "OU"), Stderr: filepath.Join(dir, "ER"), Umask: 0o77,
	}
}

// start runs a script and kills whatever is left of it when the test ends.
func start(t *testing.T, l *Linux, dir string, spec Spec) Handle {
	t.Helper()
	h, err := l.Start(within(t), dir, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = l.Signal(h, syscall.SIGKILL)
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := l.waitGone(ctx, h); err != nil { // it writes into a folder that is removed next
			t.Errorf("the shim is still there: %v", err)
		}
	})
	return h
}

func output(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// eventually waits for a condition and says what was last seen.
func eventually(t *testing.T, what string, cond func() (bool, string)) {
	t.Helper()
	ctx := within(t)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, seen := cond()
		if ok {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: last seen %s", what, seen)
		}
	}
}

// Output begins with its head, if there is one; of a job whose streams are one file that has both.
func TestStart_OutputBeginsWithItsHead(t *testing.T) {
	l := newLinux(t)
	for name, c := range map[string]struct{ join, inPlace bool }{"two files": {}, "one file": {join: true}, "in place": {inPlace: true}} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			spec := shell(dir, "echo out; echo err >&2\n")
			want := "welcome\nout\n"
			if spec.StdoutHead, spec.StderrHead = filepath.Join(dir, "head"), filepath.Join(dir, "none"); c.join {
				spec.Stderr, spec.StderrHead, want = spec.Stdout, "", "welcome\nout\nerr\n"
			}
			if c.inPlace {
				spec.StdoutInPlace = filepath.Join(dir, "place")
			}
			if err := os.WriteFile(spec.StdoutHead, []byte("welcome\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			end, err := l.Wait(within(t), dir, start(t, l, dir, spec))
			if err != nil || end.Status != 0 {
				t.Fatalf("end %+v, %v", end, err)
			}
			if got := output(t, cmp.Or(spec.StdoutInPlace, spec.Stdout)); got != want {
				t.Errorf("stdout %q, want %q", got, want)
			}
		})
	}
}

// A file that the owner has the program write in place has the output of all runs behind what it held before, as in a PBS.
func TestStart_OutputInPlaceOfSeveralRuns(t *testing.T) {
	l := newLinux(t)
	place := filepath.Join(folder(t), "place")
	if err := os.WriteFile(place, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for run, want := range []string{"before\nrun 0\n", "before\nrun 0\nrun 1\n"} {
		dir := folder(t)
		spec := shell(dir, fmt.Sprintf("echo run %d\n", run))
		spec.StdoutInPlace, spec.Again = place, run > 0
		end, err := l.Wait(within(t), dir, start(t, l, dir, spec))
		if err != nil || end.Status != 0 {
			t.Fatalf("end %+v, %v", end, err)
		}
		if got := output(t, place); got != want {
			t.Errorf("after run %d: %q, want %q", run, got, want)
		}
	}
}

func TestStart_RunsWritesAndExits(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	spec := shell(dir, "echo out; echo err >&2; pwd; umask; exit 5\n")
	h := start(t, l, dir, spec)
	end, err := l.Wait(within(t), dir, h)
	if err != nil || end.Status != 5 {
		t.Fatalf("end %+v, %v", end, err)
	}
	if got, want := output(t, spec.Stdout), "out\n"+dir+"\n0077\n"; got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if got := output(t, spec.Stderr); got != "err\n" {
		t.Errorf("stderr %q", got)
	}
	if h.Session == 0 || h.PID == h.Session || h.BootID != l.BootID() {
		t.Errorf("handle %+v", h)
	}
}

func TestWait_ExitStatus(t *testing.T) {
	for script, want := range map[string]int{
		"true\n": 0, "exit 255\n": 255, "kill -TERM $$\n": 256 + 15, "kill -KILL $$\n": 256 + 9,
	} {
		l, dir := newLinux(t), folder(t)
		end, err := l.Wait(within(t), dir, start(t, l, dir, shell(dir, script)))
		if err != nil || end.Status != want {
			t.Errorf("%q: %+v, %v; want %d", script, end, err, want)
		}
	}
}

func TestStart_TwiceIsOnce(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	spec := shell(dir, "echo run >>runs; sleep 0.1\n")
	h := start(t, l, dir, spec)
	again, err := newLinux(t).Start(within(t), dir, spec)
	if err != nil || again != h {
		t.Errorf("second start: %+v, %v; want %+v", again, err, h)
	}
	// A third that does not look first meets the claim itself.
	r, err := newLinux(t).launch(within(t), dir)
	if err != nil || !r.Claimed {
		t.Errorf("shim in a claimed folder: %+v, %v", r, err)
	}
	if _, err := l.Wait(within(t), dir, h); err != nil {
		t.Fatal(err)
	}
	if got := output(t, filepath.Join(dir, "runs")); got != "run\n" {
		t.Errorf("runs: %q", got)
	}
}

// A shim that is killed before it answers may have started the program.
func TestStart_ShimDiesUnheard(t *testing.T) {
	for script, begun := range map[string]bool{
		"exit 1": false,
		`echo '{"pid":'$$',"start":1,"boot_id":"b"}' >"$1/shim.json"`: true,
	} {
		dir := folder(t)
		shim := filepath.Join(dir, "shim")
		if err := os.WriteFile(shim, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := NewLinux(shim)
		if err != nil {
			t.Fatal(err)
		}
		h, err := l.Start(within(t), dir, shell(dir, ""))
		if begun != (err == nil) || begun != (h.PID != 0) {
			t.Errorf("%s: %+v, %v", script, h, err)
		}
		if !begun {
			continue
		}
		if _, err := l.Wait(within(t), dir, h); !errors.Is(err, ErrLost) {
			t.Errorf("end of a shim that was killed: %v", err)
		}
	}
}

func TestStart_ProgramOrFolderMissing(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	spec := shell(dir, "")
	spec.Path = "/no/such/program"
	end, err := l.Wait(within(t), dir, start(t, l, dir, spec))
	if err != nil || end.Status != 127 || !strings.Contains(output(t, spec.Stderr), "/no/such/program") {
		t.Errorf("missing program: %+v, %v, %q", end, err, output(t, spec.Stderr))
	}
	dir = folder(t)
	spec = shell(dir, "")
	spec.Dir = "/no/such/folder"
	_, err = l.Start(within(t), dir, spec)
	if own, ok := errors.AsType[*StartError](err); !ok || !strings.Contains(own.Reason, "/no/such/folder") {
		t.Errorf("missing folder: %v", err)
	}
}

// What the host cannot give at the moment is not the job's fault: the start fails, and may be repeated.
func TestStart_HostInWant(t *testing.T) {
	for _, c := range []struct {
		cause error
		again bool
	}{
		{syscall.EAGAIN, true},
		{syscall.ENOMEM, true},
		{&os.PathError{Op: "fork/exec", Path: "/bin/sh", Err: syscall.EMFILE}, true},
		{syscall.ENOENT, false},
		{syscall.EACCES, false},
		{syscall.E2BIG, false},
		{syscall.ENOEXEC, false},
	} {
		s := &shim{spec: Spec{Path: "/bin/sh", Dir: "/"}}
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		err = s.notExecuted(null, c.cause)
		if c.again != (err != nil) || c.again != Wanting(err) || c.again != (s.exit.Status == 0) {
			t.Errorf("%v: %v, status %d", c.cause, err, s.exit.Status)
		}
		_ = null.Close()
	}
}

// What a program that lingers leaves outside of its session lives until it is told to end; what is in the
// session ends with the program, which is told at once.
func TestLingers(t *testing.T) {
	for _, lingers := range []bool{true, false} {
		l, dir := newLinux(t), folder(t)
		spec := shell(dir, `sleep 1000 & echo $! >inside
setsid sh -c 'echo $$ >outside; exec sleep 1000' >/dev/null 2>&1 </dev/null &
while [ ! -s outside ]; do sleep 0.01; done
exit 3
`)
		spec.Lingers = lingers
		h := start(t, l, dir, spec)
		end, over, err := l.WaitFirst(within(t), dir, h)
		if err != nil || end.Status != 3 || over != lingers {
			t.Fatalf("lingers %v: %+v, over %v, %v", lingers, end, over, err)
		}
		if inside := lives(t, dir, "inside"); inside {
			t.Errorf("lingers %v: what is in the session lives", lingers)
		}
		if outside := lives(t, dir, "outside"); outside != lingers {
			t.Errorf("lingers %v: what has left the session lives: %v", lingers, outside)
		}
		if !lingers {
			continue
		}
		if again, over, err := l.WaitFirst(within(t), dir, h); err != nil || !over || again.Status != 3 {
			t.Errorf("asked again: %+v, over %v, %v", again, over, err)
		}
		if err := l.Signal(h, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if end, err := l.Wait(within(t), dir, h); err != nil || end.Status != 3 || lives(t, dir, "outside") {
			t.Errorf("after the end of all: %+v, %v", end, err)
		}
	}
}

// lives reports whether the process runs whose number is in a file.
func lives(t *testing.T, dir, file string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	p, ok := readProcess(pid)
	return ok && !p.zombie
}

func TestProve(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	if err := l.Prove(within(t), dir); err != nil {
		t.Errorf("the host is well, and cannot prove it: %v", err)
	}
	if err := l.Prove(within(t), filepath.Join(dir, "missing")); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a proof without a folder: %v", err)
	}
}

func TestSignal_ReachesTheWholeTree(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	// A child that ignores SIGTERM, and one that detaches itself twice into its own session.
	h := start(t, l, dir, shell(dir, `trap '' TERM
(setsid sh -c 'sleep 1000 & echo $! >detached; wait' >/dev/null 2>&1 &)
while [ ! -s detached ]; do sleep 0.01; done
echo ready >ready
sleep 1000
`))
	eventually(t, "the job is ready", func() (bool, string) {
		b, err := os.ReadFile(filepath.Join(dir, "ready"))
		return len(b) > 0, fmt.Sprint(err)
	})
	pid, err := strconv.Atoi(strings.TrimSpace(output(t, filepath.Join(dir, "detached"))))
	if err != nil {
		t.Fatal(err)
	}
	before, ok := readProcess(pid)
	if !ok {
		t.Fatal("the detached process does not run")
	}
	if err := l.Signal(h, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	end, err := l.Wait(within(t), dir, h)
	if err != nil || end.Status != 256+9 || end.Left != 0 {
		t.Errorf("end %+v, %v", end, err)
	}
	if now, ok := readProcess(pid); ok && now.start == before.start && !now.zombie {
		t.Error("the detached process survived")
	}
}

func TestShim_EndsWhatTheJobLeftBehind(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	h := start(t, l, dir, shell(dir, "setsid sleep 1000 >/dev/null 2>&1 & echo $! >left; exit 3\n"))
	end, err := l.Wait(within(t), dir, h)
	if err != nil || end.Status != 3 {
		t.Fatalf("end %+v, %v", end, err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(output(t, filepath.Join(dir, "left"))))
	if p, ok := readProcess(pid); ok && !p.zombie && p.start >= h.Start {
		t.Error("a process of the job survived it")
	}
}

func TestSignal_FindsJobWhoseShimWasKilled(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	h := start(t, l, dir, shell(dir, "setsid sleep 1000 >/dev/null 2>&1 & echo $! >away; sleep 1000\n"))
	eventually(t, "the child is there", func() (bool, string) {
		b, err := os.ReadFile(filepath.Join(dir, "away"))
		return len(b) > 0, fmt.Sprint(err)
	})
	if err := unix.Kill(h.PID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Wait(within(t), dir, h); !errors.Is(err, ErrLost) {
		t.Errorf("wait: %v", err)
	}
	if err := l.Signal(h, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "session and detached child are gone", func() (bool, string) {
		tab, err := readTable()
		if err != nil {
			t.Fatal(err)
		}
		alive := slices.DeleteFunc(tab.job(h), func(p process) bool { return p.zombie })
		return len(alive) == 0, fmt.Sprint(alive)
	})
}

// crashingMom starts a job and waits to be killed.
func crashingMom(dir string) int {
	self, _ := os.Executable()
	l, err := NewLinux(self)
	if err == nil {
		_, err = l.Start(context.Background(), dir, shell(dir, "read _; while [ ! -e go ]; do sleep 0.02; done; exit 7\n\n"))
	}
	fmt.Println("started", err)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

func TestShim_OutlivesTheMom(t *testing.T) {
	dir := folder(t)
	self, _ := os.Executable()
	mom := exec.Command(self, dir)
	mom.Args[0] = "crashing-mom"
	stdin, err := mom.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := mom.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := mom.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "started <nil>\n" {
		t.Fatalf("mom says %q, %v", line, err)
	}
	if err := mom.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = mom.Wait()

	l := newLinux(t)
	h, ok, err := l.Find(dir)
	if err != nil || !ok || !l.alive(h) {
		t.Fatalf("after the mom's death: %+v, %v, %v", h, ok, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if end, err := l.Wait(within(t), dir, h); err != nil || end.Status != 7 {
		t.Errorf("end %+v, %v", end, err)
	}
}

func TestUsage_WholeTree(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	h := start(t, l, dir, shell(dir, `burn() { i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; }
(burn)
(setsid sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 1000' &)
sleep 1000
`))
	eventually(t, "cpu time of the ended child and of the detached one", func() (bool, string) {
		u, err := l.Usage(h)
		if err != nil {
			t.Fatal(err)
		}
		seen := u[0]
		return seen.CPU >= 50*time.Millisecond && seen.RSS > 0 && seen.VSize > seen.RSS && seen.Processes >= 3 &&
			seen.Wall > 0 && seen.Wall < time.Minute, fmt.Sprintf("%+v", seen)
	})
	u, err := l.Usage(h, Handle{PID: 1 << 30, BootID: l.BootID()})
	if err != nil || len(u) != 2 || u[1].Processes != 0 {
		t.Errorf("usage of two: %+v, %v", u, err)
	}
	if err := l.Signal(h, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	end, err := l.Wait(within(t), dir, h)
	if err != nil || end.CPU < 50*time.Millisecond || end.Wall <= 0 || end.MaxRSS > 1<<30 {
		t.Errorf("end %+v, %v", end, err)
	}
}

func TestShim_LimitsAndNice(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	spec := shell(dir, "ulimit -n; nice\n")
	spec.Limits, spec.Nice = []Limit{{unix.RLIMIT_NOFILE, 77}}, 3
	end, err := l.Wait(within(t), dir, start(t, l, dir, spec))
	if err != nil || end.Status != 0 || output(t, spec.Stdout) != "77\n3\n" {
		t.Errorf("end %+v, %v, %q", end, err, output(t, spec.Stdout))
	}
}

// A program has its limits from its first moment on; one that does not run ends as in a shell.
func TestShim_LimitsOfPrograms(t *testing.T) {
	for _, c := range []struct {
		path   string
		args   []string
		want   string
		status int
	}{
		{"/bin/sh", []string{"sh", "-c", "ulimit -n; ulimit -f; nice"}, "77\n2\n3\n", 0},
		{"/nonexistent/program", []string{"program"}, "", 127},
		{"/etc/passwd", []string{"passwd"}, "", 126},
	} {
		l, dir := newLinux(t), folder(t)
		spec := shell(dir, "")
		spec.Path, spec.Args = c.path, c.args
		spec.Limits, spec.Nice = []Limit{{unix.RLIMIT_NOFILE, 77}, {unix.RLIMIT_FSIZE, 1024}, {unix.RLIMIT_CORE, 1 << 62}}, 3
		end, err := l.Wait(within(t), dir, start(t, l, dir, spec))
		if err != nil || end.Status != c.status || output(t, spec.Stdout) != c.want {
			t.Errorf("%s: end %+v, %v, %q", c.path, end, err, output(t, spec.Stdout))
		}
	}
}

// A limit on the address space keeps no program from being run, however much it is told in its environment.
func TestShim_LimitedAddressSpace(t *testing.T) {
	if build.Raced {
		t.Skip("the race detector needs more address space than the limit leaves")
	}
	l, dir := newLinux(t), folder(t)
	spec := shell(dir, "")
	spec.Path, spec.Args = "/bin/sh", []string{"sh", "-c", "ulimit -v; ulimit -n"}
	for i := range 1500 {
		spec.Env = append(spec.Env, fmt.Sprintf("LONG%d=%s", i, strings.Repeat("x", 1000)))
	}
	spec.Limits = []Limit{{unix.RLIMIT_AS, 64 << 20}, {unix.RLIMIT_NOFILE, 77}}
	end, err := l.Wait(within(t), dir, start(t, l, dir, spec))
	if want := "65536\n77\n"; err != nil || end.Status != 0 || output(t, spec.Stdout) != want {
		t.Errorf("end %+v, %v, %q, want %q, %s", end, err, output(t, spec.Stdout), want, output(t, spec.Stderr))
	}
}

// A program with a limit on its address space may have as many files open as one without.
func TestShim_LimitedAddressSpaceOpenFiles(t *testing.T) {
	if build.Raced {
		t.Skip("the race detector needs more address space than the limit leaves")
	}
	var said []string
	for _, limits := range [][]Limit{nil, {{unix.RLIMIT_AS, 64 << 20}}} {
		l, dir := newLinux(t), folder(t)
		spec := shell(dir, "ulimit -Sn\n")
		spec.Limits = limits
		end, err := l.Wait(within(t), dir, start(t, l, dir, spec))
		if err != nil || end.Status != 0 {
			t.Fatalf("end %+v, %v, %s", end, err, output(t, spec.Stderr))
		}
		said = append(said, output(t, spec.Stdout))
	}
	if said[0] != said[1] || said[0] == "" {
		t.Errorf("open files: %q", said)
	}
}

// A favoured mom has shims that are, and jobs that are not.
func TestShim_FavouredMom(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread ends with its priority
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, -5); err != nil {
		t.Skip("only root may favour a process")
	}
	for nice, want := range map[int]string{0: "0\n", 7: "7\n"} {
		l, dir := newLinux(t), folder(t)
		spec := shell(dir, "nice\n")
		spec.Nice = nice
		h, err := l.Start(t.Context(), dir, spec)
		if err != nil {
			t.Fatal(err)
		}
		if end, err := l.Wait(within(t), dir, h); err != nil || end.Status != 0 || output(t, spec.Stdout) != want {
			t.Errorf("nice %d: end %+v, %v, %q", nice, end, err, output(t, spec.Stdout))
		}
	}
}

func TestParseStat_NameWithParentheses(t *testing.T) {
	p, ok := parseStat(42, "42 (a) b (c)) S 1 42 40 0 -1 4194304 100 0 0 0 3 4 5 6 20 0 1 0 777 4096000 10 18446744073709551615")
	want := process{
		pid: 42, ppid: 1, session: 40, start: 777, cpu: 70 * time.Millisecond, reaped: 110 * time.Millisecond,
		vsize: 4096000, rss: 10 * int64(os.Getpagesize()),
	}
	if !ok || p != want {
		t.Errorf("got %+v, %v", p, ok)
	}
	if _, ok := parseStat(1, "1 (short) S 1"); ok {
		t.Error("a short line was read")
	}
}

func TestMove_RepeatsAndTargets(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	src, folder := filepath.Join(dir, "1.srv.OU"), filepath.Join(dir, "out")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{filepath.Join(folder, "job.o1"), folder, folder + "/", os.DevNull} {
		if err := os.WriteFile(src, []byte("text"), 0o640); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second finds nothing to move
			if err := l.Move(nil, src, target, "named.o1"); err != nil {
				t.Errorf("move to %s: %v", target, err)
			}
		}
		if _, err := os.Stat(src); err == nil {
			t.Errorf("move to %s left the source", target)
		}
	}
	for _, name := range []string{"job.o1", "named.o1"} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil || info.Mode().Perm() != 0o640 || output(t, filepath.Join(folder, name)) != "text" {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Error("the null device was replaced")
	}
	if err := os.WriteFile(src, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Move(nil, src, filepath.Join(dir, "missing", "f"), "n"); err == nil {
		t.Error("moved into a folder that is not there")
	}
	if _, err := os.Stat(src); err != nil {
		t.Errorf("the source of a failed move: %v", err)
	}
}

// In a folder like /tmp another's file can be written but not replaced.
func TestMove_OverFileOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	dir, err := os.MkdirTemp("/tmp", "proc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	src, target := filepath.Join(folder(t), "1.srv.OU"), filepath.Join(dir, "o1")
	err = errors.Join(os.Chmod(dir, 0o777|os.ModeSticky), os.WriteFile(src, []byte("text"), 0o600),
		os.WriteFile(target, []byte("what was there"), 0o600), os.Chmod(target, 0o666), os.Chown(target, 54321, 54321))
	if err != nil {
		t.Fatal(err)
	}
	if err := newLinux(t).Move(&Owner{UID: 12345, GID: 23456}, src, target, "o1"); err != nil {
		t.Fatal(err)
	}
	if got := output(t, target); got != "text" {
		t.Errorf("delivered %q", got)
	}
}

func TestOwner_RunsAndWritesAsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	l := newLinux(t)
	dir, err := os.MkdirTemp("/tmp", "proc") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	owner := &Owner{UID: 12345, GID: 23456, Groups: []uint32{23456, 34567}}
	home := filepath.Join(dir, "home")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, 12345, 23456)); err != nil {
		t.Fatal(err)
	}
	spec := shell(dir, "id -u; id -g; id -G; echo x >mine; cat "+dir+"/spec.json 2>/dev/null || echo closed\n")
	spec.Owner, spec.Dir = owner, home
	end, err := l.Wait(within(t), dir, start(t, l, dir, spec))
	if err != nil || end.Status != 0 {
		t.Fatalf("end %+v, %v, %q", end, err, output(t, spec.Stderr))
	}
	if got := output(t, spec.Stdout); got != "12345\n23456\n23456 34567\nclosed\n" {
		t.Errorf("ids: %q", got)
	}
	if err := l.Move(owner, spec.Stdout, filepath.Join(home, "o1"), "o1"); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(filepath.Join(home, "o1"), &st); err != nil || st.Uid != 12345 || st.Gid != 23456 {
		t.Errorf("delivered file: uid %d gid %d, %v", st.Uid, st.Gid, err)
	}
	secret := filepath.Join(dir, "secret")
	if err := os.Mkdir(secret, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := l.Move(owner, spec.Stderr, filepath.Join(secret, "e1"), "e1"); !errors.Is(err, os.ErrPermission) {
		t.Errorf("moved into a folder of root: %v", err)
	}
	if err := l.MakeDir(owner, filepath.Join(home, "tmp")); err != nil {
		t.Error(err)
	}
	if err := l.MakeDir(owner, secret); err == nil {
		t.Error("took a folder of somebody else")
	}
	if err := l.RemoveDir(owner, filepath.Join(home, "tmp")); err != nil {
		t.Error(err)
	}
	if os.Geteuid() != 0 {
		t.Error("the process lost its rights")
	}
}
