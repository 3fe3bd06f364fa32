package mom

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"rampart/mom/spool"
	"rampart/mom/task"
)

func TestSettings_LogKeepDays(t *testing.T) {
	for text, want := range map[string]int{"": 0, "$logevent 0x1ff\n$log_keep_days 30\n": 30, "$log_keep_days 0": 0} {
		path := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := readSettings(path, path+".none", ""); err != nil || s.keepDays != want {
			t.Errorf("%q: %d days, %v", text, s.keepDays, err)
		}
	}
	for _, text := range []string{"$log_keep_days", "$log_keep_days -1", "$log_keep_days ever"} {
		if err := new(settings).directive(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestSettings_LogEvent: masks as sites write them, with events that only PBS knows.
func TestSettings_LogEvent(t *testing.T) {
	for text, want := range map[string]uint16{"$logevent 0x1ff": 0x1ff, "$logevent 2047": 2047, "$logevent 0xffffffff": 0xffff, "$logevent -1": 0xffff} {
		s := new(settings)
		if err := s.directive(text); err != nil || s.logEvents != want {
			t.Errorf("%q: %#x, %v", text, s.logEvents, err)
		}
	}
}

// The waits for sisters are whole seconds above 0; anything else is refused with the file.
func TestSettings_MaxPollDowntime(t *testing.T) {
	s := new(settings)
	if err := s.directive("$max_poll_downtime 10"); err != nil || s.PollDowntime != 10*time.Second {
		t.Errorf("%s, %v", s.PollDowntime, err)
	}
	for _, text := range []string{"", "0", "-1", "1.5", "10s", "99999999999999999999"} {
		if err := s.directive("$max_poll_downtime " + text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// Reliable-startup section 12: the waits of a start, and what is refused.
func TestSettings_Start(t *testing.T) {
	s := new(settings)
	for _, line := range []string{"$sister_join_job_alarm 45", "$job_launch_delay 40", "$job_launch_early True"} {
		if err := s.directive(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if s.JoinAlarm != 45*time.Second || s.LaunchDelay != 40*time.Second || !s.LaunchEarly {
		t.Errorf("%+v", s.Settings)
	}
	for _, name := range []string{"$sister_join_job_alarm ", "$job_launch_delay "} {
		for _, text := range []string{"", "0", "-1", "1.5", "10s", "99999999999999999999"} {
			if err := s.directive(name + text); err == nil {
				t.Errorf("%s%q is taken", name, text)
			}
		}
	}
	for _, text := range []string{"", "maybe", "2", "tru"} {
		for _, name := range []string{"$job_launch_early ", "$reject_root_scripts "} {
			if err := s.directive(name + text); err == nil {
				t.Errorf("%s%q is taken", name, text)
			}
		}
	}
	for text, want := range map[string]bool{"TRUE": true, "yes": true, "On": true, "1": true, "false": false, "NO": false, "off": false, "0": false} {
		s.NoRootJobs = !want
		if err := s.directive("$reject_root_scripts " + text); err != nil || s.NoRootJobs != want {
			t.Errorf("%s: %v, %v", text, s.NoRootJobs, err)
		}
	}
}

// The folders of jobs may be below a path with blanks, and hosts may share them.
func TestSettings_JobDirRoot(t *testing.T) {
	for text, want := range map[string]string{
		"/scratch": "/scratch", "/scratch shared": "/scratch", "/my scratch": "/my scratch", "/my scratch  shared": "/my scratch", "/shared": "/shared",
	} {
		s := new(settings)
		if err := s.directive("$jobdir_root " + text); err != nil || s.JobDirRoot != want {
			t.Errorf("%q: %q, %v", text, s.JobDirRoot, err)
		}
	}
	for _, text := range []string{"", "shared", "scratch shared"} {
		if err := new(settings).directive("$jobdir_root " + text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// Memory is enforced where jobs have no cgroup, unless the site says otherwise.
func TestSettings_Enforce(t *testing.T) {
	for text, want := range map[string]func(e *task.Enforce){
		"":                      func(e *task.Enforce) { e.Mem, e.VMem, e.PMem = true, true, true },
		"$enforce mem\n":        func(e *task.Enforce) { e.Mem, e.VMem, e.PMem = true, true, true },
		"$enforce !mem\n":       func(e *task.Enforce) {},
		"$enforce cpuaverage\n": func(e *task.Enforce) { e.Mem, e.VMem, e.PMem, e.Average = true, true, true, true },
		"$enforce cpuburst\n$enforce delta_cpufactor 2\n$enforce average_trialperiod 30\n$enforce complexmem\n": func(e *task.Enforce) {
			e.Mem, e.VMem, e.PMem, e.Burst, e.BurstFactor, e.Trial = true, true, true, true, 2, 30*time.Second
		},
	} {
		config := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := readSettings(config, "/no/such/file", "/tmp")
		if err != nil {
			t.Fatal(err)
		}
		m, expect := &Mom{}, task.PBSEnforce()
		m.settings.Store(&s)
		want(&expect)
		if got := m.enforced(spool.TaskKey{Job: "1.srv", Run: 1}); got != expect {
			t.Errorf("%q: %+v, want %+v", text, got, expect)
		}
		if s.Enforce.Mem && !s.memSet {
			t.Errorf("%q: what holds for one job was kept for all", text)
		}
	}
	s := settings{}
	if err := s.directive("$enforce average_cpufactor much"); err == nil {
		t.Error("a factor that is no number was taken")
	}
}

func TestSettings_Suspendsig(t *testing.T) {
	for line, want := range map[string][2]syscall.Signal{
		"$suspendsig 20":           {syscall.SIGTSTP, 0},
		"$suspendsig TSTP SIGUSR1": {syscall.SIGTSTP, syscall.SIGUSR1},
	} {
		var s settings
		if err := s.directive(line); err != nil || [2]syscall.Signal{s.Suspend, s.Resume} != want {
			t.Errorf("%q: %v, %v, %v", line, s.Suspend, s.Resume, err)
		}
	}
	for _, line := range []string{"$suspendsig", "$suspendsig 0", "$suspendsig nosuch", "$suspendsig STOP CONT more"} {
		if err := new(settings).directive(line); err == nil {
			t.Errorf("%q is taken", line)
		}
	}
}

// Checkpoints may lie elsewhere, where nobody but root puts any.
func TestSettings_CheckpointPath(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		elsewhere := t.TempDir()
		if err := os.MkdirAll(filepath.Join(w.home, "mom_priv"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.home, "mom_priv", "config"), []byte("$checkpoint_path "+elsewhere+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.up()
		if got, want := w.mom.running().spool.Checkpoint("1.srv"), filepath.Join(elsewhere, "1.srv.CK"); got != want {
			t.Errorf("the checkpoint of a job is %s, want %s", got, want)
		}
	})
	bubble(t, func(t *testing.T, w *world) {
		w.config.Checkpoints = "/images" // pbs_mom -C
		w.up()
		if got := w.mom.running().spool.Checkpoint("1.srv"); got != "/images/1.srv.CK" {
			t.Errorf("with -C /images the checkpoint of a job is %s", got)
		}
	})
	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", "relative", open, os.Args[0]} {
		if err := new(settings).directive("$checkpoint_path " + dir); err == nil {
			t.Errorf("%q is taken", dir)
		}
	}
}
