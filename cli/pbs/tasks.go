package pbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sync/errgroup"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

const (
	taskSocket   = "PBS_TASK_SOCKET"
	spawnsAtOnce = 64
	// momAway is how long the mom of this host may be away, while it is started again.
	momAway  = time.Minute
	askAgain = 200 * time.Millisecond
	notInJob = "%s: not executing under PBS\n"
)

// A tasker is a program of a job that asks the mom of its host.
type tasker struct {
	env  *cli.Env
	name string
	me   *api.Credential
	mom  apiconnect.TaskManagerClient

	mu sync.Mutex // of standard output and error
}

// newTasker returns nil outside of a job.
func newTasker(env *cli.Env, name string) *tasker {
	job, cookie, socket := env.Getenv("PBS_JOBID"), env.Getenv("PBS_JOBCOOKIE"), env.Getenv(taskSocket)
	if job == "" || cookie == "" || socket == "" || env.Tasks == nil {
		return nil
	}
	return &tasker{env: env, name: name, me: &api.Credential{Job: job, Cookie: cookie}, mom: env.Tasks(socket)}
}

// insist asks until there is an answer, or the mom has been away for too long.
func insist[T any](ctx context.Context, ask func() (*connect.Response[T], error)) (*T, error) {
	began := time.Now()
	for {
		reply, err := ask()
		if err == nil {
			return reply.Msg, nil
		}
		err = transport.FromWire(err)
		if _, refused := errors.AsType[*pbs.Error](err); refused || time.Since(began) > momAway || !again(ctx) {
			return nil, err
		}
	}
}

func again(ctx context.Context) bool {
	timer := time.NewTimer(askAgain)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (t *tasker) nodes(ctx context.Context) (*api.NodesReply, error) {
	return insist(ctx, func() (*connect.Response[api.NodesReply], error) {
		return t.mom.Nodes(ctx, connect.NewRequest(&api.NodesRequest{Credential: t.me}))
	})
}

// spawn starts a program at a node; unattended, nobody waits for it.
func (t *tasker) spawn(ctx context.Context, node int, args []string, unattended bool) (*api.RunTaskReply, error) {
	req := &api.RunTaskRequest{
		Credential: t.me, Node: uint32(node), Key: t.env.NewRequestID(), Args: args, Unattended: unattended,
	}
	return insist(ctx, func() (*connect.Response[api.RunTaskReply], error) { return t.mom.Run(ctx, connect.NewRequest(req)) })
}

// follow passes a program's output on until it ends, and returns its exit status.
func (t *tasker) follow(ctx context.Context, p *api.RunTaskReply) (int, error) {
	req := &api.OutputRequest{Credential: t.me, Host: p.GetHost(), Program: p.GetProgram()}
	for heard := time.Now(); ; {
		end, err := t.receive(ctx, req, &heard)
		_, refused := errors.AsType[*pbs.Error](err)
		switch {
		case end != nil && end.GetFailed() != "":
			return 0, errors.New(end.GetFailed())
		case end != nil:
			return int(end.GetExitStatus()), nil
		case refused || time.Since(heard) > momAway || !again(ctx):
			return 0, err
		}
	}
}

// receive reads one stream; it returns the last message if that was the program's end.
func (t *tasker) receive(ctx context.Context, req *api.OutputRequest, heard *time.Time) (*api.FollowReply, error) {
	stream, err := t.mom.Output(ctx, connect.NewRequest(req))
	if err != nil {
		return nil, transport.FromWire(err)
	}
	defer stream.Close()
	for stream.Receive() {
		*heard = time.Now()
		m := stream.Msg()
		req.OutOffset += uint64(len(m.GetOut()))
		req.ErrOffset += uint64(len(m.GetErr()))
		t.write(t.env.Stdout, m.GetOut())
		t.write(t.env.Stderr, m.GetErr())
		if m.GetExited() {
			return m, nil
		}
	}
	return nil, transport.FromWire(stream.Err())
}

func (t *tasker) write(w io.Writer, data []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = w.Write(data) // a reader that has gone does not end the programs
}

func (t *tasker) say(format string, args ...any) {
	t.write(t.env.Stderr, fmt.Appendf(nil, t.name+": "+format+"\n", args...))
}

func pbsdsh() *cli.Command {
	c := &cli.Command{
		Name: "pbsdsh", Summary: "run a program on the nodes of the job", UsageStatus: 1,
		Grammar: cli.Grammar{Letters: "+c:n:svo"},
		Usage: "usage: pbsdsh [-c copies] [-s] [-v] [-o] [--] program [args]\n" +
			"       pbsdsh [-n index] [-s] [-v] [-o] [--] program [args]\n       pbsdsh --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		if len(opts.Operands) == 0 || opts.Has("c") && opts.Has("n") {
			return c.Misuse()
		}
		t := newTasker(env, c.Name)
		if t == nil {
			fmt.Fprintf(env.Stderr, notInJob, c.Name)
			return cli.Status(1)
		}
		table, err := t.nodes(ctx)
		if err != nil {
			t.say("%v", err)
			return cli.Status(1)
		}
		nodes, ok := nodesFor(opts, len(table.GetHosts()))
		if !ok {
			return c.Misuse()
		}
		return t.everywhere(ctx, nodes, opts)
	}
	return c
}

