package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rampart/cmd/rampart/home"
)

// A cluster is the running processes of a plan.
type cluster struct {
	layout
	plan plan
	opts Options

	mu        sync.Mutex
	ending    bool
	processes map[string]*process
}

// boot brings all processes up and waits until they work together.
func (c *cluster) boot(ctx context.Context, again bool) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	steps := []func(context.Context) error{c.first, c.others, c.moms, c.settings, c.defaults, c.up}
	if again {
		steps = []func(context.Context) error{c.startAll, c.defaults, c.up}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// first makes the cluster on its first replica.
func (c *cluster) first(ctx context.Context) error {
	name := c.plan.Replicas[0]
	_, err := c.rampart(ctx, name, "server", "init", "--name", c.plan.Server, "--host", name,
		"--listen", c.plan.listen(name), "--gossip", c.plan.gossip(name), "--zone", c.opts.zone(0))
	if err != nil {
		return err
	}
	if err := c.startDaemon(name); err != nil {
		return err
	}
	return c.until(ctx, "a leader", func() error {
		s, err := c.status(ctx)
		if err != nil {
			return err
		}
		if !s.hasLeader() {
			return errors.New("no leader is elected")
		}
		return nil
	})
}

// others lets the other replicas join, one after the other: each changes the
// membership.
func (c *cluster) others(ctx context.Context) error {
	if len(c.plan.Replicas) == 1 {
		return nil
	}
	token, err := c.token(ctx, "replica", "--reusable")
	if err != nil {
		return err
	}
	for i, name := range c.plan.Replicas[1:] {
		_, err := c.joined(ctx, name, token, "server", "join", "--host", name,
			"--replica", c.plan.listen(c.plan.Replicas[0]), "--listen", c.plan.listen(name), "--gossip", c.plan.gossip(name), "--zone", c.opts.zone(i+1))
		if err != nil {
			return err
		}
		if err := c.startDaemon(name); err != nil {
			return err
		}
	}
	return nil
}

// moms lets all execution hosts join at once, and starts them one after the other: the
// scheduler fills vnodes in the order in which they came.
func (c *cluster) moms(ctx context.Context) error {
	if len(c.plan.Moms) == 0 {
		return nil
	}
	var g errgroup.Group
	for _, m := range c.plan.Moms {
		g.Go(func() error { return c.join(ctx, m) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, m := range c.plan.Moms {
		if err := c.startDaemon(m.Name); err != nil {
			return err
		}
		if err := c.until(ctx, m.Name, func() error { return c.vnodesUp(ctx, m) }); err != nil {
			return err
		}
	}
	return nil
}

// momConfig returns the configuration of a mom on a machine that passes for many: all share
// their files, and each has a TMPDIR of its own, for job ids of several clusters are the
// same.
func (l layout) momConfig(name string) string {
	return "$usecp *:/ /\n$tmpdir " + l.tmp(name) + "\n$cgroup_parent " + l.cgroups() + "/" + name + "\n"
}

// momEnvironment has the commands of a job's script ask through the mom of its host, as on a
// site's hosts, whichever replicas are there.
func (l layout) momEnvironment(name string) string {
	return "PATH=" + l.bin() + ":/usr/local/bin:/usr/bin:/bin\nPBS_CONF_FILE=" + l.conf() + "\nPBS_EXEC=" + l.dir + "\nPBS_HOME=" + l.home(name) + "\n"
}

// furnish writes what a mom reads at its start.
func (l layout) furnish(m Mom) error {
	file := filepath.Join(l.home(m.Name), "mom_priv", "config.d", "dev")
	for _, d := range []string{filepath.Dir(file), l.tmp(m.Name)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	return errors.Join(
		os.Chmod(l.tmp(m.Name), 0o777|os.ModeSticky),
		os.WriteFile(file, []byte(m.Definition()), 0o644),
		os.WriteFile(filepath.Join(l.home(m.Name), "mom_priv", "config"), []byte(l.momConfig(m.Name)), 0o644),
		os.WriteFile(filepath.Join(l.home(m.Name), "pbs_environment"), []byte(l.momEnvironment(m.Name)), 0o644),
	)
}

func (c *cluster) join(ctx context.Context, m Mom) error {
	if err := c.furnish(m); err != nil {
		return err
	}
	token, err := c.token(ctx, "mom", "--host", m.Name)
	if err != nil {
		return err
	}
	_, err = c.joined(ctx, m.Name, token, "mom", "join", "--host", m.Name,
		"--replica", c.plan.listen(c.plan.Replicas[0]), "--listen", c.plan.listen(m.Name), "--gossip", c.plan.gossip(m.Name))
	return err
}

// settings makes one machine pass for many: a user is the same on all hosts, and
// root may run jobs when root started the cluster.
func (c *cluster) settings(ctx context.Context) error {
	directives := []string{"set server flatuid = True"}
	if os.Geteuid() == 0 {
		directives = append(directives, "set server acl_roots = root")
	}
	for _, d := range directives {
		if _, err := c.run(ctx, filepath.Join(c.bin(), "qmgr"), "-c", d); err != nil {
			return err
		}
		fmt.Fprintf(c.opts.Stderr, "rampart dev: %s\n", d)
	}
	return nil
}

func (c *cluster) startAll(context.Context) error {
	for _, name := range c.plan.names() {
		if err := c.startDaemon(name); err != nil {
			return err
		}
	}
	return nil
}

// startDaemon starts the process of a replica or mom.
func (c *cluster) startDaemon(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return errors.New("the cluster is being stopped")
	}
	if p := c.processes[name]; p != nil && p.alive() {
		return fmt.Errorf("%s is running", name)
	}
	sub := "mom"
	if c.plan.isReplica(name) {
		sub = "server"
	}
	cmd := exec.Command(c.opts.Binary, sub)
	cmd.Env = environment("PBS_HOME="+c.home(name), "PBS_CONF_FILE="+c.conf(), "PBS_EXEC="+c.dir)
	p, err := start(c.layout, name, cmd, c.exited)
	if err != nil {
		return err
	}
	c.processes[name] = p
	return nil
}

func (c *cluster) exited(p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ending {
		fmt.Fprintf(c.opts.Stderr, "rampart dev: %s ended: %s\n", p.name, p.cmd.ProcessState)
	}
}

// end says that from now on the end of a process is meant, and that none starts.
func (c *cluster) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
}

// wait waits for the goroutines of all processes.
func (c *cluster) wait() {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.processes))
	c.mu.Unlock()
	for _, p := range all {
		<-p.done
	}
}

// rampart runs one of our own commands with the home of a process.
func (c *cluster) rampart(ctx context.Context, name string, args ...string) (string, error) {
	return c.joined(ctx, name, "", args...)
}

// joined is rampart with an enrolment token, which stands in no list of processes.
func (c *cluster) joined(ctx context.Context, name, token string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.opts.Binary, args...)
	cmd.Env = environment("PBS_HOME="+c.home(name), "PBS_CONF_FILE="+c.conf(), "PBS_EXEC="+c.dir, home.TokenVariable+"="+token)
	return output(cmd)
}

// run runs a command in the environment of users.
func (c *cluster) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = environment(c.variables(c.plan)...)
	return output(cmd)
}

func output(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args[1:], " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), err
}

func (c *cluster) token(ctx context.Context, role string, more ...string) (string, error) {
	return c.run(ctx, append([]string{c.opts.Binary, "token", "create", "--role", role}, more...)...)
}

// until tries check until it has nothing to say, and fails with its last words when
// ctx ends or a process dies: one of those named, or any.
func (c *cluster) until(ctx context.Context, what string, check func() error, names ...string) error {
	tick := time.NewTicker(50 * time.Millisecond) // most checks are a process each
	defer tick.Stop()
	for {
		last := check()
		if last == nil {
			return nil
		}
		if name, dead := c.dead(names); dead {
			return fmt.Errorf("wait for %s: %s has ended:\n%s", what, name, c.tail(name))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; last seen: %w", what, ctx.Err(), last)
		case <-tick.C:
		}
	}
}

func (c *cluster) dead(names []string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(c.processes))
	}
	for _, name := range names {
		if !c.processes[name].alive() {
			return name, true
		}
	}
	return "", false
}
