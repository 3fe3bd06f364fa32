package mom

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/mom/proc"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// TestMain makes the test binary a shim when it is run as one.
func TestMain(m *testing.M) {
	switch os.Args[0] {
	case proc.ShimName:
		syscall.Exit(proc.ShimMain(os.Args[1:])) // os.Exit waits a second under the race detector
	case stoppableMom:
		os.Exit(runStoppable(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// real is a mom with real processes, outside of any bubble.
type real struct {
	*world
	tmp string
}

// owner is a user that needs no entry in the host's database.
type owner struct{ home string }

func (o owner) ByUID(context.Context, uint32) (transport.Account, error) {
	a := transport.Account{Name: "ann", UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Home: o.home, Shell: "/bin/bash"}
	if os.Getuid() == 0 {
		a.UID, a.GID, a.Groups, a.GIDs = 12345, 23456, []string{"users"}, []uint32{23456}
	}
	return a, nil
}

func (o owner) ByName(ctx context.Context, _ string) (transport.Account, error) {
	return o.ByUID(ctx, 0)
}

func newReal(t *testing.T) *real {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "mom") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	home, user, tmp := filepath.Join(dir, "pbs"), filepath.Join(dir, "ann"), filepath.Join(dir, "tmp")
	for _, d := range []string{home, user, tmp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(tmp, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := errors.Join(os.Chmod(user, 0o700), os.Chown(user, 12345, 23456)); err != nil {
			t.Fatal(err)
		}
	}
	r := &real{&world{
		t: t, home: home, user: user, term: 1,
		servers: &servers{epoch: 7, scripts: map[string]string{}, acked: map[string]uint64{}, refusals: map[string]bool{}},
	}, tmp}
	_, handler := apiconnect.NewReportHandler(r.servers)
	if err := r.configure(direct{handler}, "http://servers"); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *real) configure(servers http.RoundTripper, url string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	system, err := proc.NewLinux(self)
	if err != nil {
		return err
	}
	r.config = Config{
		Host: "hosta", Home: r.home, Address: "10.0.0.1:15002", Adopt: true, TmpDir: r.tmp,
		Reporter: apiconnect.NewReportClient(&http.Client{Transport: servers}, url),
		System:   system, Accounts: owner{r.user}, Probe: Probe,
		SwitchUser: os.Getuid() == 0, SelfUID: uint32(os.Getuid()),
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), PID: os.Getpid(),
	}
	return nil
}

// up starts a mom and waits until it obeys.
func (r *real) up() {
	r.t.Helper()
	m, err := New(r.config)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	r.mom, r.down = m, func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("run: %v", err)
		}
		r.down = func() {}
	}
	r.t.Cleanup(func() { r.down() })
	r.until("the mom obeys", func() bool {
		_, err := r.tryDeliver(r.term, 0)
		return err == nil
	})
}

func (r *real) order(orders ...*api.Order) {
	r.t.Helper()
	reply, err := r.tryDeliver(r.term, 0, orders...)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, a := range reply.GetAnswers() {
		if a.GetRefusal() != nil {
			r.t.Fatalf("refused: %v", a)
		}
	}
}

// until waits for a condition with a deadline.
func (r *real) until(what string, cond func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	await(ctx, cond)
	if !cond() {
		r.t.Fatalf("%s: not in time; log:\n%s", what, r.log())
	}
}

func (r *real) untilTold(job string, words ...string) {
	r.t.Helper()
	r.until(job+" "+strings.Join(words, ", "), func() bool { return slices.Equal(r.servers.told(job), words) })
}

func (r *real) output(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.user, name))
	if err != nil {
		r.t.Error(err)
	}
	return string(b)
}

