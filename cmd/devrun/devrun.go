// Package devrun runs a `rampart dev` cluster for tests and measurements: it builds the
// programs, starts the cluster as a child, and finds, kills and restarts its processes. It
// owns the child and nothing inside it. Stop ends the cluster and waits for it.
package devrun

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"rampart/chaos/planted"
	"rampart/fsm/pbs"
	"rampart/transport"
)

// Build builds both programs of the module at root into dir, as `make build` does.
func Build(ctx context.Context, root, dir string) error { return build(ctx, root, dir, "-s -w") }

// BuildPlanted builds them with a bug of chaos/planted in them.
func BuildPlanted(ctx context.Context, root, dir, bug string) error {
	edited, err := os.MkdirTemp("", "planted")
	if err != nil {
		return fmt.Errorf("plant %s: %w", bug, err)
	}
	defer os.RemoveAll(edited)
	overlay, err := planted.Overlay(root, edited)
	if err != nil {
		return err
	}
	return build(ctx, root, dir, "-s -w -X "+planted.Variable+"="+bug, "-overlay", overlay)
}

func build(ctx context.Context, root, dir, link string, flags ...string) error {
	for _, p := range []struct{ tags, program string }{{"", "./cmd/rampart"}, {"urfave_cli_no_docs", "./cmd/pbs"}} {
		args := append([]string{"build", "-trimpath", "-tags", p.tags, "-ldflags", link, "-o", dir + string(filepath.Separator)}, flags...)
		cmd := exec.CommandContext(ctx, "go", append(args, p.program)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build the programs: %w\n%s", err, out)
		}
	}
	return nil
}

// A Cluster is a running `rampart dev`.
type Cluster struct {
	Dir string
	Env []string // in which commands find the cluster

	cmd  *exec.Cmd
	bin  string
	err  *text
	done chan struct{}
}

// text is what the supervisor says on standard error.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// Bounds of the waits for "ready", and for a leader.
const (
	startWithin   = 2 * time.Minute
	electedWithin = 30 * time.Second
)

// Start starts a cluster with the programs in bin, in the folder dir, and waits until
// it is ready.
func Start(ctx context.Context, bin, dir string, args ...string) (*Cluster, error) {
	c := &Cluster{Dir: dir, bin: bin, err: new(text), done: make(chan struct{})}
	c.cmd = exec.Command(filepath.Join(bin, "rampart"), append([]string{"dev", "--dir", dir}, args...)...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.Stderr = c.err
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan error, 1)
	go func() { // ends when the child does: Stop waits for done
		defer close(c.done)
		line, err := bufio.NewReader(out).ReadString('\n')
		if strings.TrimSpace(line) != "ready" {
			err = errors.Join(fmt.Errorf("rampart dev said %q", line), err)
		}
		ready <- err
		_, _ = io.Copy(io.Discard, out)
		_ = c.cmd.Wait()
	}()
	select {
	case err = <-ready:
	case <-time.After(startWithin):
		err = errors.New("rampart dev is not ready")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		c.Env, err = c.environment()
	}
	if err != nil {
		c.Stop()
		return nil, fmt.Errorf("start a cluster: %w\n%s", err, c.err.String())
	}
	return c, nil
}

// Stop ends the cluster and waits until all its processes have ended.
func (c *Cluster) Stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	<-c.done
}

// Kill ends the supervisor as a crash would, and waits for it alone.
func (c *Cluster) Kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}

