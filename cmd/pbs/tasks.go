package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api/apiconnect"
)

// tasks returns the client of the mom of this host, at its socket for programs of jobs.
func tasks(socket string) apiconnect.TaskManagerClient {
	c := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return transport.DialUnix(ctx, socket) },
	}}
	return apiconnect.NewTaskManagerClient(c, "http://mom", transport.Uncompressed(), connect.WithInterceptors(transport.TextOnly()))
}

// child is cli.Child as a process. A shell waits at the gate until the program may begin.
type child struct {
	*exec.Cmd
	gate *os.File
}

func start(args []string) (cli.Child, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c := exec.Command("/bin/sh", append([]string{"-c", `read -r _ <&3 && exec 3<&- && exec "$@"`, "sh"}, args...)...)
	c.Stdin, c.Stdout, c.Stderr, c.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{r}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return child{c, w}, nil
}

func (c child) Begin() error {
	_, err := c.gate.WriteString("\n")
	return errors.Join(err, c.gate.Close())
}

func (c child) PID() int { return c.Process.Pid }

func (c child) Wait() (int, error) {
	_ = c.Cmd.Wait() // how it ended is in its state
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return 0, os.ErrProcessDone
	case status.Signaled():
		return pbs.ExitSignal + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

func (c child) Kill() { _ = c.Process.Kill() }
