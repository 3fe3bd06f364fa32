package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A worker is the warm interpreter: one child process at the other end of a socket that
// keeps messages apart.
type worker struct {
	cmd  *exec.Cmd
	door *net.UnixConn
	done chan struct{} // closed when the process has ended

	patience time.Duration // with a fork; an interpreter that takes longer is ended

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan forked // by request
	// families are the families of its forks that have not ended.
	families map[*family]bool
}

// forkWithin is how long the interpreter may take to fork: milliseconds, and its start.
const forkWithin = 30 * time.Second

func startWorker(python, script string) (*worker, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("start the interpreter of hooks: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "hooks"), os.NewFile(uintptr(pair[1]), "hooks")
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err = errors.Join(err, ours.Close()); err != nil {
		return nil, fmt.Errorf("start the interpreter of hooks: %w", err)
	}
	cmd := exec.Command(python, "-I", script)
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "HOME=" + os.Getenv("HOME")}
	for _, name := range []string{"PBS_CONF_FILE", "PBS_HOME", "PBS_EXEC", "TZ"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the interpreter of hooks: %w", err), conn.Close())
	}
	w := &worker{cmd: cmd, door: conn.(*net.UnixConn), done: make(chan struct{}), patience: forkWithin, waiting: map[uint64]chan forked{}, families: map[*family]bool{}}
	go w.listen()
	return w, nil
}

// forked is what the interpreter tells of a fork.
type forked struct {
	ID      uint64 `json:"id"`
	PID     int    `json:"pid"`     // of the root of the family; less than 0: an errno
	Session int    `json:"session"` // which the script's process leads
	Holds   bool   `json:"holds"`   // the root is a subreaper
}

// listen hears of forks until the interpreter has ended.
func (w *worker) listen() {
	defer close(w.done)
	buffer := make([]byte, 4096)
	for {
		n, err := w.door.Read(buffer)
		if n == 0 || err != nil {
			break
		}
		var f forked
		if json.Unmarshal(buffer[:n], &f) != nil {
			break
		}
		w.mu.Lock()
		if c := w.waiting[f.ID]; c != nil {
			delete(w.waiting, f.ID)
			c <- f
		} else if f.PID > 0 {
			go w.reap(f.PID) // nobody waits any more: it finds its pipes closed
		}
		w.mu.Unlock()
	}
	_ = w.door.Close()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}

func (w *worker) gone() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

func (w *worker) close() error {
	w.killAll()
	_ = w.door.Close()
	<-w.done
	return nil
}

// ErrWorker means that the interpreter has ended; the next run starts another.
var ErrWorker = errors.New("the interpreter of hooks has ended")

// fork has a process made with the pipes: events in, answers out, what the script prints, and
// the one whose end is the daemon's. What it returns is to be ended as a family, and its root then to be reaped.
func (w *worker) fork(ctx context.Context, p *pipes) (f forked, err error) {
	w.mu.Lock()
	w.next++
	id, told := w.next, make(chan forked, 1)
	w.waiting[id] = told
	w.mu.Unlock()
	text, err := json.Marshal(map[string]uint64{"id": id})
	if err == nil {
		rights := unix.UnixRights(int(p.theirIn.Fd()), int(p.theirOut.Fd()), int(p.theirNoise.Fd()), int(p.theirLife.Fd()))
		_ = w.door.SetWriteDeadline(time.Now().Add(w.patience))
		_, _, err = w.door.WriteMsgUnix(text, rights, nil)
	}
	if err != nil {
		return forked{}, fmt.Errorf("%w: %w", ErrWorker, err)
	}
	stuck := time.NewTimer(w.patience)
	defer stuck.Stop()
	select {
	case f = <-told:
	case <-ctx.Done():
		w.forget(id)
		return forked{}, ctx.Err()
	case <-stuck.C: // stopped, or starved: another takes its place
		_ = w.cmd.Process.Kill()
		select {
		case <-w.done:
		case <-ctx.Done():
		}
		return forked{}, ErrWorker
	case <-w.done:
		return forked{}, ErrWorker
	}
	if f.PID <= 0 {
		return forked{}, fmt.Errorf("fork for a hook: %w", syscall.Errno(-f.PID))
	}
	return f, nil
}

func (w *worker) forget(id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waiting, id)
}

// reap lets the interpreter forget a process: only then may its number be used again.
func (w *worker) reap(pid int) {
	text, err := json.Marshal(map[string]int{"reap": pid})
	if err == nil {
		_, _ = w.door.Write(text)
	}
}
