package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ShimName is the name under which the lean binary is a shim.
const ShimName = "pbs-shim"

// replyFD is where the mom that started the shim waits for a reply.
const replyFD = 3

const (
	sweepEvery = 20 * time.Millisecond // between attempts to kill what is left
	sweepFor   = 10 * time.Second      // then a process counts as one that survives SIGKILL
)

// closeStray keeps what the mom's own parent has left open from the job. Descriptors
// that Go opens are closed by themselves.
func closeStray() {
	if unix.CloseRange(replyFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	unix.CloseOnExec(replyFD)
	open, err := os.ReadDir("/proc/self/fd") // a kernel before 5.11
	if err != nil {
		return
	}
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > replyFD {
			unix.CloseOnExec(fd)
		}
	}
}

// A reply tells the mom that started the shim how it went.
type reply struct {
	Handle  Handle `json:"handle"`
	Claimed bool   `json:"claimed"` // another shim has the folder
	Failed  string `json:"failed"`
	Fenced  bool   `json:"fenced"` // the fence had fallen before the program ran
	Again   bool   `json:"again"`  // the host is at fault: it may be better next time
}

// ShimMain is the shim: it runs the spec in the folder args[0], outlives the mom, and
// writes there how the job ended. It returns the process's exit status.
func ShimMain(args []string) int {
	if len(args) == 2 && args[0] == proveFlag {
		return prove(args[1])
	}
	if len(args) > 0 && args[0] == limitFlag {
		return become(args[1:])
	}
	if len(args) != 1 {
		fmt.Fprintf(os.Stderr, "usage: %s FOLDER\n", ShimName)
		return 2
	}
	closeStray()
	s := &shim{dir: args[0], reply: os.NewFile(replyFD, "reply")}
	if err := s.run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s: %v\n", ShimName, s.dir, err)
		return 1
	}
	return 0
}

type shim struct {
	dir    string
	reply  *os.File
	spec   Spec
	handle Handle
	fence  fence
	begun  time.Duration // since the boot
	exit   Exit

	terminal *terminal // nil: the job has none
}

func (s *shim) run() error {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if err := s.claim(); err != nil {
		s.answer(reply{Failed: err.Error(), Claimed: errors.Is(err, fs.ErrExist), Again: Wanting(err)})
		return err
	}
	main, err := s.start()
	if err != nil {
		s.exit.Failed, s.exit.Fenced, s.exit.Again = err.Error(), errors.Is(err, ErrFenced), errors.Is(err, errCgroup) || Wanting(err)
		s.answer(reply{Handle: s.handle, Failed: s.exit.Failed, Fenced: s.exit.Fenced, Again: s.exit.Again})
		return s.finish()
	}
	s.answer(reply{Handle: s.handle})
	if main > 0 {
		s.watch(main, ended)
	}
	if s.terminal != nil {
		stop := make(chan struct{})
		go func() {
			<-ended
			close(stop)
		}()
		s.terminal.finish(stop)
	}
	return s.finish()
}

