package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/cmd/devrun"
)

// seen waits until the output of a command, errors included, satisfies a condition.
func seen(t *testing.T, c *devrun.Cluster, what string, want func(out string) bool, name string, args ...string) {
	t.Helper()
	for began := time.Now(); ; poll(began) {
		out, err := c.Output(t.Context(), name, args...)
		if err != nil {
			out += err.Error()
		}
		if want(out) {
			return
		}
		if time.Since(began) > patience {
			t.Fatalf("%s: never seen by %s %q; last seen:\n%s", what, name, args, out)
		}
	}
}

// Vnode definition files are inserted, read at SIGHUP, and removed; what qmgr deletes stays
// deleted until it is created again (specification: cli-contract section 9).
func TestVnodes_DefinitionFiles(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--replicas", "1", "--mom", "hosta:ncpus=2,mem=2gb")
	file := filepath.Join(t.TempDir(), "two")
	text := "$configversion 2\nhosta[7]: resources_available.ncpus = 1\nhosta[7]: Priority = 5\nhosta[8]: resources_available.ncpus = 1\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	define := func(words ...string) string {
		t.Helper()
		out, err := c.Output(t.Context(), filepath.Join(bin, "rampart"), append([]string{"mom", "--home", c.Home("hosta"), "-s"}, words...)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	reread := func() {
		t.Helper()
		if err := c.Signal("hosta", syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	define("insert", "two", file)
	if out := define("list"); !strings.Contains(out, "two") {
		t.Errorf("-s list says %q", out)
	}
	if out := define("show", "two"); out != strings.TrimSpace(text) {
		t.Errorf("-s show says %q", out)
	}
	reread()
	seen(t, c, "a vnode of the file", func(out string) bool {
		return strings.Contains(out, "Priority = 5") && strings.Contains(out, "state = free")
	}, "pbsnodes", "-v", "hosta[7]")
	if out, err := c.Output(t.Context(), "qmgr", "-c", "set node hosta[7] Priority = 9"); err != nil {
		t.Fatal(out, err)
	}
	define("remove", "two")
	reread()
	seen(t, c, "a vnode that is no longer in a file", func(out string) bool {
		return strings.Contains(out, "state = Stale") && strings.Contains(out, "Priority = 9")
	}, "pbsnodes", "-v", "hosta[7]")

	if out, err := c.Output(t.Context(), "qmgr", "-c", "delete node @default"); err != nil {
		t.Fatal(out, err)
	}
	define("insert", "two", file)
	reread()
	seen(t, c, "no vnodes", func(out string) bool { return strings.Contains(out, "Server has no node list") }, "pbsnodes", "-av")
	if out, err := c.Output(t.Context(), "qmgr", "-c", "create node hosta"); err != nil {
		t.Fatal(out, err)
	}
	seen(t, c, "the vnodes again", func(out string) bool {
		return strings.Count(out, "state = free") == 3 && strings.Contains(out, "Priority = 5")
	}, "pbsnodes", "-av")
}