func TestReal_ScriptsOfAllKinds(t *testing.T) {
	r := newReal(t)
	r.up()
	attr := func(name, value string) *api.Attribute { return &api.Attribute{Name: name, Value: value} }
	r.order(
		r.run("1.srv", "echo $PBS_JOBID $0; pwd; cat $PBS_NODEFILE; echo x >$TMPDIR/f && echo tmp; exit 5\n"), // no first line
		r.run("2.srv", "#!/bin/sh\necho args $#; echo err >&2\n", attr("Join_Path", "oe")),
		r.run("3.srv", "#!/usr/bin/awk -f\nBEGIN { print \"awk\"; exit 3 }\n"),
		r.run("4.srv", "echo from $0\n", attr("Shell_Path_List", "/bin/sh")),
	)
	direct := r.run("5.srv", "", attr("executable", "<jsdl-hpcpa:Executable>printf</jsdl-hpcpa:Executable>"),
		attr("argument_list", "<jsdl-hpcpa:Argument>[%s]</jsdl-hpcpa:Argument><jsdl-hpcpa:Argument>a  b</jsdl-hpcpa:Argument>"))
	r.order(direct)
	for job, status := range map[string]string{"1": "5", "2": "0", "3": "3", "4": "0", "5": "0"} {
		r.untilTold(job+".srv", "1 started", "1 ended "+status)
	}
	script := filepath.Join(r.home, "mom_priv", "jobs", "1.srv@1", "1.srv.SC")
	if got, want := r.output("work.o1"), "1.srv "+script+"\n"+r.user+"\nhosta\ntmp\n"; got != want {
		t.Errorf("1: %q, want %q", got, want)
	}
	for name, want := range map[string]string{
		"work.o2": "args 0\nerr\n", "work.o3": "awk\n", "work.o5": "[a  b]", "work.e1": "",
	} {
		if got := r.output(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	r.until("TMPDIR to be removed", func() bool {
		_, err := os.Stat(filepath.Join(r.tmp, "pbs.1.srv"))
		return errors.Is(err, fs.ErrNotExist)
	})
}

func TestReal_KillReachesTheTrap(t *testing.T) {
	r := newReal(t)
	r.up()
	r.order(
		r.run("1.srv", "trap 'echo cleaning up; exit 9' TERM\necho ready >"+r.user+"/ready1\nwhile :; do sleep 0.05; done\n"),
		r.run("2.srv", "trap '' TERM\necho ready >"+r.user+"/ready2\nwhile :; do sleep 0.05; done\n"),
	)
	r.until("both are ready", func() bool {
		_, a := os.Stat(filepath.Join(r.user, "ready1"))
		_, b := os.Stat(filepath.Join(r.user, "ready2"))
		return a == nil && b == nil
	})
	r.order(r.kill("1.srv", 20*time.Second, false), r.kill("2.srv", 200*time.Millisecond, false))
	r.untilTold("1.srv", "1 started", "1 ended 9")
	r.untilTold("2.srv", "1 started", "1 ended 265")
	if got := r.output("work.o1"); got != "cleaning up\n" {
		t.Errorf("output %q", got)
	}
}

func TestReal_RestartUnderRunningJobs(t *testing.T) {
	r := newReal(t)
	r.up()
	wait := func(n string) string {
		return "echo ready >" + r.user + "/ready" + n + "\nwhile [ ! -e " + r.user + "/go" + n + " ]; do sleep 0.02; done\nexit 1" + n + "\n"
	}
	r.order(r.run("1.srv", wait("1")), r.run("2.srv", wait("2")))
	r.untilTold("1.srv", "1 started")
	r.untilTold("2.srv", "1 started")
	r.down()
	release := func(n string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(r.user, "go"+n), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	release("1")
	r.until("the first job has ended unseen", func() bool {
		_, err := os.Stat(filepath.Join(r.home, "mom_priv", "jobs", "1.srv@1", "exit.json"))
		return err == nil
	})
	r.up()
	r.untilTold("1.srv", "1 started", "1 ended 11")
	release("2")
	r.untilTold("2.srv", "1 started", "1 ended 12")
	if b, err := os.ReadFile(filepath.Join(r.home, "mom_priv", "mom.lock")); err != nil || len(b) == 0 {
		t.Errorf("mom.lock: %q, %v", b, err)
	}
}

// TestReal_SquattedTmpDir: a folder that somebody else has made in advance where TMPDIR is to be
// is put aside, and the log names him.
func TestReal_SquattedTmpDir(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	r := newReal(t)
	squat := filepath.Join(r.tmp, "pbs.1.srv")
	if err := errors.Join(os.Mkdir(squat, 0o755), os.Chown(squat, 54321, 54321)); err != nil {
		t.Fatal(err)
	}
	r.up()
	r.order(r.run("1.srv", "stat -c '%u %a' $TMPDIR; echo x >$TMPDIR/f && echo written\n"))
	r.untilTold("1.srv", "1 started", "1 ended 0")
	if got := r.output("work.o1"); got != "12345 700\nwritten\n" {
		t.Errorf("the job said %q", got)
	}
	if !strings.Contains(r.log(), "1.srv;"+squat+" was taken by uid 54321 before the job started") {
		t.Errorf("log:\n%s", r.log())
	}
}

func TestReal_WalltimeKilled(t *testing.T) {
	r := newReal(t)
	r.up()
	r.order(r.run("1.srv", "sleep 100\n", &api.Attribute{Name: "Resource_List", Resource: "walltime", Value: "1"}))
	r.untilTold("1.srv", "1 started", "1 ended -29")
	if got := r.output("work.e1"); !regexp.MustCompile(`=>> PBS: job killed: walltime [0-9]+ exceeded limit 1\n`).MatchString(got) {
		t.Errorf("stderr %q", got)
	}
}

func TestReal_StopKillsJobs(t *testing.T) {
	r := newReal(t)
	r.up()
	r.order(r.run("1.srv", "sleep 1000\n"))
	r.untilTold("1.srv", "1 started")
	r.mom.Stop(true)
	r.untilTold("1.srv", "1 started", "1 lost -4")
	r.down()
}
