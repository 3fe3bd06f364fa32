package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/cmd/devrun"
)

// A status with which a replica ends by itself, and the words beside it, are what
// docs/operation.md promises a supervisor. Each test makes the cause on a real disk, sees
// the refusal, does what the document says, and wants the replica back.

// refused starts a replica on a home and wants it to end by itself: with that status, and
// those words.
func refused(t *testing.T, c *devrun.Cluster, program, home string, status int, words string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "server")
	cmd.Env = append(slices.Clone(c.Env), "PBS_HOME="+home)
	said, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != status || !bytes.Contains(said, []byte(words)) {
		t.Errorf("a replica on %s: status %d, %v, want %d and %q\n%s", home, got, err, status, words, said)
	}
}

// follower returns a replica that does not lead.
func follower(t *testing.T, c *devrun.Cluster) string {
	t.Helper()
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return replicas[(slices.Index(replicas, leader)+1)%len(replicas)]
}

// kill ends a process and waits until it is gone.
func kill(t *testing.T, c *devrun.Cluster, name string) {
	t.Helper()
	if err := c.Signal(name, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, name+" to be gone", func() error {
		if _, err := c.Pid(name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("its pid file is there: %v", err)
		}
		return nil
	})
}

// killLeader kills the leader, waits until its process is gone, and returns its name.
func killLeader(t *testing.T, c *devrun.Cluster) string {
	t.Helper()
	leader := leads(t, c)
	kill(t, c, leader)
	return leader
}

// restart starts a process and wants it to be a voter with the state of the others.
func restart(t *testing.T, c *devrun.Cluster, name string) {
	t.Helper()
	if err := c.Restart(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "replicas that agree", func() error { return agree(t.Context(), c) })
}

// agree wants all replicas at one index, with one digest.
func agree(ctx context.Context, c *devrun.Cluster) error {
	all, err := c.Status(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Role != "leader" && r.Role != "follower" || r.Applied != all[0].Applied || r.Digest != all[0].Digest {
			return fmt.Errorf("%+v", all)
		}
	}
	if len(all) != len(replicas) {
		return fmt.Errorf("%d replicas: %+v", len(all), all)
	}
	return nil
}