// nodesFor returns the nodes to run on; false says that they are named wrongly.
func nodesFor(opts *cli.Options, count int) ([]int, bool) {
	number := func(text string) (int, bool) {
		n, err := strconv.ParseUint(text, 10, 31)
		return int(n), err == nil
	}
	if text := opts.Last("n"); text != "" {
		n, ok := number(text)
		return []int{n % max(count, 1)}, ok && count > 0 // past the end it begins again, as in PBS
	}
	copies := count
	if text := opts.Last("c"); text != "" {
		n, ok := number(text)
		if copies = n; !ok || n == 0 || n > 1<<16 {
			return nil, false
		}
	}
	nodes := make([]int, copies)
	for i := range nodes {
		nodes[i] = i % max(count, 1)
	}
	return nodes, count > 0
}

// everywhere runs the program on the nodes, one after the other if it is to be so.
func (t *tasker) everywhere(ctx context.Context, nodes []int, opts *cli.Options) error {
	var all errgroup.Group
	all.SetLimit(spawnsAtOnce)
	if opts.Has("s") {
		all.SetLimit(1)
	}
	var waits sync.WaitGroup
	for _, node := range nodes {
		all.Go(func() error {
			p, err := t.spawn(ctx, node, opts.Operands, opts.Has("o"))
			if err != nil {
				t.say("error %d on spawn", pbs.CodeOf(err))
				return cli.Status(1)
			}
			if opts.Has("v") {
				t.say("spawned task %08x on node %d, %s", p.GetProgram(), node, p.GetHost())
			}
			switch {
			case opts.Has("o"):
				return nil
			case opts.Has("s"):
				return t.finish(ctx, p, opts.Has("v"))
			}
			waits.Go(func() { _ = t.finish(ctx, p, opts.Has("v")) })
			return nil
		})
	}
	err := all.Wait()
	waits.Wait()
	return err
}

func (t *tasker) finish(ctx context.Context, p *api.RunTaskReply, verbose bool) error {
	status, err := t.follow(ctx, p)
	switch {
	case err != nil:
		t.say("task %08x: %v", p.GetProgram(), err)
		return cli.Status(1)
	case verbose || status != 0:
		t.say("task %08x exit status %d", p.GetProgram(), status)
	}
	return nil
}

func pbsTmrsh() *cli.Command {
	c := &cli.Command{
		Name: "pbs_tmrsh", Summary: "run a command on a host of the job", UsageStatus: 255,
		Grammar: cli.Grammar{Letters: "+l:n"},
		Usage:   "usage: pbs_tmrsh host [-l user] [-n] command [args]\n       pbs_tmrsh --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		host, args := remoteCommand(opts)
		if host == "" || len(args) == 0 {
			return c.Misuse()
		}
		t := newTasker(env, c.Name)
		if t == nil {
			fmt.Fprintf(env.Stderr, notInJob, c.Name)
			return cli.Status(255)
		}
		table, err := t.nodes(ctx)
		if err != nil {
			t.say("%v", err)
			return cli.Status(255)
		}
		node := nodeOf(table, host)
		if node < 0 {
			t.say("host %q is not a node in job <%s>", host, t.me.GetJob())
			return cli.Status(255)
		}
		// As rsh does, a shell at the other end reads the command.
		p, err := t.spawn(ctx, node, []string{"/bin/sh", "-c", strings.Join(args, " ")}, false)
		if err != nil {
			t.say("error %d on spawn", pbs.CodeOf(err))
			return cli.Status(255)
		}
		status, err := t.follow(ctx, p)
		if err != nil {
			t.say("%v", err)
			return cli.Status(255)
		}
		return exitAs(status)
	}
	return c
}

// remoteCommand takes the options that rsh takes after the host, too, from the operands.
func remoteCommand(opts *cli.Options) (host string, args []string) {
	if len(opts.Operands) == 0 {
		return "", nil
	}
	host, args = opts.Operands[0], opts.Operands[1:]
	for len(args) > 0 {
		switch {
		case args[0] == "-n":
			args = args[1:]
		case args[0] == "-l" && len(args) > 1:
			args = args[2:]
		default:
			return host, args
		}
	}
	return host, nil
}

// exitAs ends as the program did; of a signal a shell makes a status.
func exitAs(status int) error {
	switch {
	case status == 0:
		return nil
	case status >= pbs.ExitSignal:
		return cli.Status(128 + status - pbs.ExitSignal)
	}
	return cli.Status(status)
}

// nodeOf returns the first node of a host, by its name or address; -1 if it is none of the job's.
func nodeOf(table *api.NodesReply, host string) int {
	for _, h := range table.GetAddresses() {
		if address, _, err := net.SplitHostPort(h.GetAddress()); err == nil && address == host {
			host = h.GetName()
			break
		}
	}
	for i, name := range table.GetHosts() {
		if pbs.SameHost(name, host) {
			return i
		}
	}
	return -1
}
