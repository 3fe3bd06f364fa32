package conformance

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// hangingGetent knows dirann of uid 61234, and hangs once a file exists: what it then says in
// the end, nothing, is no answer.
const hangingGetent = `#!/bin/sh
[ -e "${0%/*}/hang" ] && exec sleep 25
case "$*" in
"passwd dirann"|"passwd 61234") echo "dirann:x:61234:61234:Ann:/tmp:/bin/sh" ;;
"initgroups dirann") echo "dirann 61234 61235" ;;
"group 61234 61235") echo "dirgroup:x:61234:"; echo "dirproject:x:61235:dirann" ;;
*) exit 2 ;;
esac
`

// A directory of users that hangs is no outage: root needs it for nothing, an owner of jobs is
// known even to a replica and to a mom that have never asked for him, and who is not known is told why.
func TestDirectory_Hangs(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("jobs of others take root")
	}
	dir := filepath.Join(scratch, "directory")
	site := filepath.Join(dir, "site")
	if err := os.MkdirAll(site, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(site, "getent"), []byte(hangingGetent), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", site+":"+os.Getenv("PATH"))
	c, err := devrun.Start(t.Context(), bin, filepath.Join(dir, "d"), "--moms", "1", "--replicas", "1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	asAt := func(c *devrun.Cluster, uid uint32, name string, args ...string) (string, error) {
		cmd := c.Command(context.WithoutCancel(t.Context()), name, args...)
		cmd.Dir, cmd.SysProcAttr = "/tmp", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	as := func(uid uint32, name string, args ...string) (string, error) { return asAt(c, uid, name, args...) }
	out := filepath.Join("/tmp", filepath.Base(scratch)+".out")
	defer os.Remove(out)
	job, err := as(61234, "qsub", "-h", "-j", "oe", "-o", out, "--", "/usr/bin/id", "-u")
	if err != nil {
		t.Fatalf("qsub: %s, %v", job, err)
	}
	if err := os.WriteFile(filepath.Join(site, "hang"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.Signal("s1", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := c.Restart(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if out, err := c.Output(t.Context(), "qstat"); err != nil {
		t.Fatalf("qstat of root: %s, %v", out, err)
	}

	if said, err := as(61299, "qstat"); err == nil || !strings.Contains(said, "the directory of users does not answer") {
		t.Errorf("qstat of a stranger: %s, %v", said, err)
	}
	if said := told(t, c, "s1"); !strings.Contains(said, "the directory of users has not answered since") {
		t.Errorf("cluster status: %s", said)
	}
	if said, err := as(61234, "qstat", job); err != nil || !strings.Contains(said, "dirann") {
		t.Errorf("qstat of an owner of jobs: %s, %v", said, err)
	}
	if said, err := as(61234, "qrls", job); err != nil {
		t.Errorf("qrls: %s, %v", said, err)
	}
	wait := exec.CommandContext(t.Context(), "sh", "-c", `until [ -s "$0" ]; do sleep 0.1; done`, out)
	if err := wait.Run(); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(out); string(text) != "61234\n" {
		t.Errorf("the job ran as %q", text)
	}
	login := loginHost(t, c) // its daemon has never asked for anybody
	if said, err := asAt(login, 61234, "qstat"); err != nil {
		t.Errorf("qstat of an owner of jobs at a login host: %s, %v", said, err)
	}
	if said, err := asAt(login, 61299, "qstat"); err == nil || !strings.Contains(said, "the directory of users does not answer") {
		t.Errorf("qstat of a stranger at a login host: %s, %v", said, err)
	}
	if _, err := c.Output(t.Context(), "rampart", "account", "forget", "dirann"); err != nil {
		t.Fatal(err)
	}
	if said, err := as(61234, "qstat"); err == nil || !strings.Contains(said, "does not answer") {
		t.Errorf("qstat of one who is forgotten: %s, %v", said, err)
	}
	if _, err := c.Output(t.Context(), "qstat"); err != nil {
		t.Errorf("qstat of root: %v", err)
	}
	waitFor(t, patience, "the daemon of the login host to forget", func() error {
		if said, err := asAt(login, 61234, "qstat"); err == nil || !strings.Contains(said, "look up user 61234") {
			return fmt.Errorf("%s, %w", said, err)
		}
		return nil
	})
}
