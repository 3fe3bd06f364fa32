package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// smallDisk moves the log of a replica, which is down, to a file system of its own.
func smallDisk(t *testing.T, c *devrun.Cluster, name, size string) string {
	t.Helper()
	raft := filepath.Join(c.Home(name), "server_priv", "raft")
	kept := raft + ".kept"
	if err := os.Rename(raft, kept); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(raft, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", raft, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(raft, syscall.MNT_DETACH) })
	if out, err := exec.Command("cp", "-a", kept+"/.", raft).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return raft
}

// told returns what the cluster's status says of a replica.
func told(t *testing.T, c *devrun.Cluster, name string) string {
	t.Helper()
	out, err := c.Output(t.Context(), "rampart", "cluster", "status", "--json")
	if out == "" {
		t.Fatal(err)
	}
	var s struct {
		Replicas []struct {
			Name, Role, Health string
			Alarms, Advice     []string
		}
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Replicas {
		if r.Name == name {
			return fmt.Sprint(r.Role, " ", r.Health, " ", r.Alarms, " ", r.Advice)
		}
	}
	return ""
}

// TestFullDisk_OfAReplica: it ends with 74 and nothing else does; started again it waits,
// tells everybody for what, and votes again by itself when there is room.
func TestFullDisk_OfAReplica(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	c := newCluster(t, "--moms", "1")
	all, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	victim := all[slices.IndexFunc(all, func(r devrun.Replica) bool { return r.Role == "follower" })]
	if err := c.Signal(victim.Name, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "its end", func() error {
		if len(c.Ended(victim.Name)) == 0 {
			return fmt.Errorf("it runs")
		}
		return nil
	})
	raft := smallDisk(t, c, victim.Name, "128m")
	votes := func() error {
		if s := told(t, c, victim.Name); !strings.HasPrefix(s, "follower ok") {
			return fmt.Errorf("%s", s)
		}
		return nil
	}
	if err := c.Restart(t.Context(), victim.Name); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "a vote on the small disk", votes)

	filler := filepath.Join(raft, "filler")
	if err := os.WriteFile(filler, make([]byte, 256<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	waitFor(t, patience, "the end for lack of room", func() error {
		if _, err := c.Output(t.Context(), "qsub", "-h", "--", "/bin/true"); err != nil {
			return err
		}
		if how := c.Ended(victim.Name); len(how) < 2 || how[1] != "exit status 74" {
			return fmt.Errorf("it ended: %q", how)
		}
		return nil
	})
	if err := c.Restart(t.Context(), victim.Name); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "the word that it waits", func() error {
		if s := told(t, c, victim.Name); !strings.Contains(s, "waiting for room in "+raft) || !strings.Contains(s, "make room") {
			return fmt.Errorf("%s", s)
		}
		return nil
	})
	hc := stranger(t, c)
	hc.Transport.(*http.Transport).TLSClientConfig.ServerName = victim.Name
	if code, text, err := page(hc, "https://"+victim.Address+"/readyz"); err != nil || code != http.StatusServiceUnavailable || !strings.Contains(text, "waiting for room") {
		t.Errorf("readyz: %d %s, %v", code, text, err)
	}
	if n := statusExit(t, c); n != 3 {
		t.Errorf("exit status %d", n)
	}
	if _, err := c.Output(t.Context(), "qsub", "-h", "--", "/bin/true"); err != nil {
		t.Errorf("two of three: %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "its vote again", votes)
}
