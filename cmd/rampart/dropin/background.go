package dropin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"rampart/cmd/rampart/home"
	"rampart/transport/own"
)

const (
	// upVariable holds the number of the pipe on which a daemon in the background says that
	// it is up.
	upVariable = "RAMPART_UP_FD"
	// upWithin bounds the wait for that; a disk may have to be read first.
	upWithin = 90 * time.Second
	// said is how much of what a daemon said before it ended is told on.
	said = 4 << 10
)

// A StatusError is the end of a daemon that did not come up, after its own words.
type StatusError struct {
	Status int
	Text   string
}

// Error returns the daemon's words.
func (e *StatusError) Error() string { return e.Text }

// background starts this program again as a daemon with the option -N, and returns when it
// is up. The daemon has no terminal and no pipe of ours: its standard output is a file
// below PBS_HOME that the next start replaces.
func (c *call) background(ctx context.Context) error {
	out, err := c.output()
	if err != nil {
		return err
	}
	defer out.Close()
	up, tell, err := os.Pipe()
	if err != nil {
		return err
	}
	defer up.Close()
	if err := home.DropToken(); err != nil { // the daemon has joined by now
		return err
	}
	cmd := exec.Command(c.world.Program)
	cmd.Args = append([]string{c.world.Args[0], "-N"}, c.world.Args[1:]...)
	cmd.Dir = string(c.home)
	cmd.Env = append(environment(), upVariable+"=3")
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = out, out, []*os.File{tell}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = tell.Close()
	if err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	word := make(chan string, 1)
	go func() { // ends when the pipe is closed: by us, or by the daemon's word or end
		text, _ := io.ReadAll(up)
		word <- string(text)
	}()
	select {
	case text := <-word:
		return c.heard(cmd, text)
	case <-time.After(upWithin):
		return fmt.Errorf("process %d is not up after %s; see %s", cmd.Process.Pid, upWithin, out.Name())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// heard judges the word of the daemon; none at all means that it has ended.
func (c *call) heard(cmd *exec.Cmd, text string) error {
	if why, ok := strings.CutPrefix(text, "up"); ok {
		if why = strings.TrimSpace(why); why != "" {
			fmt.Fprintf(c.world.Stderr, "%s: started; %s\n", c.name, why)
		}
		return cmd.Process.Release()
	}
	err := cmd.Wait()
	words, _ := os.ReadFile(c.outputPath())
	status := 1
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status = max(1, exit.ExitCode())
	}
	return &StatusError{status, string(bytes.TrimSpace(words[max(0, len(words)-said):]))}
}

func (c *call) outputPath() string {
	name := c.name
	if c.further() {
		name += "." + c.options["I"]
	}
	return filepath.Join(string(c.home), "run", name+".out")
}

// output opens the file for what the daemon says on standard error. That of the daemon
// before is kept under another name.
func (c *call) output() (*os.File, error) {
	path := c.outputPath()
	if err := own.Folder(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		_ = os.Rename(path, path+".old")
	}
	return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o640)
}

// environment is ours, with a configuration file that is found from any folder.
func environment() []string {
	env := os.Environ()
	if file := os.Getenv("PBS_CONF_FILE"); file != "" && !filepath.IsAbs(file) {
		if path, err := filepath.Abs(file); err == nil {
			env = append(env, "PBS_CONF_FILE="+path)
		}
	}
	return env
}

// upPipe takes the pipe of whoever started this process and waits for it to be up; nil if
// nobody does. No child of ours gets it.
func upPipe() *os.File {
	if os.Getenv(upVariable) != "3" {
		return nil
	}
	_ = os.Unsetenv(upVariable)
	unix.CloseOnExec(3)
	return os.NewFile(3, "up")
}

// patience is how long a daemon that runs is given to be of use, before it says that it is
// up and what it waits for.
const patience = 15 * time.Second

// sayUp tells whoever waits that the daemon is up: as soon as it is of use, or after
// patience why it is not.
func sayUp(ctx context.Context, pipe *os.File, unready func() string) {
	if pipe == nil {
		return
	}
	defer pipe.Close()
	end := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		why := unready()
		if why == "" {
			_, _ = io.WriteString(pipe, "up")
			return
		}
		select {
		case <-tick.C:
		case <-end:
			_, _ = io.WriteString(pipe, "up "+why)
			return
		case <-ctx.Done():
			return
		}
	}
}