// claim reads the spec and makes this process the one shim of the folder.
func (s *shim) claim() error {
	ok, err := readRecord(filepath.Join(s.dir, specFile), &s.spec)
	if err != nil {
		return err
	}
	if !ok || s.spec.Version != specVersion {
		return fmt.Errorf("no spec of version %d", specVersion)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	boot, err := bootID()
	if err != nil {
		return err
	}
	self, ok := readProcess(os.Getpid())
	if !ok {
		return errors.New("read own start time")
	}
	s.handle = Handle{PID: os.Getpid(), Start: self.start, BootID: boot, Cookie: s.spec.Cookie}
	s.fence = fence{path: s.spec.Deadline, boot: boot, lapse: s.spec.Lapse}
	return claimRecord(filepath.Join(s.dir, shimFile), s.handle)
}

// start runs the program and returns its pid, 0 if it could not be executed for a
// reason that its user is told like a shell would.
func (s *shim) start() (int, error) {
	s.begun = boottime()
	if s.spec.Terminal || s.spec.Piped {
		return s.startAtTerminal()
	}
	stdin, feed, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer feed.Close()
	defer stdin.Close()
	stdout, stderr, err := openOutputs(s.spec)
	if err != nil {
		return 0, err
	}
	defer stdout.Close()
	defer stderr.Close()
	if s.fence.fallen(boottime()) {
		return 0, ErrFenced
	}
	pid, err := s.fork(stdin, stdout, stderr)
	if err != nil {
		return 0, s.notExecuted(stderr, err)
	}
	s.begin(pid)
	// What does not read the script's name must not stop us, and what is too long for the pipe never happens here.
	_ = feed.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = feed.WriteString(s.spec.Stdin)
	return pid, nil
}

// begin notes the session, and sets its nice value.
func (s *shim) begin(pid int) {
	s.handle.Session = pid
	if err := addRecord(filepath.Join(s.dir, shimFile), started{Session: pid}); err != nil {
		fmt.Fprintf(os.Stderr, "%s: note session %d: %v\n", ShimName, pid, err) // the cookie finds it
	}
	s.favour(pid)
}

func (s *shim) fork(stdin, stdout, stderr *os.File) (int, error) {
	attr := &syscall.ProcAttr{
		Dir: s.spec.Dir, Env: s.spec.Env,
		Files: []uintptr{stdin.Fd(), stdout.Fd(), stderr.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: s.spec.Terminal},
	}
	if o := s.spec.Owner; o != nil && !s.spec.Restart {
		attr.Sys.Credential = &syscall.Credential{Uid: o.UID, Gid: o.GID, Groups: o.Groups}
	}
	old := syscall.Umask(s.spec.Umask)
	defer syscall.Umask(old)
	path, args := s.spec.limited()
	return startIn(s.spec.Cgroups, path, args, attr)
}

// notExecuted tells the two reasons apart that the kernel gives in one: a folder that
// the job cannot start in fails it, a program that does not run ends it as in a shell.
func (s *shim) notExecuted(stderr *os.File, cause error) error {
	if errors.Is(cause, errCgroup) || Wanting(cause) {
		return fmt.Errorf("start %s: %w", s.spec.Path, cause)
	}
	folder := asOwner(s.spec.Owner, func() error {
		_, err := os.Stat(filepath.Join(s.spec.Dir, "."))
		return err
	})
	if folder != nil {
		return fmt.Errorf("chdir to %s: %w", s.spec.Dir, folder)
	}
	fmt.Fprintf(stderr, "PBS: %s: %v\n", s.spec.Path, cause)
	s.exit.Status = 126
	if errors.Is(cause, fs.ErrNotExist) {
		s.exit.Status = 127
	}
	return nil
}

// favour gives the session, whose first process may have several threads yet, the nice values that only root may give.
func (s *shim) favour(pid int) {
	// A mom may be favoured so that it answers on a busy host; its jobs are not.
	if own, err := unix.Getpriority(unix.PRIO_PROCESS, 0); s.spec.Nice != 0 || err == nil && own > niceBase {
		if err := unix.Setpriority(unix.PRIO_PGRP, pid, s.spec.Nice); err != nil {
			fmt.Fprintf(os.Stderr, "%s: nice %d: %v\n", ShimName, s.spec.Nice, err)
		}
	}
}

// niceBase is what the system call says of a nice value of 0; more is a favoured process.
const niceBase = 20

func (s *shim) answer(r reply) {
	data, _ := json.Marshal(r)
	_, _ = s.reply.Write(data) // the mom may be gone: then the files tell it
	_ = s.reply.Close()
}

// failedFor is how long a shim whose program did not run tries to write that down: the mom knows it.
const failedFor = 3 * time.Second

// finish writes the end, however long the disk is full: the shim is the only one who
// knows it.
func (s *shim) finish() error {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &used); err == nil {
		s.exit.CPU = time.Duration(used.Utime.Nano() + used.Stime.Nano())
		s.exit.MaxRSS, s.exit.ShimRSS = used.Maxrss*1024, ownRSS()*1024
	}
	began := time.Now()
	s.exit.Version, s.exit.Finished = specVersion, began.UnixNano()
	for {
		err := writeRecord(filepath.Join(s.dir, exitFile), s.exit, true)
		if err == nil || errors.Is(err, fs.ErrNotExist) || s.exit.Failed != "" && time.Since(began) > failedFor {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %v\n", ShimName, err)
		<-time.After(time.Second)
	}
}

// ownRSS returns the shim's own peak: a child counts it as its own until it executes
// its program, so a smaller peak of the children says little.
func ownRSS() int64 {
	var self unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &self); err != nil {
		return 0
	}
	return self.Maxrss
}

// SinceBoot reads the clock of deadlines, which runs on while the host is suspended.
func SinceBoot() time.Duration { return boottime() }
