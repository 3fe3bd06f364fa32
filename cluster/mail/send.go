package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxWords bounds what is kept of a mailer's complaints, in bytes.
const maxWords = 512

// Send runs the site's mail program as PBS does: MAILER -f FROM TO..., the letter on its
// standard input; but never as root, for what it reads is the users' words. It is killed, with
// all that it started, when ctx ends.
func Send(ctx context.Context, l Letter) error {
	cmd := exec.CommandContext(ctx, l.Mailer, append([]string{"-f", l.From}, l.To...)...)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = bytes.NewReader(l.Text), &said, &said, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: sender()}
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

// senders are the accounts of the host as which root sends mail, the first that there is.
var senders = []string{"rampart", "nobody"}

// overflow is the uid and gid of nobody where no account has the name.
const overflow = 65534

// sender returns who runs the mail program; nil: whoever runs this one, who is not root.
func sender() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range senders {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil && uid != 0 {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	return &syscall.Credential{Uid: overflow, Gid: overflow}
}
