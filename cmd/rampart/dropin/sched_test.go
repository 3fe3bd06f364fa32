package dropin

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/cmd/rampart/home"
	"rampart/fsm/attr"
	"rampart/transport/daylog"
)

// A fakeServer holds attributes, unless it is away.
type fakeServer struct {
	all  map[string]string
	away bool
}

var errAway = errors.New("away")

func (f *fakeServer) attributes(context.Context) (map[string]string, error) {
	if f.away {
		return nil, errAway
	}
	return maps.Clone(f.all), nil
}

func (f *fakeServer) set(_ context.Context, name, value string) error {
	def, _ := attr.Lookup(attr.Sched, name)
	if value == "" {
		delete(f.all, name)
		return nil
	}
	canonical, err := def.Parse(value)
	if err != nil {
		return errors.Join(errRefused, err)
	}
	f.all[name] = canonical
	return nil
}

func (*fakeServer) close() {}

// schedHost is a pbs_sched with the files that are installed, and its log.
func schedHost(t *testing.T) (s *scheduler, f *fakeServer, log func() string) {
	t.Helper()
	exec, h := t.TempDir(), home.Home(t.TempDir())
	t.Setenv("PBS_EXEC", exec)
	t.Setenv("PBS_CONF_FILE", filepath.Join(exec, "none"))
	if err := os.CopyFS(filepath.Join(exec, "etc"), os.DirFS(filepath.Join("..", "home", "etc"))); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(h.SchedPriv(), 0o755); err != nil {
		t.Fatal(err)
	}
	f = &fakeServer{all: map[string]string{"state": "scheduling", "preempt_order": "SC"}}
	s = &scheduler{call: &call{home: h}, name: "default", priv: h.SchedPriv(), log: newJournal(h.SchedLogs(), "pbs_sched", "Sched", daylog.SchedMask), server: f}
	t.Cleanup(func() { _ = s.log.Close() })
	return s, f, func() string {
		files, _ := filepath.Glob(filepath.Join(h.SchedLogs(), "*"))
		text := ""
		for _, file := range files {
			more, _ := os.ReadFile(file)
			text += string(more)
		}
		return text
	}
}

