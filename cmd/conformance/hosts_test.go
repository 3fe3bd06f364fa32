package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// A steady is a job that says where it runs, goes on until it is released, and says that it
// has come to its end.
type steady struct {
	c             *devrun.Cluster
	id            string
	says, release string
}

func submitSteady(t *testing.T, c *devrun.Cluster) *steady {
	t.Helper()
	s := &steady{c: c, says: filepath.Join(c.Dir, "says"), release: filepath.Join(c.Dir, "release")}
	script := fmt.Sprintf(`read -r host <"$PBS_NODEFILE"; echo "$host $$" >>%s; until test -e %s; do sleep 0.1; done; echo done >>%s`,
		s.says, s.release, s.says)
	var err error
	if s.id, err = c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/sh", "-c", script); err != nil {
		t.Fatal(err)
	}
	return s
}

// runs waits until the nth run of the job goes on, and returns where, and its process.
func (s *steady) runs(t *testing.T, n int) (host string, pid int) {
	t.Helper()
	waitFor(t, 2*patience, fmt.Sprintf("run %d of the job", n), func() error {
		lines := s.lines()
		if len(lines) != n {
			return fmt.Errorf("it says %q", lines)
		}
		var number string
		host, number, _ = strings.Cut(lines[n-1], " ")
		pid, _ = strconv.Atoi(number)
		status, err := s.c.Output(t.Context(), "qstat", "-f", s.id)
		if err == nil && !strings.Contains(status, "substate = 42") {
			err = fmt.Errorf("%s", status)
		}
		return err
	})
	return host, pid
}

func (s *steady) lines() []string {
	data, _ := os.ReadFile(s.says)
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
}

// ends releases the job and waits for its records.
func (s *steady) ends(t *testing.T, records string) {
	t.Helper()
	if err := os.WriteFile(s.release, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the records "+records, func() error {
		lines, err := recordsOf(s.c, replicas[0], s.id)
		if err == nil && types(lines) != records {
			err = fmt.Errorf("records: %v", lines)
		}
		return err
	})
	awaitSameLedgers(t, s.c)
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	waitFor(t, patience, "the end of the earlier run", func() error {
		if alive(pid) {
			return fmt.Errorf("process %d is alive", pid)
		}
		return nil
	})
}

// TestForget_HostWhoseJobLives: a mom is dead and its job is not. A manager says that the
// host is dead, and is wrong: the job is started elsewhere at once, and what is left of
// it is killed as soon as the host is heard of again. It ends once (L2, L9, L10).
func TestForget_HostWhoseJobLives(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg", "--mom", "federer")
	job := submitSteady(t, c)
	host, first := job.runs(t, 1)
	if out, err := c.Output(t.Context(), "rampart", "host", "forget", host); err == nil {
		t.Errorf("a host that is up is forgotten: %s", out)
	}
	if err := c.Signal(host, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, 2*patience, "the word that the host is dead to be taken", func() error {
		out, err := c.Output(t.Context(), "rampart", "host", "forget", host)
		if err == nil && !strings.Contains(out, "1 jobs queued again") {
			t.Errorf("host forget says %q", out)
		}
		return err
	})
	elsewhere, second := job.runs(t, 2)
	if elsewhere == host || !alive(first) {
		t.Errorf("the second run is on %s, the first on %s, alive: %v", elsewhere, host, alive(first))
	}
	if err := c.Restart(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, first)
	if !alive(second) {
		t.Error("the second run was killed with the first")
	}
	job.ends(t, "QSRSE")
	if got := job.lines(); len(got) != 3 || got[2] != "done" {
		t.Errorf("the job says %q, want two runs and one end", got)
	}
}

// leaderDies kills the leader and starts it again when another one has answered.
func leaderDies(t *testing.T, c *devrun.Cluster) {
	t.Helper()
	leader := killLeader(t, c)
	if _, err := c.Output(t.Context(), "qsub", "-h", "--", "/bin/true"); err != nil {
		t.Fatal(err)
	}
	if err := c.Restart(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
}

// TestForcedDelete_MomAndLeaderDie: a job is deleted by force while its mom is dead, and
// the leader dies right after. The job is gone for everybody; the order to kill it is
// carried out when the mom is back.
func TestForcedDelete_MomAndLeaderDie(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg", "--mom", "federer")
	job := submitSteady(t, c)
	host, pid := job.runs(t, 1)
	if err := c.Signal(host, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Output(t.Context(), "qdel", "-W", "force", job.id); err != nil {
		t.Fatal(err)
	}
	leaderDies(t, c)
	if out, err := c.Output(t.Context(), "qstat", job.id); err == nil || !strings.Contains(err.Error(), "Unknown Job Id") {
		t.Errorf("a job that was deleted by force is there: %s, %v", out, err)
	}
	if !alive(pid) {
		t.Error("inconclusive: the run has ended before its mom was back")
	}
	if err := c.Restart(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, pid)
	job.ends(t, "QSDE")
	if got := job.lines(); len(got) != 1 {
		t.Errorf("the job says %q, want one run that was killed", got)
	}
}

// TestForcedRerun_MomAndLeaderDie: a job is sent back to its queue by force while its mom
// is dead, and the leader dies right after. It does not start again, though there is
// room, before the mom is back and has killed what still ran (L2).
func TestForcedRerun_MomAndLeaderDie(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg", "--mom", "federer")
	job := submitSteady(t, c)
	host, pid := job.runs(t, 1)
	if err := c.Signal(host, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Output(t.Context(), "pbsnodes", "-o", host); err != nil { // so that it would start elsewhere
		t.Fatal(err)
	}
	if _, err := c.Output(t.Context(), "qrerun", "-W", "force", job.id); err != nil {
		t.Fatal(err)
	}
	leaderDies(t, c)
	other := map[string]string{"borg": "federer", "federer": "borg"}[host]
	next, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "-l", "select=1:host="+other, "--", "/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "a later job to run", func() error {
		lines, err := recordsOf(c, replicas[0], next)
		if err == nil && types(lines) != "QSE" {
			err = fmt.Errorf("records: %v", lines)
		}
		return err
	})
	if got := job.lines(); len(got) != 1 || !alive(pid) {
		t.Errorf("the job says %q before its mom is back; its first run lives: %v", got, alive(pid))
	}
	if err := c.Restart(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, pid)
	if on, _ := job.runs(t, 2); on != other {
		t.Errorf("the second run is on %s, which takes no jobs", on)
	}
	job.ends(t, "QSRSE")
}
