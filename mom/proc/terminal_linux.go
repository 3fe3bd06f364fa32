package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"rampart/transport/x11"
)

// terminalFile is the socket in a shim's folder by which its session is attached to.
const terminalFile = "terminal"

// terminal is what is attached to of a shim's job: a pseudo-terminal, or pipes.
type terminal struct {
	near     io.ReadWriteCloser
	far      []*os.File // the job's standard input, output and error
	master   *os.File   // nil: pipes
	pipes    *pipes     // nil: a pseudo-terminal
	listener *net.UnixListener
	session  *session
	display  *display // nil: the job's programs have none
}

// openTerminal opens pipes, or a pseudo-terminal that belongs to the owner, and the socket at which
// either is attached to. Nothing is listened to before serve.
func openTerminal(dir string, owner *Owner, piped bool) (*terminal, error) {
	t := new(terminal)
	var err error
	if piped {
		t.pipes, t.far, err = openPipes()
		t.near = t.pipes
	} else {
		err = t.openPTY(owner)
	}
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	if t.listener, err = listenTerminal(dir); err != nil {
		t.close()
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	return t, nil
}

func (t *terminal) openPTY(owner *Owner) error {
	master, slave, err := openPTY()
	if err != nil {
		return err
	}
	t.near, t.master, t.far = master, master, []*os.File{slave, slave, slave}
	if owner != nil {
		err = errors.Join(slave.Chown(int(owner.UID), int(owner.GID)), slave.Chmod(0o620))
	}
	if err = errors.Join(err, setSize(master, 24, 80)); err != nil {
		t.close()
	}
	return err
}

// openPTY opens both sides of a pseudo-terminal. The master must not block: a read that
// waits would keep it open when the line is to be cut (a library that asks for its
// descriptor makes it block).
func openPTY() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	number := 0
	err = control(master, func(fd int) (err error) {
		if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		}
		return err
	})
	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, master.Close())
	}
	return master, slave, nil
}

func setSize(master *os.File, rows, columns uint16) error {
	return control(master, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	})
}

// control lends the descriptor of a file without making it block.
func control(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	inner := raw.Control(func(fd uintptr) { err = do(int(fd)) })
	return errors.Join(inner, err)
}

func listenTerminal(dir string) (l *net.UnixListener, err error) {
	err = inFolder(dir, func(short string) error {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(short, terminalFile), Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it goes with the folder
	return l, os.Chmod(filepath.Join(dir, terminalFile), 0o600)
}

// inFolder lends a name of a folder that is short enough for sockets.
func inFolder(dir string, do func(short string) error) error {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	return do("/proc/self/fd/" + strconv.Itoa(fd))
}

// serve lets the session be attached to.
func (t *terminal) serve() {
	t.session = newSession(t.near, func(rows, columns uint16) {
		if t.master != nil {
			_ = setSize(t.master, rows, columns) // a terminal of any size will do
		}
	}, t.display)
	go t.session.serve(t.listener, ownUser)
}

// ownUser reports whether the same user, who is the mom, is at the other end.
func ownUser(c net.Conn) bool {
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return false
	}
	own := false
	err = raw.Control(func(fd uintptr) {
		peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		own = err == nil && int(peer.Uid) == os.Geteuid()
	})
	return err == nil && own
}

// finish waits until the last output was seen, when all of the job is gone.
func (t *terminal) finish(stop <-chan struct{}) {
	if t.pipes != nil {
		t.pipes.leader.Store(0)
	}
	t.closeFar() // the last one: what is in the line can be read, and then its end
	t.session.finish(stop)
	t.close()
}

func (t *terminal) close() {
	if t.listener != nil {
		_ = t.listener.Close()
	}
	if t.display != nil {
		t.display.close()
	}
	t.closeFar()
	_ = t.near.Close()
}

func (t *terminal) closeFar() {
	for _, f := range t.far {
		_ = f.Close() // a pseudo-terminal is three times the same
	}
}

// stderr returns the job's standard error.
func (t *terminal) stderr() *os.File { return t.far[2] }

// Attach implements System.
func (l *Linux) Attach(dir string) (net.Conn, error) {
	var c net.Conn
	err := inFolder(dir, func(short string) (err error) {
		c, err = net.Dial("unix", filepath.Join(short, terminalFile))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED) {
		return nil, ErrNoTerminal
	}
	return c, err
}

// startAtTerminal is start for a job that somebody attaches to, at a terminal or at pipes.
func (s *shim) startAtTerminal() (int, error) {
	t, err := openTerminal(s.dir, s.spec.Owner, s.spec.Piped)
	if err != nil {
		return 0, err
	}
	if s.fence.fallen(boottime()) {
		t.close()
		return 0, ErrFenced
	}
	s.terminal = t
	shown := s.show(t)
	t.serve()
	if shown != nil { // nobody misses the job for it
		fmt.Fprintf(t.stderr(), "PBS: the job has no display: %v\n", shown)
	}
	if !s.spec.Restart {
		for i, head := range []string{s.spec.StdoutHead, s.spec.StderrHead} {
			_ = writeHead(t.far[1+i], head, headAtTerminal) // nobody misses the job for it
		}
	}
	pid, err := s.fork(t.far[0], t.far[1], t.far[2])
	if err != nil {
		return 0, s.notExecuted(t.stderr(), err)
	}
	if t.pipes != nil {
		t.pipes.leader.Store(int64(pid))
	}
	s.begin(pid)
	return pid, nil
}

// show gives the job's programs a display, if they are to have one, and a file with the key to it.
func (s *shim) show(t *terminal) error {
	if s.spec.Display == "" {
		return nil
	}
	grant, err := x11.ParseGrant(s.spec.Display)
	if err != nil {
		return err
	}
	d, err := openDisplay()
	if err != nil {
		return err
	}
	file := filepath.Join(s.dir, keyFile)
	err = os.WriteFile(file, x11.KeyFile(d.number, grant.Key), 0o600)
	if o := s.spec.Owner; o != nil && err == nil {
		err = os.Chown(file, int(o.UID), int(o.GID))
	}
	if err != nil {
		d.close()
		return err
	}
	t.display = d
	s.spec.Env = slices.DeleteFunc(s.spec.Env, func(v string) bool {
		return strings.HasPrefix(v, "DISPLAY=") || strings.HasPrefix(v, "XAUTHORITY=")
	})
	at := x11.Display{Host: "localhost", Number: d.number, Screen: grant.Screen}
	s.spec.Env = append(s.spec.Env, "DISPLAY="+at.String(), "XAUTHORITY="+file)
	return nil
}
