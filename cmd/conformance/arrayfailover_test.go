package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rampart/cmd/devrun"
)

// TestArray_LeaderKilledInItsMidst shows L2 and L10 for subjobs on real processes: the
// leader dies while an array runs, and each subjob has run once and is accounted for once.
func TestArray_LeaderKilledInItsMidst(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "2")
	marks := filepath.Join(c.Dir, "marks")
	if err := os.Mkdir(marks, 0o777); err != nil {
		t.Fatal(err)
	}
	const subjobs = 60
	script := fmt.Sprintf("echo ran >> %s/$PBS_ARRAY_INDEX", marks)
	id, err := c.Output(t.Context(), "qsub", "-J", fmt.Sprintf("1-%d", subjobs), "-o", "/dev/null", "-j", "oe", "-k", "n", "--", "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "some subjobs to have run", func() error {
		if ran, _ := os.ReadDir(marks); len(ran) < 5 {
			return fmt.Errorf("%d subjobs ran", len(ran))
		}
		return nil
	})
	leader := killLeader(t, c)
	if ran, _ := os.ReadDir(marks); len(ran) == subjobs {
		t.Log("the array was over before the leader died")
	}
	if err := c.Restart(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	awaitRun(t, c, marks, nil)
	awaitSameLedgers(t, c)
	for i := 1; i <= subjobs; i++ {
		if data, err := os.ReadFile(filepath.Join(marks, fmt.Sprint(i))); string(data) != "ran\n" {
			t.Errorf("subjob %d left %q, %v; want one run", i, data, err)
		}
		checkRecords(t, c, strings.Replace(id, "[]", fmt.Sprintf("[%d]", i), 1), "SE")
	}
	checkRecords(t, c, id, "QSE")
}

// checkRecords wants exactly records of these types for the job.
func checkRecords(t *testing.T, c *devrun.Cluster, job, want string) {
	t.Helper()
	lines, err := recordsOf(c, replicas[0], job)
	if got := types(lines); err != nil || got != want {
		t.Errorf("%s has records %q, %v; want %q", job, got, err, want)
	}
}
