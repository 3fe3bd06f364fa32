package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

// A yard is a cluster that an operator makes by hand, of processes on loopback addresses.
type yard struct {
	t    *testing.T
	dir  string
	bin  string // of the commands
	net  string // first three bytes of the addresses
	last int    // of the addresses
	env  []string
	runs []*exec.Cmd
}

// yardOn makes a yard on the addresses of a cluster that has ended.
func yardOn(t *testing.T, c *devrun.Cluster) *yard {
	t.Helper()
	var plan struct{ Net string }
	data, err := os.ReadFile(filepath.Join(c.Dir, "dev.json"))
	if err == nil {
		err = json.Unmarshal(data, &plan)
	}
	if err != nil || plan.Net == "" {
		t.Fatalf("the addresses of the cluster: %q, %v", data, err)
	}
	dir, err := os.MkdirTemp("", "rc-") // short: paths of sockets are below it
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{t: t, dir: dir, bin: filepath.Join(c.Dir, "bin"), net: plan.Net}
	conf := filepath.Join(dir, "pbs.conf")
	err = errors.Join(os.Chmod(dir, 0o755), os.WriteFile(conf, []byte("PBS_EXEC="+c.Dir+"\nPBS_SERVER="+y.net+".1\n"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	y.env = append(os.Environ(), "PATH="+y.bin+":"+os.Getenv("PATH"), "PBS_CONF_FILE="+conf, "PBS_EXEC="+c.Dir, "PBS_HOME="+y.home("s1"))
	t.Cleanup(func() {
		y.stop()
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
	return y
}

func (y *yard) home(name string) string { return filepath.Join(y.dir, name) }

// run runs a command in the home of a daemon.
func (y *yard) run(home, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(y.t.Context(), filepath.Join(y.bin, name), args...)
	cmd.Env = append(y.env[:len(y.env):len(y.env)], "PBS_HOME="+y.home(home), "PBS_GATEWAY="+filepath.Join(y.home("s1"), "run", "s1.sock"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), err
}

func (y *yard) must(home, name string, args ...string) string {
	y.t.Helper()
	out, err := y.run(home, name, args...)
	if err != nil {
		y.t.Fatal(err)
	}
	return out
}

// make makes a daemon of what init or join are told, on an address of its own, and starts it.
func (y *yard) make(kind, name string, args ...string) {
	y.t.Helper()
	port, gossip := "15001", "15003"
	if kind == "mom" {
		port, gossip = "15002", "15004"
	}
	y.last++
	at := fmt.Sprintf("%s.%d:", y.net, y.last)
	args = append([]string{kind}, append(args, "--host", name, "--listen", at+port, "--gossip", at+gossip)...)
	y.must(name, "rampart", args...)
	log, err := os.Create(filepath.Join(y.dir, name+".log"))
	if err != nil {
		y.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(y.bin, "rampart"), kind)
	cmd.Env = append(y.env[:len(y.env):len(y.env)], "PBS_HOME="+y.home(name))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		y.t.Fatal(err)
	}
	y.runs = append(y.runs, cmd)
}

// stop ends the daemons, the latest first: moms end their jobs while there are servers.
func (y *yard) stop() {
	for _, cmd := range slices.Backward(y.runs) {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
	y.runs = nil
}

// accounting returns the day files and sidecars below a home, or in a backup.
func accounting(dir string) (map[string]string, error) {
	days, err := filepath.Glob(filepath.Join(dir, "*20[0-9]*"))
	all := map[string]string{}
	for _, path := range days {
		data, failed := os.ReadFile(path)
		err = errors.Join(err, failed)
		all[filepath.Base(path)] = string(data)
	}
	return all, err
}

// TestDrill_EverythingIsLostButABackup follows docs/operations.md: a backup on schedule, the
// loss of all hosts, a new cluster from it with two more replicas and a mom.
func TestDrill_EverythingIsLostButABackup(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1")
	submit := func(args ...string) string {
		t.Helper()
		id, err := c.Output(t.Context(), "qsub", append([]string{"-o", "/dev/null", "-j", "oe"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(id)
	}
	done, held, ran := submit("--", "/bin/true"), submit("-h", "--", "/bin/true"), submit("--", "/bin/sleep", "1000")
	waitFor(t, patience, "jobs that end and run", func() error {
		out, err := c.Output(t.Context(), "qstat", "-f", ran)
		if err == nil && !strings.Contains(out, "substate = 42") {
			return errors.New(out)
		}
		if _, gone := c.Output(t.Context(), "qstat", done); gone == nil {
			return errors.New(done + " is still there")
		}
		return err
	})
	if _, err := c.Output(t.Context(), "rampart", "cluster", "snapshot", "schedule", "--every", "10m", "--keep", "2"); err != nil {
		t.Fatal(err)
	}
	var made []string
	waitFor(t, patience, "a backup of each replica", func() error {
		made = nil
		for _, name := range replicas {
			dirs, err := filepath.Glob(filepath.Join(c.Home(name), "backups", "backup-*"))
			if err != nil || len(dirs) != 1 {
				return fmt.Errorf("%s has %q, %w", name, dirs, err)
			}
			made = append(made, dirs...)
		}
		return nil
	})
	for _, dir := range made {
		if out, err := c.Output(t.Context(), "rampart", "cluster", "snapshot", "inspect", dir); err != nil || !strings.Contains(out, "accounting: whole") {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if out, err := c.Output(t.Context(), "rampart", "cluster", "snapshot", "list"); err != nil || !strings.Contains(out, "backup-20") {
		t.Errorf("%v\n%s", err, out)
	}
	c.Stop()
	y := yardOn(t, c)
	backup := filepath.Join(y.dir, "backup")
	if err := errors.Join(os.CopyFS(backup, os.DirFS(made[1])), os.RemoveAll(filepath.Join(c.Dir, "homes"))); err != nil {
		t.Fatal(err)
	}
	before, err := accounting(filepath.Join(backup, "accounting"))
	if err != nil || len(before) < 2 {
		t.Fatalf("accounting of before: %v, %v", before, err)
	}

	y.make("server", "s1", "init", "--from", backup)
	var token string
	waitFor(t, patience, "the founder to lead", func() (err error) {
		token, err = y.run("s1", "rampart", "token", "create", "--role", "replica", "--reusable")
		return err
	})
	for _, name := range []string{"s2", "s3"} {
		y.make("server", name, "join", "--token", token, "--replica", y.net+".1:15001")
	}
	if out := y.must("s1", "pbsnodes", "-a"); !strings.Contains(out, "state = state-unknown,down") {
		t.Errorf("vnodes of hosts that have not enrolled:\n%s", out)
	}
	if err := os.MkdirAll(filepath.Join(y.home("borg"), "mom_priv"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := "$usecp *:/ /\n$tmpdir " + y.dir + "\n"
	if err := os.WriteFile(filepath.Join(y.home("borg"), "mom_priv", "config"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	token = y.must("s1", "rampart", "token", "create", "--role", "mom", "--host", "borg")
	y.make("mom", "borg", "join", "--token", token, "--replica", y.net+".1:15001")
	waitFor(t, patience, "the job that ran to run again", func() error {
		out, err := y.run("s1", "qstat", "-f", ran)
		if err == nil && !(strings.Contains(out, "substate = 42") && strings.Contains(out, "run_count = 2")) {
			err = errors.New(out)
		}
		return err
	})
	y.must("s1", "qrls", held)
	next := y.must("s1", "qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/true")
	if !strings.HasPrefix(next, "1000") {
		t.Errorf("the next job is %s", next)
	}
	waitFor(t, patience, "equal accounting on all replicas, behind that of before", func() error {
		first, err := accounting(filepath.Join(y.home("s1"), "server_priv", "accounting"))
		for name, text := range before {
			if !strings.HasPrefix(first[name], text) {
				err = errors.Join(err, fmt.Errorf("%s of before is not there", name))
			}
		}
		text := strings.Join(slices.Collect(maps.Values(first)), "")
		for _, id := range []string{done, held, next} {
			if strings.Count(text, ";E;"+id+";") != 1 {
				err = errors.Join(err, fmt.Errorf("%s has not one E record", id))
			}
		}
		for _, name := range []string{"s2", "s3"} {
			other, failed := accounting(filepath.Join(y.home(name), "server_priv", "accounting"))
			if err = errors.Join(err, failed); !maps.Equal(first, other) {
				err = errors.Join(err, fmt.Errorf("the files of %s differ", name))
			}
		}
		return err
	})
	waitFor(t, patience, "replicas that vote", func() error {
		out, err := y.run("s1", "rampart", "cluster", "status")
		if err == nil && strings.Count(out, "follower") != 2 {
			err = errors.New(out)
		}
		return err
	})
	file := filepath.Join(y.dir, "after")
	y.must("s1", "rampart", "cluster", "snapshot", "save", file) // reading it back proves digest and laws
	if out := y.must("s1", "rampart", "cluster", "snapshot", "inspect", file); !strings.Contains(out, "digest: ") {
		t.Errorf("the state afterwards:\n%s", out)
	}
	y.must("s1", "qdel", ran)
	waitFor(t, time.Minute, "the end of the job", func() error {
		if _, err := y.run("s1", "qstat", ran); err == nil {
			return errors.New(ran + " is still there")
		}
		return nil
	})
}
