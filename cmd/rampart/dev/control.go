package dev

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// restartWithin bounds a restart: ask, start, wait until the process answers.
const restartWithin = 60 * time.Second

// serve prints ready, answers restarts, and returns when ctx or the command ends.
func (c *cluster) serve(ctx context.Context) error {
	if err := os.Remove(c.control()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lis, err := net.Listen("unix", c.control())
	if err != nil {
		return fmt.Errorf("open the control socket: %w", err)
	}
	answered := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(answered)
		c.answer(ctx, lis)
	}()
	defer func() {
		cancel()
		_ = lis.Close()
		<-answered
	}()
	fmt.Fprintf(c.opts.Stderr, "rampart dev: . %s\n", c.env())
	if c.opts.Exec != "" {
		return c.command(ctx)
	}
	fmt.Fprintln(c.opts.Stdout, "ready")
	<-ctx.Done()
	return nil
}

// answer takes one request at a time: a line of names, and "ok" or what went wrong.
func (c *cluster) answer(ctx context.Context, lis net.Listener) {
	for {
		conn, err := lis.Accept()
		if err != nil {
			return
		}
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err == nil {
			reply := "ok"
			if err := c.restart(ctx, strings.Fields(line)); err != nil {
				reply = err.Error()
			}
			fmt.Fprintln(conn, reply)
		}
		_ = conn.Close()
	}
}

// restart starts ended processes again and waits until they take connections.
func (c *cluster) restart(ctx context.Context, names []string) error {
	if slices.Equal(names, []string{"--dead"}) {
		names = slices.DeleteFunc(c.plan.names(), c.running)
	}
	ctx, cancel := context.WithTimeout(ctx, restartWithin)
	defer cancel()
	for _, name := range names {
		if c.plan.address(name).IsValid() {
			continue
		}
		return fmt.Errorf("no process is named %s", name)
	}
	for _, name := range names {
		if err := c.startAgain(ctx, name); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := c.until(ctx, name, func() error { return dial(ctx, c.plan.listen(name)) }, name); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) running(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.processes[name]
	return p != nil && p.alive()
}

// startAgain starts a process whose end may not have been noticed yet: who killed
// it and asks at once is not told that it runs.
func (c *cluster) startAgain(ctx context.Context, name string) error {
	c.mu.Lock()
	p := c.processes[name]
	c.mu.Unlock()
	if p != nil {
		select {
		case <-p.done:
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Second):
		}
	}
	return c.startDaemon(name)
}

func dial(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Restart asks the supervisor of the cluster in dir to start processes again:
// the named ones, or with "--dead" all that have ended.
func Restart(ctx context.Context, dir string, names []string) error {
	if len(names) == 0 {
		return errors.New("name the processes, or --dead")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", layout{dir}.control())
	if err != nil {
		return fmt.Errorf("reach the cluster in %s: %w", dir, err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(restartWithin + time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(conn, strings.Join(names, " ")); err != nil {
		return err
	}
	reply, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return fmt.Errorf("restart: the cluster has stopped: %w", err)
	}
	if reply = strings.TrimSpace(reply); reply != "ok" {
		return errors.New(reply)
	}
	return nil
}
