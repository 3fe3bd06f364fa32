package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// maxWords bounds what is kept of a mailer's complaints, in bytes.
const maxWords = 512

// Send runs the site's mail program as PBS does: MAILER -f FROM TO..., the letter on its
// standard input. It is killed, with all that it started, when ctx ends.
func Send(ctx context.Context, l Letter) error {
	cmd := exec.CommandContext(ctx, l.Mailer, append([]string{"-f", l.From}, l.To...)...)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = bytes.NewReader(l.Text), &said, &said, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil && err != nil {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		words := strings.TrimSpace(said.String())
		return fmt.Errorf("run %s: %w: %s", l.Mailer, err, words[:min(len(words), maxWords)])
	}
	return nil
}
