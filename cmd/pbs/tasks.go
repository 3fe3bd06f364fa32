package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"

	"rampart/cli"
	"rampart/transport"
	"rampart/transport/api/apiconnect"
)

// tasks returns the client of the mom of this host, at its socket for programs of jobs.
func tasks(socket string) apiconnect.TaskManagerClient {
	c := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return transport.DialUnix(ctx, socket) },
	}}
	return apiconnect.NewTaskManagerClient(c, "http://mom", transport.Uncompressed())
}

// child is cli.Child as a process.
type child struct{ *exec.Cmd }

func start(args []string) (cli.Child, error) {
	c := exec.Command(args[0], args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return child{c}, c.Start()
}

func (c child) PID() int { return c.Process.Pid }

func (c child) Wait() (int, error) {
	_ = c.Cmd.Wait() // how it ended is in its state
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return 0, os.ErrProcessDone
	case status.Signaled():
		return 256 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

func (c child) Kill() { _ = c.Process.Kill() }
