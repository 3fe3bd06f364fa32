package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"rampart/transport/own"
)

// Options says which cluster to run.
type Options struct {
	Server   string // name of the cluster: the suffix of job ids
	Replicas int
	Zones    []string // of the replicas in turn; empty: none
	IPv6     bool     // on ::1, each process with ports of its own
	Moms     []Mom
	Dir      string   // empty: a new temporary folder, removed at the end
	Exec     string   // a shell line to run in the cluster's environment; empty: until ctx ends
	Binary   string   // the rampart program; pbs lies beside it
	Commands []string // the user commands, links to pbs
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
}

// Validate reports all faults, each naming its flag.
func (o Options) Validate() error {
	var faults []error
	if o.Replicas < 1 || o.Replicas > 9 {
		faults = append(faults, fmt.Errorf("--replicas: %d, want 1 to 9", o.Replicas))
	}
	if len(o.Moms) > 80 {
		faults = append(faults, fmt.Errorf("--moms: %d, want at most 80", len(o.Moms)))
	}
	if o.Server == "" {
		faults = append(faults, errors.New("--name: empty"))
	}
	seen := map[string]bool{}
	for _, m := range o.Moms {
		if seen[m.Name] {
			faults = append(faults, fmt.Errorf("--mom: host %s is named twice", m.Name))
		}
		seen[m.Name] = true
	}
	return errors.Join(faults...)
}

// zone returns the time zone of the replica with the number.
func (o Options) zone(replica int) string {
	if len(o.Zones) == 0 {
		return ""
	}
	return o.Zones[replica%len(o.Zones)]
}

// An ExitError is the status of the command that ran in the cluster.
type ExitError struct{ Status int }

func (e *ExitError) Error() string { return fmt.Sprintf("the command exited with status %d", e.Status) }

// readyWithin is how long a cluster may take to stand.
const readyWithin = 90 * time.Second

// Run starts the cluster, prints "ready" when it has a leader and all moms are up,
// and keeps it until ctx or the command ends. Then it stops every process of it.
func Run(ctx context.Context, o Options) (err error) {
	if err := o.Validate(); err != nil {
		return err
	}
	temporary := o.Dir == ""
	if temporary {
		if o.Dir, err = os.MkdirTemp("", "rampart-dev-"); err != nil {
			return err
		}
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	err = runIn(ctx, o)
	if temporary && err == nil {
		return os.RemoveAll(o.Dir)
	}
	if temporary {
		fmt.Fprintf(o.Stderr, "rampart dev: %s is kept, look into logs/\n", o.Dir)
	}
	return err
}

func runIn(ctx context.Context, o Options) (err error) {
	l := layout{o.Dir}
	if err := l.create(); err != nil {
		return err
	}
	lock, err := l.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	p, again, err := l.loadOrMake(o)
	if err != nil {
		return err
	}
	if err := errors.Join(l.writeEnvironment(p), Link(l.bin(), o.Binary, o.Commands)); err != nil {
		return err
	}
	k, err := startKeeper(o.Binary, l)
	if err != nil {
		return err
	}
	c := &cluster{layout: l, plan: p, opts: o, processes: map[string]*process{}}
	defer func() {
		c.end()
		err = errors.Join(err, k.stop())
		c.wait()
		err = errors.Join(err, l.removeCgroups())
	}()
	if err := c.boot(ctx, again); err != nil {
		if ctx.Err() != nil {
			return nil // Ctrl-C while it came up
		}
		return err
	}
	return c.serve(ctx)
}

// lock keeps two supervisors out of one folder.
func (l layout) lock() (*os.File, error) {
	f, err := own.Hold(filepath.Join(l.dir, "dev.lock"))
	if errors.Is(err, own.ErrRunning) {
		err = fmt.Errorf("--dir %s: another rampart dev works in it", l.dir)
	}
	return f, err
}

// command runs the user's shell line in the environment of the cluster.
func (c *cluster) command(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", c.opts.Exec)
	cmd.Env = environment(c.variables(c.plan)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.opts.Stdin, c.opts.Stdout, c.opts.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = replicaGrace
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case errors.As(err, &exit):
		return &ExitError{status(exit.ProcessState)}
	default:
		return fmt.Errorf("--exec: %w", err)
	}
}

func status(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}
