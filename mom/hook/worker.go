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
	waiting map[uint64]chan int // process ids by request
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
	w := &worker{cmd: cmd, door: conn.(*net.UnixConn), done: make(chan struct{}), patience: forkWithin, waiting: map[uint64]chan int{}}
	go w.listen()
	return w, nil
}

// listen hears the process ids of forks until the interpreter has ended.
func (w *worker) listen() {
	defer close(w.done)
	buffer := make([]byte, 4096)
	for {
		n, err := w.door.Read(buffer)
		if n == 0 || err != nil {
			break
		}
		var forked struct {
			ID  uint64 `json:"id"`
			PID int    `json:"pid"`
		}
		if json.Unmarshal(buffer[:n], &forked) != nil {
			break
		}
		w.mu.Lock()
		if c := w.waiting[forked.ID]; c != nil {
			delete(w.waiting, forked.ID)
			c <- forked.PID
		} else if forked.PID > 0 {
			go w.reap(forked.PID) // nobody waits any more: it finds its pipes closed
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
	_ = w.door.Close()
	<-w.done
	return nil
}

// ErrWorker means that the interpreter has ended; the next run starts another.
var ErrWorker = errors.New("the interpreter of hooks has ended")

// fork has a process made with the pipes: events in, answers out, and what the script
// prints. It returns the process, whose group is to be killed and which is then to be reaped.
func (w *worker) fork(ctx context.Context, in, out, noise *os.File) (pid int, err error) {
	w.mu.Lock()
	w.next++
	id, forked := w.next, make(chan int, 1)
	w.waiting[id] = forked
	w.mu.Unlock()
	text, err := json.Marshal(map[string]uint64{"id": id})
	if err == nil {
		rights := unix.UnixRights(int(in.Fd()), int(out.Fd()), int(noise.Fd()))
		_ = w.door.SetWriteDeadline(time.Now().Add(w.patience))
		_, _, err = w.door.WriteMsgUnix(text, rights, nil)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrWorker, err)
	}
	stuck := time.NewTimer(w.patience)
	defer stuck.Stop()
	select {
	case pid = <-forked:
	case <-ctx.Done():
		w.forget(id)
		return 0, ctx.Err()
	case <-stuck.C: // stopped, or starved: another takes its place
		_ = w.cmd.Process.Kill()
		select {
		case <-w.done:
		case <-ctx.Done():
		}
		return 0, ErrWorker
	case <-w.done:
		return 0, ErrWorker
	}
	if pid <= 0 {
		return 0, fmt.Errorf("fork for a hook: %w", syscall.Errno(-pid))
	}
	return pid, nil
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
