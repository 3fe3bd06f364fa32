package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// A submitter submits one job after the other and keeps what it was told.
type submitter struct {
	ids    []string
	failed []error
}

func (s *submitter) run(ctx context.Context, c *devrun.Cluster) {
	for ctx.Err() == nil {
		// To its end, also when the test goes on to something else.
		id, err := c.Output(context.Background(), "qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/true")
		if err != nil {
			s.failed = append(s.failed, err)
			continue
		}
		s.ids = append(s.ids, id)
	}
}

// TestMembership_ShrinksGrowsAndLosesTwoUnderSubmissions: five replicas, of which two are
// removed, the leader among them; two join in their place; then two die at once. No command
// fails, no job is lost or doubled, and the accounting is the same everywhere.
func TestMembership_ShrinksGrowsAndLosesTwoUnderSubmissions(t *testing.T) {
	c := newCluster(t, "--replicas", "5", "--zones", "a,a,b,b,c", "--mom", "borg:ncpus=64,mem=64gb")
	ctx, end := context.WithCancel(t.Context())
	streams := []*submitter{{}, {}, {}}
	var submitting sync.WaitGroup
	for _, s := range streams {
		submitting.Go(func() { s.run(ctx, c) })
	}
	for _, name := range []string{"s4", "s5"} {
		waitFor(t, patience, name+" to lead", func() error { // a transfer that a busy machine is too slow for is refused
			if _, err := c.Output(t.Context(), "rampart", "cluster", "transfer", name); err != nil {
				return err
			}
			leader, err := c.Leader(t.Context())
			if err == nil && leader != name {
				err = fmt.Errorf("%s leads", leader)
			}
			return err
		})
		waitFor(t, patience, name+" to hand over and go", func() error {
			_, err := c.Output(t.Context(), "rampart", "cluster", "remove", name)
			return err
		})
		succeed(t, c, "cluster", "remove", name) // L8
	}
	waitFor(t, patience, "three voters", voting(t, c, 3))
	if out, err := c.Output(t.Context(), "rampart", "cluster", "status"); err == nil || !strings.Contains(out, "zone a holds 2 of 3 voters") {
		t.Errorf("zones: %v\n%s", err, out)
	}
	for _, name := range []string{"s4", "s5"} {
		joinAgain(t, c, name)
	}
	waitFor(t, patience, "five voters", voting(t, c, 5))
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dead := []string{leader, "s4"}
	if leader == "s4" {
		dead[1] = "s5"
	}
	for _, name := range dead {
		if err := c.Signal(name, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, patience, "three of five that go on", func() error {
		before := len(voters(t, c))
		if before != 3 {
			return fmt.Errorf("%d voters answer", before)
		}
		return nil
	})
	for _, name := range dead {
		awaitEnd(t, c, name)
	}
	if err := c.Restart(t.Context(), dead...); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "five voters again", voting(t, c, 5))
	end()
	submitting.Wait()
	judgeSubmitters(t, c, streams)
}

// voters are the replicas that answer and vote.
func voters(t *testing.T, c *devrun.Cluster) (all []string) {
	t.Helper()
	status, err := c.Status(t.Context())
	if err != nil {
		return nil
	}
	for _, r := range status {
		if r.Role == "leader" || r.Role == "follower" {
			all = append(all, r.Name)
		}
	}
	return all
}

func voting(t *testing.T, c *devrun.Cluster, n int) func() error {
	return func() error {
		if all := voters(t, c); len(all) != n {
			return fmt.Errorf("these vote: %q", all)
		}
		return nil
	}
}

// joinAgain takes the host of a replica that was removed in again, as docs/operations.md says.
func joinAgain(t *testing.T, c *devrun.Cluster, name string) {
	t.Helper()
	if err := c.Signal(name, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, c, name)
	var was struct{ Listen, Gossip string }
	priv := filepath.Join(c.Home(name), "server_priv")
	text, err := os.ReadFile(filepath.Join(priv, "replica.json"))
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(priv); err != nil {
		t.Fatal(err)
	}
	status, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token := succeed(t, c, "token", "create", "--role", "replica", "--host", name)
	succeed(t, c, "server", "join", "--home", c.Home(name), "--host", name, "--token", strings.TrimSpace(token),
		"--replica", status[0].Address, "--listen", was.Listen, "--gossip", was.Gossip)
	if err := c.Restart(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// judgeSubmitters wants every job that was acknowledged to have been queued once and run once,
// by the files of every replica.
func judgeSubmitters(t *testing.T, c *devrun.Cluster, streams []*submitter) {
	t.Helper()
	waitFor(t, patience, "the last job to end", func() error {
		if out, err := c.Output(t.Context(), "qselect"); err != nil || out != "" {
			return fmt.Errorf("%q, %v", out, err)
		}
		return nil
	})
	var first []string
	for _, name := range []string{"s2", "s3", "s4", "s5"} {
		waitFor(t, patience, "the accounting of "+name, func() (err error) {
			if first, err = c.Accounting("s1"); err != nil {
				return err
			}
			if lines, err := c.Accounting(name); err != nil || !slices.Equal(first, lines) {
				return fmt.Errorf("%d lines, and %d at s1: %v", len(lines), len(first), err)
			}
			return nil
		})
	}
	records := map[string]int{}
	for _, line := range first {
		if fields := strings.Split(line, ";"); len(fields) > 2 {
			records[fields[1]+" "+fields[2]]++
		}
	}
	jobs := 0
	for _, s := range streams {
		for _, err := range s.failed {
			t.Errorf("a submission failed: %v", err)
		}
		for _, id := range s.ids {
			jobs++
			if q, e := records["Q "+id], records["E "+id]; q != 1 || e != 1 {
				t.Errorf("%s: %d Q records, %d E records", id, q, e)
			}
		}
	}
	if jobs < 50 {
		t.Errorf("only %d jobs were submitted", jobs)
	}
	t.Logf("%d jobs", jobs)
}
