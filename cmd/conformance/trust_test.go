package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/cmd/devrun"
)

// certificate is one line of `rampart cert list --json`.
type certificate struct {
	Host    string     `json:"host"`
	Role    string     `json:"role"`
	Expires time.Time  `json:"expires"`
	Revoked *time.Time `json:"revoked"`
}

func certificates(t *testing.T, c *devrun.Cluster) map[string]certificate {
	t.Helper()
	out, err := c.Output(t.Context(), "rampart", "cert", "list", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Certificates []certificate `json:"certificates"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]certificate{}
	for _, cert := range list.Certificates {
		all[cert.Host] = cert
	}
	return all
}

// succeed runs a command that must not fail.
func succeed(t *testing.T, c *devrun.Cluster, args ...string) string {
	t.Helper()
	out, err := c.Output(t.Context(), "rampart", args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// underFailover runs a command, kills the leader while it waits, and starts it again.
func underFailover(t *testing.T, c *devrun.Cluster, want string, args ...string) {
	t.Helper()
	type answer struct {
		out string
		err error
	}
	done := make(chan answer, 1)
	go func() {
		out, err := c.Output(t.Context(), "rampart", args...)
		done <- answer{out, err}
	}()
	look := append(slices.Clone(args), "--look")
	waitFor(t, patience, "the change to begin", func() error {
		out, err := c.Output(t.Context(), "rampart", look...)
		if err == nil && (strings.HasPrefix(out, "no gossip key") || strings.Contains(out, "not being replaced")) {
			return errors.New(out)
		}
		return err
	})
	if err := c.Restart(t.Context(), killLeader(t, c)); err != nil {
		t.Fatal(err)
	}
	if a := <-done; a.err != nil || !strings.Contains(a.out, want) {
		t.Errorf("%v: %q, %v; want %q", args, a.out, a.err, want)
	}
}

func awaitEnd(t *testing.T, c *devrun.Cluster, name string) {
	t.Helper()
	waitFor(t, patience, name+" to end", func() error {
		pid, err := c.Pid(name)
		if err == nil && syscall.Kill(pid, 0) == nil {
			return fmt.Errorf("process %d lives", pid)
		}
		return nil
	})
}

// TestTrust is enrolment and keys on real processes: tokens that let nobody in and one that
// does, a mom that is revoked while the leader dies, and new keys for gossip and CA while
// leaders die, under a job that runs.
func TestTrust(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "2")
	job, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "-l", "select=1:host=federer", "--", "/bin/sleep", "600")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("join", func(t *testing.T) { joins(t, c) })
	t.Run("gossip key", func(t *testing.T) {
		if testing.Short() {
			t.Skip("the key was replaced once, when the newcomer was revoked")
		}
		underFailover(t, c, "the old one is dropped", "cluster", "rotate-gossip-key")
	})
	t.Run("CA", func(t *testing.T) {
		underFailover(t, c, "the old CA is dropped", "ca", "rotate")
	})
	t.Run("revoke", func(t *testing.T) { revokes(t, c) })
	if out, err := c.Output(t.Context(), "qstat", job); err != nil || !strings.Contains(out, " R workq") {
		t.Errorf("the job that ran: %s, %v", out, err)
	}
}

func joins(t *testing.T, c *devrun.Cluster) {
	all, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(c.Dir, "newcomer")
	join := func(kind, token string) error {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := c.Output(t.Context(), "rampart", kind, "join", "--home", home, "--host", "newcomer", "--token-file", file,
			"--listen", "127.0.0.9:15002", "--gossip", "127.0.0.9:15004", "--replica", all[0].Address)
		return err
	}
	good := succeed(t, c, "token", "create", "--role", "mom", "--host", "newcomer")
	parts := strings.Split(good, ".")
	foreign := strings.Join(append(slices.Clone(parts[:3]), strings.Repeat("A", len(parts[3]))), ".")
	revoked := succeed(t, c, "token", "create", "--role", "mom")
	succeed(t, c, "token", "revoke", revoked)
	expired := succeed(t, c, "token", "create", "--role", "mom", "--ttl", "1s")
	waitFor(t, patience, "the end of a token", func() error {
		if list := succeed(t, c, "token", "list"); strings.Count(list, " mom ") > 1 {
			return fmt.Errorf("tokens:\n%s", list)
		}
		return nil
	})
	for name, bad := range map[string]struct{ kind, token, text string }{
		"of another cluster": {"mom", foreign, "not of the cluster that the token is for"},
		"revoked":            {"mom", revoked, "token"},
		"expired":            {"mom", expired, "token"},
		"of another role":    {"server", good, "it is a token for role mom"},
		"of another host":    {"mom", succeed(t, c, "token", "create", "--role", "mom", "--host", "elsewhere"), "token"},
		"no token":           {"mom", "secret", "not an enrolment token"},
	} {
		if err := join(bad.kind, bad.token); err == nil || !strings.Contains(err.Error(), bad.text) {
			t.Errorf("a token %s: %v", name, err)
		}
	}
	if err := join("mom", good); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	if err := join("mom", good); err == nil {
		t.Error("a token let in twice")
	}
	if certificates(t, c)["newcomer"].Expires.Before(time.Now().Add(6 * 24 * time.Hour)) {
		t.Error("the newcomer is not on record")
	}
	err = filepath.WalkDir(filepath.Join(c.Dir, "homes"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Base(filepath.Dir(path)) != "tls" {
			return err
		}
		if info, err := e.Info(); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	succeed(t, c, "cert", "revoke", "newcomer") // it would hold up a new CA
	waitFor(t, 2*time.Minute, "a gossip key that the newcomer does not know", func() error {
		if out := succeed(t, c, "cluster", "rotate-gossip-key", "--look"); !strings.HasPrefix(out, "no gossip key") {
			return errors.New(out)
		}
		return nil
	})
}

func revokes(t *testing.T, c *devrun.Cluster) {
	succeed(t, c, "cert", "revoke", "borg")
	leader := killLeader(t, c)
	waitFor(t, patience, "another leader that knows it", func() error {
		out, err := c.Output(t.Context(), "rampart", "cert", "list", "--json")
		if err != nil {
			return err
		}
		if !strings.Contains(out, `"revoked"`) {
			return errors.New("nobody is revoked")
		}
		return nil
	})
	if certificates(t, c)["borg"].Revoked == nil || certificates(t, c)["federer"].Revoked != nil {
		t.Errorf("certificates: %v", certificates(t, c))
	}
	if out, err := c.Output(t.Context(), "pbsnodes", "borg"); err != nil || !strings.Contains(out, "down") {
		t.Errorf("its vnode: %s, %v", out, err)
	}
	refused := func() error {
		log, err := os.ReadFile(filepath.Join(c.Dir, "logs", "borg.log"))
		if err != nil {
			return err
		}
		if !strings.Contains(string(log), "lease not renewed") {
			return errors.New("the mom renews its lease")
		}
		return nil
	}
	waitFor(t, patience, "a mom that is refused", refused)
	if err := c.Restart(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
}
