package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rampart/cmd/devrun"
	"rampart/transport"
)

// scriptsOf returns how many large scripts are on the disk of each replica.
func scriptsOf(t *testing.T, c *devrun.Cluster) (counts []int) {
	t.Helper()
	all, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		entries, err := os.ReadDir(filepath.Join(c.Home(r.Name), "server_priv", "scripts"))
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, len(entries))
	}
	return counts
}

// largeScript writes a script of almost 16 MiB that leaves a mark.
func largeScript(t *testing.T, dir, marks string, n int) string {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("large%d", n))
	text := fmt.Appendf(nil, "#PBS -o /dev/null -j oe\necho ran >> %s/$PBS_JOBID\nexit 0\n# %d ", marks, n)
	if err := os.WriteFile(path, append(text, bytes.Repeat([]byte("x"), 15_700_000-len(text))...), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// heldScript submits a script, held, and does as the command says when the outcome is unknown, too much is
// being sent or it came too slowly: it repeats the request.
func heldScript(t *testing.T, c *devrun.Cluster, path string) string {
	again := *c
	again.Env = append(slices.Clone(c.Env), "PBS_REQUEST_ID="+string(transport.NewRequestID()))
	var failed *exec.ExitError
	for began := time.Now(); ; poll(began) {
		out, err := again.Output(t.Context(), "qsub", "-h", path)
		if err == nil {
			return out
		}
		if !errors.As(err, &failed) || failed.ExitCode() != 102 && failed.ExitCode() != 70 || time.Since(began) > patience {
			t.Errorf("%v\n%s", err, out)
			return out
		}
	}
}

// TestLargeScripts: many large scripts at a time, beside small jobs, end no replica; a leader that dies
// among them costs none, and has them all when it is back. A saved snapshot brings them back when
// their jobs were deleted, after which none is left on any disk.
func TestLargeScripts(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1")
	marks := filepath.Join(c.Dir, "marks")
	if err := os.Mkdir(marks, 0o777); err != nil {
		t.Fatal(err)
	}
	const each, rounds = 6, 2
	load, end := context.WithCancel(t.Context())
	small := streams(c, marks, 1)
	var beside sync.WaitGroup
	beside.Go(func() { small[0].run(load, 1000) })
	var ids []string
	killed := ""
	for round := range rounds {
		got := make([]string, each)
		var wg sync.WaitGroup
		for i := range each {
			path := largeScript(t, c.Dir, marks, round*each+i)
			wg.Go(func() {
				got[i] = heldScript(t, c, path)
			})
		}
		if round == 1 {
			killed = killLeader(t, c)
		}
		wg.Wait()
		ids = append(ids, got...)
	}
	end()
	beside.Wait()
	if err := c.Restart(t.Context(), killed); err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	if len(slices.Compact(slices.Clone(ids))) != rounds*each {
		t.Fatalf("the jobs are %v", ids)
	}
	have := func(n int) func() error {
		return func() error {
			if got := scriptsOf(t, c); slices.ContainsFunc(got, func(k int) bool { return k != n }) {
				return fmt.Errorf("the replicas have %v large scripts, want %d", got, n)
			}
			return nil
		}
	}
	waitFor(t, patience, "all scripts everywhere", have(rounds*each))
	all, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if how := c.Ended(r.Name); len(how) > 0 && r.Name != killed {
			t.Errorf("%s ended: %q", r.Name, how)
		}
	}
	file := filepath.Join(c.Dir, "large.snapshot")
	if out, err := c.Output(t.Context(), "rampart", "cluster", "snapshot", "save", file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := c.Output(t.Context(), "sh", "-c", "qdel "+strings.Join(ids, " ")); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waitFor(t, patience, "no scripts anywhere", have(0))
	if out, err := c.Output(t.Context(), "rampart", "cluster", "snapshot", "restore", file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waitFor(t, patience, "the scripts of the snapshot everywhere", have(rounds*each))
	if out, err := c.Output(t.Context(), "qrls", ids[0]); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waitFor(t, patience, "the mark of its run", func() error {
		_, err := os.Stat(filepath.Join(marks, ids[0]))
		return err
	})
	waitFor(t, patience, "the others' scripts", have(rounds*each-1))
}
