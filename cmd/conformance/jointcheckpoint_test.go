package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestCheckpoint_TwoHosts: a job that counts on two hosts is saved on both, or goes on on both; though the
// leader and a sister's mom die, it goes on there from what was saved, with the program that its
// first had started.
func TestCheckpoint_TwoHosts(t *testing.T) {
	t.Parallel()
	c := kept{newCluster(t, "--mom", "hosta:ncpus=1", "--mom", "hostb:ncpus=1")}
	dir := filepath.Join(c.Dir, "site")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("count", "#!/bin/sh\nn=0; while :; do n=$((n+1)); echo $n > "+dir+"/tmp.$1; mv "+dir+"/tmp.$1 "+dir+"/count.$1; sleep 0.1; done\n")
	write("snap", "#!/bin/sh\ntest ! -e "+dir+"/refuse.$PBS_NODENUM || exit 3\ncp "+dir+"/count.$PBS_NODENUM $1\n")
	write("restart", "#!/bin/sh\ncat $1 > "+dir+"/from.$PBS_NODENUM; echo node $PBS_NODENUM goes on\n"+
		"test $PBS_NODENUM = 0 || exec sleep 600\nuntil grep -q 'node 1' "+dir+"/out; do sleep 0.1; done\n")
	hosts := []string{"hosta", "hostb"}
	for _, host := range hosts {
		config := filepath.Join(c.Home(host), "mom_priv", "config")
		text, _ := os.ReadFile(config)
		text = fmt.Appendf(text, "\n$action checkpoint 20 !%s/snap %%path\n$action restart 20 !%s/restart %%path\n", dir, dir)
		if err := os.WriteFile(config, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := c.Signal(host, syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return strings.TrimSpace(string(text))
	}
	counts := func() {
		t.Helper()
		before := [2]string{read("count.0"), read("count.1")}
		waitFor(t, patience, "both to count on", func() error {
			now := [2]string{read("count.0"), read("count.1")}
			if now[0] == before[0] || now[1] == before[1] || now[0] == "" || now[1] == "" {
				return fmt.Errorf("%q after %q", now, before)
			}
			return nil
		})
	}
	write("job", "#!/bin/sh\nPATH=$PBS_O_PATH; pbs_tmrsh hostb "+dir+"/count 1 & exec "+dir+"/count 0\n")
	id := c.must(t, "qsub", "-l", "select=2:ncpus=1", "-l", "place=scatter", "-k", "oed", "-j", "oe", "-o", filepath.Join(dir, "out"), filepath.Join(dir, "job"))
	counts()

	write("refuse.1", "")
	if err := c.Command(t.Context(), "qhold", id).Run(); err == nil {
		t.Error("qhold says nothing of a host that was not checkpointed")
	}
	awaitJob(t, c.Cluster, id, "job_state = R.*Hold_Types = n")
	counts()
	if err := os.Remove(filepath.Join(dir, "refuse.1")); err != nil {
		t.Fatal(err)
	}

	c.must(t, "qhold", id)
	awaitJob(t, c.Cluster, id, "job_state = H.*Hold_Types = u")
	killLeader(t, c.Cluster)
	if err := c.Signal("hostb", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := c.Restart(t.Context(), "hostb"); err != nil {
		t.Fatal(err)
	}
	saved := func(host, file string) string {
		text, err := os.ReadFile(filepath.Join(c.Home(host), "checkpoint", id+".CK", file))
		if err != nil {
			t.Error(err)
		}
		return strings.TrimSpace(string(text))
	}
	want := [2]string{saved("hosta", "00000001"), saved("hostb", "00020002")}
	c.must(t, "qrls", id)
	waitFor(t, 2*patience, "both to go on", func() error {
		out := read("out")
		if got := [2]string{read("from.0"), read("from.1")}; got != want || !strings.Contains(out, "node 0 goes on") || !strings.Contains(out, "node 1 goes on") {
			return fmt.Errorf("from %q, want %q: %q", got, want, out)
		}
		return nil
	})
	waitFor(t, patience, "the end", func() error {
		if err := c.Command(t.Context(), "qstat", id).Run(); err == nil {
			return errors.New("it is still there")
		}
		return nil
	})
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "accounting, and the checkpoints to go", func() error {
		lines, err := c.Accounting(leader)
		kinds := ""
		for _, line := range lines {
			if f := strings.SplitN(line, ";", 4); len(f) == 4 && f[2] == id {
				kinds += f[1]
			}
		}
		for _, host := range hosts {
			if left, _ := filepath.Glob(filepath.Join(c.Home(host), "checkpoint", "*")); len(left) > 0 {
				return fmt.Errorf("%v", left)
			}
		}
		if kinds != "QSCTE" {
			return fmt.Errorf("%s, %v", kinds, err)
		}
		return nil
	})
}
