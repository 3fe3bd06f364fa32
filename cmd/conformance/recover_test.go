package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rampart/cmd/devrun"
)

// at runs a command through the daemon of one replica.
func at(t *testing.T, c *devrun.Cluster, replica, name string, args ...string) (string, error) {
	t.Helper()
	cmd := c.Command(t.Context(), name, args...)
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "PBS_GATEWAY="+filepath.Join(c.Home(replica), "run", replica+".sock"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// lose kills replicas and takes their disks away.
func lose(t *testing.T, c *devrun.Cluster, names ...string) {
	t.Helper()
	for _, name := range names {
		knowsOthers(t, c, name)
		kill(t, c, name)
		for _, dir := range []string{"raft", "accounting"} {
			if err := os.RemoveAll(filepath.Join(c.Home(name), "server_priv", dir)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// knowsOthers waits until a replica has written down whom to ask when its disk is empty.
func knowsOthers(t *testing.T, c *devrun.Cluster, name string) {
	t.Helper()
	waitFor(t, patience, name+" to write down who the others are", func() error {
		data, err := os.ReadFile(filepath.Join(c.Home(name), "server_priv", "members.json"))
		if err == nil && strings.Count(string(data), ":15001") != len(replicas)-1 {
			err = fmt.Errorf("%s", data)
		}
		return err
	})
}

// recoverAt recovers the cluster at a survivor, as soon as that hears no leader.
func recoverAt(t *testing.T, c *devrun.Cluster, survivor string, lost ...string) {
	t.Helper()
	waitFor(t, patience, "a recovery", func() error {
		out, err := at(t, c, survivor, "rampart", "cluster", "recover", "--lost", strings.Join(lost, ","))
		if err == nil && !strings.Contains(out, "recovered: "+survivor+" leads") {
			t.Fatalf("it says\n%s", out)
		}
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	})
}

func others(survivor string) (names []string) {
	for _, name := range replicas {
		if name != survivor {
			names = append(names, name)
		}
	}
	return names
}

// TestRecover_TwoOfThreeDisksAreLost: the survivor goes on, a job that runs meanwhile runs
// on, and the lost ones join again with empty disks.
func TestRecover_TwoOfThreeDisksAreLost(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1")
	submitHeld(t, c, "precious", 3)
	running, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/sleep", "1000")
	if err != nil {
		t.Fatal(err)
	}
	runs := func() error {
		out, err := c.Output(t.Context(), "qstat", "-f", running)
		if err == nil && (!strings.Contains(out, "substate = 42") || !strings.Contains(out, "run_count = 1")) {
			err = fmt.Errorf("%s", out)
		}
		return err
	}
	waitFor(t, patience, "the job to run", runs)
	waitFor(t, patience, "replicas that agree", func() error { return agree(t.Context(), c) })
	survivor := follower(t, c)
	lost := others(survivor)

	if out, err := at(t, c, survivor, "rampart", "cluster", "recover", "--lost", strings.Join(lost, ",")); err == nil || !strings.Contains(out, "answers: it is not lost") {
		t.Errorf("while all is well: %v\n%s", err, out)
	}
	lose(t, c, lost...)
	if out, err := at(t, c, survivor, "rampart", "cluster", "recover", "--lost", lost[0]); err == nil || !strings.Contains(out, lost[1]+" does not answer") {
		t.Errorf("one was not named: %v\n%s", err, out)
	}
	waitFor(t, patience, "a look", func() error {
		out, err := at(t, c, survivor, "rampart", "cluster", "recover", "--look")
		if err == nil && (!strings.Contains(out, survivor+": its log ends at index") || strings.Contains(out, "recovered")) {
			t.Fatalf("it says\n%s", out)
		}
		return err
	})
	recoverAt(t, c, survivor, lost...)
	id, err := at(t, c, survivor, "qsub", "-h", "--", "/bin/true")
	if err != nil || !strings.HasPrefix(id, "1000") {
		t.Fatalf("qsub says %s, %v", id, err)
	}
	for _, name := range lost { // as empty disks, by themselves
		if err := c.Restart(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, patience, "replicas that agree", func() error { return agree(t.Context(), c) })
	waitFor(t, patience, "the job to run on", runs)
	out, err := c.Output(t.Context(), "qstat", "-f")
	if err != nil || strings.Count(out, "Job_Name = precious") != 3 || !strings.Contains(out, "Job Id: "+strings.TrimSpace(id)) {
		t.Errorf("after all that, %v\n%s", err, out)
	}
	note, err := os.ReadFile(filepath.Join(raftOf(c, survivor), "recoveries.txt"))
	if err != nil || !strings.Contains(string(note), "recovered from the loss of "+lost[0]) {
		t.Errorf("the note says %q, %v", note, err)
	}
	said, err := filepath.Glob(filepath.Join(c.Home(lost[0]), "server_logs", "*"))
	if err != nil || !holds(said, "new epoch, job numbers go on at") {
		t.Errorf("the server log does not tell: %q, %v", said, err)
	}
	if _, err := c.Output(t.Context(), "qdel", running); err != nil {
		t.Error(err)
	}
}

// holds reports whether one of the files has the text.
func holds(files []string, text string) bool {
	for _, path := range files {
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), text) {
			return true
		}
	}
	return false
}

// TestStatus77_LostOneComesBack: all processes were ended, the survivor waits for the others;
// one that was named as lost comes back with its disk, and does what it is told.
func TestStatus77_LostOneComesBack(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "0")
	submitHeld(t, c, "precious", 3)
	waitFor(t, patience, "replicas that agree", func() error { return agree(t.Context(), c) })
	survivor := follower(t, c)
	lost := others(survivor)
	for _, name := range replicas {
		knowsOthers(t, c, name)
	}
	for _, name := range replicas {
		kill(t, c, name)
	}
	go func() { _ = c.Restart(t.Context(), survivor) }() // it is not ready before it was recovered
	recoverAt(t, c, survivor, lost...)
	submitHeld(t, c, "precious", 2)
	for _, name := range lost {
		refused(t, c, filepath.Join(bin, "rampart"), c.Home(name), 77, "the cluster went on without this disk")
		for _, dir := range []string{"raft", "accounting"} {
			path := filepath.Join(c.Home(name), "server_priv", dir)
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Restart(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, patience, "replicas that agree", func() error { return agree(t.Context(), c) })
	if out, err := c.Output(t.Context(), "qstat", "-f"); err != nil || strings.Count(out, "Job_Name = precious") != 5 {
		t.Errorf("%v\n%s", err, out)
	}
	kill(t, c, survivor)
	waitFor(t, patience, "the new ones to go on", func() error {
		_, err := c.Output(t.Context(), "qsub", "-h", "--", "/bin/true")
		return err
	})
}
