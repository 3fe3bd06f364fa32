package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rampart/cmd/devrun"
)

// TestRestore_OfDeletedJobs: a manager puts back what somebody has deleted, through a follower,
// while a job runs.
func TestRestore_OfDeletedJobs(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1")
	submitHeld(t, c, "precious", 2)
	running, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/sleep", "1000")
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the job to run", func() error { return runsOnce(t, c, running) })
	by := follower(t, c)
	file := filepath.Join(c.Dir, "then")
	if out, err := at(t, c, by, "rampart", "cluster", "snapshot", "save", file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := c.Output(t.Context(), "sh", "-c", "qdel $(qselect -N precious)"); err != nil {
		t.Fatal(err)
	}
	late, err := c.Output(t.Context(), "qsub", "-h", "--", "/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"--look"}, nil} {
		args := append(append([]string{"cluster", "snapshot", "restore"}, flags...), file)
		out, err := at(t, c, by, "rampart", args...)
		if err != nil || !strings.Contains(out, "put back: snapshot of ") && flags == nil ||
			!strings.Contains(out, "3 jobs; 1 that it does not have") || !strings.Contains(out, "2 that have ended since") {
			t.Errorf("%v\n%s", err, out)
		}
		if _, gone := c.Output(t.Context(), "qstat", late); (gone != nil) != (flags == nil) {
			t.Errorf("after %v, job %s: %v", args, late, gone)
		}
	}
	out, err := c.Output(t.Context(), "qstat", "-f")
	if err != nil || strings.Count(out, "Job_Name = precious") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	if err := runsOnce(t, c, running); err != nil {
		t.Errorf("the job that ran: %v", err)
	}
	data, err := os.ReadFile(file)
	if err != nil || os.WriteFile(file, data[:len(data)/2], 0o600) != nil {
		t.Fatal(err)
	}
	if out, err := at(t, c, by, "rampart", "cluster", "snapshot", "restore", file); err == nil || !strings.Contains(out, "snapshot is corrupt") {
		t.Errorf("half a file: %v\n%s", err, out)
	}
	waitFor(t, patience, "replicas that agree", func() error { return agree(t.Context(), c) })
	if _, err := c.Output(t.Context(), "qdel", running); err != nil {
		t.Error(err)
	}
}

// runsOnce reports whether a job runs, for the first time.
func runsOnce(t *testing.T, c *devrun.Cluster, id string) error {
	t.Helper()
	out, err := c.Output(t.Context(), "qstat", "-f", id)
	if err == nil && (!strings.Contains(out, "substate = 42") || !strings.Contains(out, "run_count = 1")) {
		err = errors.New(out)
	}
	return err
}