// environment returns what env.sh exports, over our own environment.
func (c *Cluster) environment() ([]string, error) {
	cmd := exec.Command("sh", "-c", `. "$0" && env -0`, filepath.Join(c.Dir, "env.sh"))
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("read env.sh: %w", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// Command returns a command that talks to the cluster.
func (c *Cluster) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	path := filepath.Join(c.Dir, "bin", name)
	if _, err := os.Stat(path); err != nil {
		path = name
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = c.Env
	return cmd
}

// Output runs a command and returns its trimmed standard output; an error tells its
// standard error too.
func (c *Cluster) Output(ctx context.Context, name string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := c.Command(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return strings.TrimSpace(stdout.String()), fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// Pid returns the process of a replica or mom.
func (c *Cluster) Pid(name string) (int, error) {
	data, err := os.ReadFile(filepath.Join(c.Dir, "run", name+".pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(data)))
}

// Signal sends a signal to a replica or mom. After SIGSTOP it stands.
func (c *Cluster) Signal(name string, sig syscall.Signal) error {
	pid, err := c.Pid(name)
	if err != nil {
		return fmt.Errorf("signal %s: %w", name, err)
	}
	if err := syscall.Kill(pid, sig); err != nil || sig != syscall.SIGSTOP {
		return err
	}
	return awaitStop(pid)
}

// Ended returns how the ended processes of a replica or mom ended, the first one first,
// in the words of the supervisor: "exit status 74", "signal: killed".
func (c *Cluster) Ended(name string) []string {
	var all []string
	for line := range strings.Lines(c.err.String()) {
		if how, ok := strings.CutPrefix(strings.TrimSpace(line), "rampart dev: "+name+" ended: "); ok {
			all = append(all, how)
		}
	}
	return all
}

// Restart starts ended processes again.
func (c *Cluster) Restart(ctx context.Context, names ...string) error {
	_, err := c.Output(ctx, "rampart", append([]string{"dev", "restart"}, names...)...)
	return err
}

// A Replica is one line of the cluster's status.
type Replica struct {
	Name    string `json:"name"`
	Role    string `json:"role"`
	Address string `json:"address"`
	Term    uint64 `json:"term"`
	Applied uint64 `json:"applied_index"`
	Digest  string `json:"digest"`
}

// Status asks for the state of all replicas.
func (c *Cluster) Status(ctx context.Context) ([]Replica, error) {
	out, err := c.Output(ctx, "rampart", "cluster", "status", "--json")
	if err != nil && out == "" { // its exit status tells health
		return nil, err
	}
	var s struct {
		Replicas []Replica `json:"replicas"`
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		return nil, fmt.Errorf("read the status: %w", err)
	}
	return s.Replicas, nil
}

// Leader returns the name of the leader, as the replicas see it now. While they elect one, as those of a busy machine may at any
// time, it waits.
func (c *Cluster) Leader(ctx context.Context) (string, error) {
	for began := time.Now(); ; {
		all, err := c.Status(ctx)
		if err != nil {
			return "", err
		}
		var newest Replica // an older one may not have heard yet
		for _, r := range all {
			if r.Role == "leader" && r.Term > newest.Term {
				newest = r
			}
		}
		if newest.Name != "" {
			return newest.Name, nil
		}
		if time.Since(began) > electedWithin {
			return "", fmt.Errorf("no leader: %+v", all)
		}
		select {
		case <-time.After(Pause(time.Since(began))):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// Bounds of a pause between two looks at a condition.
const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 500 * time.Millisecond
)

// Pause returns how long to wait before the next look at a condition that has been waited for so long already: at most an eighth of
// that, but no less than 50 ms and no more than 500 ms. A look is a process or more, and tests that wait for long would else take the
// processors from those that do not.
func Pause(waited time.Duration) time.Duration {
	return min(max(waited/8, shortestPause), longestPause)
}

// Issue returns a certificate of this cluster, for a load that asks by itself.
func (c *Cluster) Issue(role transport.Role, host pbs.HostName) (*transport.Identity, error) {
	ca, err := transport.Files{Dir: filepath.Join(c.Home("s1"), "server_priv", "tls")}.CA()
	if err != nil {
		return nil, err
	}
	return ca.Issue(role, host, time.Now())
}

// Home returns the PBS_HOME of a replica or mom.
func (c *Cluster) Home(name string) string { return filepath.Join(c.Dir, "homes", name) }

// Accounting returns all accounting records of a replica, in their order. A record that the replica is just writing is not among them.
func (c *Cluster) Accounting(replica string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(c.Home(replica), "server_priv", "accounting", "[0-9]*"))
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, f := range files {
		if len(filepath.Base(f)) != len("20060102") {
			continue // a sidecar
		}
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		lines = append(lines, wholeLines(string(data))...)
	}
	return lines, nil
}

// wholeLines returns the lines of a file without what follows the last line feed: whoever reads beside the writer may see half of it.
func wholeLines(text string) []string {
	end := strings.LastIndexByte(text, '\n')
	if end < 0 {
		return nil
	}
	return strings.Split(text[:end], "\n")
}