func (s *scheduler) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(s.path(configFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestScheduler_TakesWhatWasChanged: a file as it was installed, or as it was taken over, is no
// wish at a start; one that was edited is, and SIGHUP makes it one.
func TestScheduler_TakesWhatWasChanged(t *testing.T) {
	s, f, log := schedHost(t)
	f.all["strict_ordering"] = "True" // by qmgr
	s.begin(t.Context())
	if f.all["strict_ordering"] != "True" || strings.Contains(log(), "strict_ordering") {
		t.Errorf("the installed file was taken over: %v\n%s", f.all, log())
	}
	installed, err := os.ReadFile(s.path(configFile))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "# from an earlier version\n\n"+string(installed))
	s.begin(t.Context())
	if f.all["strict_ordering"] != "True" || f.all["resources"] != "" {
		t.Errorf("a file with other comments was taken over: %v", f.all)
	}
	s.reconfigure(t.Context())
	if f.all["strict_ordering"] != "False" || !strings.Contains(log(), ";0040;pbs_sched;Sched;reconfigure;strict_ordering = false (was True)\n") {
		t.Errorf("SIGHUP: %v\n%s", f.all, log())
	}
	f.all["strict_ordering"] = "True"
	s.begin(t.Context())
	if f.all["strict_ordering"] != "True" {
		t.Error("a file that was taken over before was taken over again")
	}
	s.write(t, "by_queue: false ALL\n")
	s.begin(t.Context())
	if f.all["by_queue"] != "False" || f.all["strict_ordering"] != "" || f.all["preempt_order"] != "SC" {
		t.Errorf("an edited file at a start: %v", f.all)
	}
}

// TestScheduler_TakesTheFiles: shares, prime and dedicated time have files of their own.
func TestScheduler_TakesTheFiles(t *testing.T) {
	s, f, log := schedHost(t)
	s.begin(t.Context())
	for name, text := range map[string]string{
		"resource_group": "# shares\nphysics 10 root 60\nann  20\tphysics 1\n",
		"holidays":       "* days\nYEAR 2026\n  weekday 0600 1730\n  saturday none all\n  330 Nov 26 Thanksgiving, the day\n",
		"dedicated_time": "# FROM TO\n11/21/2026 06:00 11/21/2026 08:00\n",
	} {
		if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.reconfigure(t.Context())
	for name, want := range map[string]string{
		"resource_group": "physics 10 root 60,ann 20 physics 1",
		"holidays":       "YEAR 2026,weekday 0600 1730,saturday none all,330 Nov 26 Thanksgiving the day",
		"dedicated_time": "11/21/2026 06:00 11/21/2026 08:00",
	} {
		if f.all[name] != want {
			t.Errorf("%s is %q, want %q\n%s", name, f.all[name], want, log())
		}
		if err := os.WriteFile(s.path(name), []byte("# nothing\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(s.path("dedicated_time"), []byte("tomorrow\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.reconfigure(t.Context())
	if f.all["holidays"] != "" || f.all["dedicated_time"] != "11/21/2026 06:00 11/21/2026 08:00" || !strings.Contains(log(), "dedicated_time: tomorrow: refused") {
		t.Errorf("then it is %v\n%s", f.all, log())
	}
}

// A line of holidays that cannot be read is passed over, and named by its number; the others count. The log says it as a
// PBS's does.
func TestScheduler_PassesOverBadHolidays(t *testing.T) {
	s, f, log := schedHost(t)
	s.begin(t.Context())
	day, err := filepath.Glob(filepath.Join(s.call.home.SchedLogs(), "*"))
	if err != nil || len(day) != 1 {
		t.Fatalf("logs %v, %v", day, err)
	}
	if err := os.Rename(day[0], day[0]+".moved"); err != nil {
		t.Fatal(err)
	}
	text := "* days\nYEAR twenty\n\nYEAR 2026 x\nwekday 0600 1730\nweekday 0600\nweekday 0600 1790\nsaturday 1800 0500\n330 Nov 26 Thanksgiving\n331\n900 x\n"
	if err := os.WriteFile(s.path("holidays"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s.reconfigure(t.Context())
	if want := "YEAR 2026,saturday 1800 0500,330 Nov 26 Thanksgiving,331"; f.all["holidays"] != want {
		t.Errorf("holidays is %q, want %q", f.all["holidays"], want)
	}
	for _, want := range []string{"2, line started with: YEAR", "5, line started with: wekday", "6, line started with: weekday", "7, line started with: weekday", "11, line started with: 900"} {
		if want = ";0040;pbs_sched;Fil;holidays;Error on line " + want + "\n"; strings.Count(log(), want) != 1 {
			t.Errorf("no line %q in\n%s", want, log())
		}
	}
	if n := strings.Count(log(), "Error on line"); n != 5 {
		t.Errorf("%d lines are bad:\n%s", n, log())
	}
	if text, err := os.ReadFile(day[0]); err != nil || !strings.Contains(string(text), "Scheduler is reconfiguring") {
		t.Errorf("the log in the place of the one that was moved says %q, %v", text, err)
	}
	if _, faults, err := ReadSched(s.priv); err != nil || !slices.Contains(faults, "holidays: Error on line 11, line started with: 900") {
		t.Errorf("faults %q, %v", faults, err)
	}
}

// TestScheduler_WaitsForAServer: what nobody takes is tried again, and nothing is lost.
func TestScheduler_WaitsForAServer(t *testing.T) {
	s, f, log := schedHost(t)
	f.away = true
	s.write(t, "strict_ordering: true\njob_sort_key: \"nonsense\"\n")
	s.begin(t.Context())
	if !strings.Contains(log(), "no replica answers") || s.want == nil {
		t.Errorf("nobody answers: %s", log())
	}
	f.away = false
	s.look(t.Context())
	if f.all["strict_ordering"] != "True" || s.want != nil {
		t.Errorf("the replica is back: %v", f.all)
	}
	if !strings.Contains(log(), ";0001;pbs_sched;Sched;sched_config;job_sort_key: nonsense: ") {
		t.Errorf("a refusal is not logged:\n%s", log())
	}
}

// TestScheduler_MovesAndComesBack: it goes on with the files of another sched_priv, and with those of the first one, of which it holds the
// lock all its life; a folder that another process has is none for it.
func TestScheduler_MovesAndComesBack(t *testing.T) {
	s, f, log := schedHost(t)
	s.name, s.first = "sc1", s.priv
	held, err := s.call.lock(s.call.home.SchedLock())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	first, open := s.priv, filepath.Join(t.TempDir(), "open")
	other := filepath.Join(open, "other")
	if err := errors.Join(os.MkdirAll(s.log.folder, 0o755), os.MkdirAll(other, 0o755), os.Chmod(open, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	f.all["sched_log"] = s.log.folder
	move := func(priv, comment string) {
		t.Helper()
		f.all["sched_priv"] = priv
		s.furtherNow(t.Context(), f.all)
		if f.all["comment"] != comment {
			t.Errorf("at %s it says %q, want %q\n%s", priv, f.all["comment"], comment, log())
		}
	}
	for range 2 {
		move(other, "")
		move(first, "")
	}
	if s.priv != first {
		t.Errorf("it is at %s", s.priv)
	}
	if info, err := os.Stat(open); err != nil || info.Mode()&os.ModeSticky == 0 || info.Mode().Perm() != 0o777 {
		t.Errorf("what the other folder is in has become %v, %v", info.Mode(), err)
	}
	taken, err := s.call.lock(filepath.Join(other, "sched.lock"))
	if err != nil {
		t.Fatalf("it still holds the lock that it has left: %v", err)
	}
	defer taken.Close()
	move(other, badPriv)
	if s.priv != first || f.all["scheduling"] != "False" {
		t.Errorf("it is at %s, with %v", s.priv, f.all)
	}
	move(first, "")
}

// SIGPIPE ends nothing; a pbs_sched tells that it has come.
func TestScheduler_TellsOfSigpipe(t *testing.T) {
	s, _, log := schedHost(t)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	s.call.options = map[string]string{"N": ""}
	never := func(context.Context) { t.Error("it is taken for something else") }
	told := false
	err := s.call.run(ctx, duty{
		lock: s.call.home.SchedLock(), again: never, look: never, every: time.Hour,
		begin: func(context.Context) {
			if err := syscall.Kill(os.Getpid(), syscall.SIGPIPE); err != nil {
				t.Error(err)
				stop()
			}
		},
		pipe: func() {
			told = true
			s.broken()
			stop()
		},
	})
	if err != nil || !told || !strings.Contains(log(), ";0040;pbs_sched;Req;sig_pipe;We've received a sigpipe: trying to continue\n") {
		t.Errorf("told %v, %v; the log is\n%s", told, err, log())
	}
}