func mustRun(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func raftOf(c *devrun.Cluster, name string) string {
	return filepath.Join(c.Home(name), "server_priv", "raft")
}

// submitHeld makes jobs that stay, so that the log has something to hold.
func submitHeld(t *testing.T, c *devrun.Cluster, name string, n int) {
	t.Helper()
	for range n {
		if _, err := c.Output(t.Context(), "qsub", "-h", "-N", name, "--", "/bin/true"); err != nil {
			t.Fatal(err)
		}
	}
}

// spoil changes a file wherever it holds a text.
func spoil(t *testing.T, path, text string, change func(data []byte, at int)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for from := 0; ; found++ {
		i := bytes.Index(data[from:], []byte(text))
		if i < 0 {
			break
		}
		change(data, from+i)
		from += i + len(text)
	}
	if found == 0 {
		t.Fatalf("%s does not hold %q", path, text)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestStatus65_DamagedLog: a flipped bit in an entry and a page of zeros are found, and
// nothing of such a log is applied; an empty disk in its place is filled by the others.
func TestStatus65_DamagedLog(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "0")
	submitHeld(t, c, "precious", 5)
	const page = 4096
	for name, change := range map[string]func([]byte, int){
		"a flipped bit":   func(data []byte, at int) { data[at] ^= 1 },
		"a page of zeros": func(data []byte, at int) { clear(data[at/page*page : at/page*page+page]) },
	} {
		victim := follower(t, c)
		kill(t, c, victim)
		spoil(t, filepath.Join(raftOf(c, victim), "log.db"), "precious", change)
		t.Log(name)
		refused(t, c, filepath.Join(bin, "rampart"), c.Home(victim), 65, "the store is damaged")
		if err := os.Rename(raftOf(c, victim), raftOf(c, victim)+".damaged"); err != nil {
			t.Fatal(err)
		}
		restart(t, c, victim)
		if err := os.RemoveAll(raftOf(c, victim) + ".damaged"); err != nil {
			t.Fatal(err)
		}
		submitHeld(t, c, "precious", 2)
	}
}

// TestStatus65_DamagedSnapshot: a snapshot with a flipped bit is never applied. An older one
// and the log make up for it; without one the replica is refused.
func TestStatus65_DamagedSnapshot(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "0")
	victim := follower(t, c)
	for n := range 2 {
		submitHeld(t, c, "precious", 5)
		save := c.Command(t.Context(), "rampart", "cluster", "snapshot", "save", filepath.Join(c.Dir, fmt.Sprint("saved", n)))
		save.Env = append(save.Env[:len(save.Env):len(save.Env)], "PBS_GATEWAY="+filepath.Join(c.Home(victim), "run", victim+".sock"))
		if out, err := save.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	kill(t, c, victim)
	all, err := filepath.Glob(filepath.Join(raftOf(c, victim), "snapshots", "*", "state.bin"))
	if err != nil || len(all) < 2 {
		t.Fatalf("the replica has the snapshots %q: %v", all, err)
	}
	slices.SortFunc(all, func(a, b string) int { return changed(t, a).Compare(changed(t, b)) })
	flip(t, all[len(all)-1])
	restart(t, c, victim)
	kill(t, c, victim)
	for _, path := range all[:len(all)-1] {
		flip(t, path)
	}
	refused(t, c, filepath.Join(bin, "rampart"), c.Home(victim), 65, "the store is damaged")
}

func changed(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// flip changes one bit in the middle of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestStatus77_OldCopyOfTheDisk: a disk that was brought back from a backup has forgotten
// what it promised; the right one goes on.
func TestStatus77_OldCopyOfTheDisk(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "0")
	victim := follower(t, c)
	raft := raftOf(c, victim)
	kill(t, c, victim)
	mustRun(t, "cp", "-a", raft, raft+".backup")
	restart(t, c, victim)
	submitHeld(t, c, "later", 1)
	kill(t, c, victim)
	if err := errors.Join(os.Rename(raft, raft+".now"), os.Rename(raft+".backup", raft)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // to be refused is no start that counts
		refused(t, c, filepath.Join(bin, "rampart"), c.Home(victim), 77, "this disk is an older copy")
	}
	if err := errors.Join(os.Rename(raft, raft+".backup"), os.Rename(raft+".now", raft)); err != nil {
		t.Fatal(err)
	}
	restart(t, c, victim)
}

// TestStatus77_TwoProcessesOnCopies: a host was copied with its disk while its replica ran,
// and the copy has an address of its own. One of the two ends, the cluster goes on.
func TestStatus77_TwoProcessesOnCopies(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "0")
	victim := follower(t, c)
	status, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	twin := filepath.Join(c.Dir, "homes", "twin")
	if err := c.Signal(victim, syscall.SIGSTOP); err != nil { // nothing is written while it is copied
		t.Fatal(err)
	}
	copied := exec.CommandContext(t.Context(), "cp", "-a", c.Home(victim), twin).Run()
	if err := errors.Join(copied, c.Signal(victim, syscall.SIGCONT)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "replicas that agree", func() error { return agree(t.Context(), c) })
	address, _, _ := strings.Cut(status[slices.IndexFunc(status, func(r devrun.Replica) bool { return r.Name == victim })].Address, ":")
	moved := address[:strings.LastIndex(address, ".")] + ".77"
	config := filepath.Join(twin, "server_priv", "replica.json")
	data, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, bytes.ReplaceAll(data, []byte(`"`+address+":"), []byte(`"`+moved+":")), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, c, filepath.Join(bin, "rampart"), twin, 77, "another process runs on a copy of this disk")
	submitHeld(t, c, "after", 1)
	waitFor(t, patience, "replicas that agree", func() error { return agree(t.Context(), c) })
}
