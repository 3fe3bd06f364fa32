package proc

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"rampart/fsm/pbs"
)

// watch waits for the first process, then ends what it left running.
func (s *shim) watch(main int, ended <-chan os.Signal) {
	reaped := make(chan int)
	go s.reap(main, reaped)
	alarm := newAlarm()
	for running := true; running; {
		if !s.exit.Fenced && s.fence.fallen(boottime()) {
			s.exit.Fenced = true
		}
		if s.exit.Fenced {
			s.sweep()
		}
		alarm.set(s.nextLook())
		select {
		case pid := <-reaped:
			running = pid != main
		case <-ended:
			s.exit.ByOrder = true
			s.sweep()
		case <-alarm.rings:
		}
	}
	s.exit.Wall = boottime() - s.begun
	if s.spec.Lingers {
		s.linger(reaped, ended)
	}
	s.endRest(reaped)
}

// linger ends the program's session, and holds what has left it until that has ended by itself, or is to.
func (s *shim) linger(reaped <-chan int, ended <-chan os.Signal) {
	alarm := newAlarm()
	for told := false; !s.exit.Fenced && !s.exit.ByOrder; {
		if s.fence.fallen(boottime()) {
			s.exit.Fenced = true
			return
		}
		if !told && s.endSession() == 0 {
			told = writeRecord(filepath.Join(s.dir, overFile), s.exit, false) == nil
		}
		next := s.nextLook()
		if !told {
			next = boottime() + sweepEvery
		}
		alarm.set(next)
		select {
		case _, more := <-reaped:
			if !more {
				return
			}
		case <-ended:
			s.exit.ByOrder = true
		case <-alarm.rings:
		}
	}
}

// endSession kills what is left of the program's session, and returns how many there were.
func (s *shim) endSession() int {
	t, err := readTable()
	if err != nil {
		return 1
	}
	var left []process
	for _, p := range t.job(s.handle) {
		if p.session == s.handle.Session && !p.zombie {
			left = append(left, p)
		}
	}
	_ = signalAll(left, syscall.SIGKILL)
	return len(left)
}

// nextLook returns when to look at the deadline again, or at what did not die of it.
func (s *shim) nextLook() time.Duration {
	now := boottime()
	if s.exit.Fenced {
		return now + sweepEvery
	}
	return s.fence.next(now, deadlineEvery)
}

// reap takes in every child, orphans of the job included, and closes the channel when
// none is left. The status of the first process is noted before its pid is sent.
func (s *shim) reap(main int, reaped chan<- int) {
	defer close(reaped)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return
		}
		if pid == main {
			s.exit.Status = exitStatus(status)
		}
		reaped <- pid
	}
}

func exitStatus(w syscall.WaitStatus) int {
	if w.Signaled() {
		return pbs.ExitSignal + int(w.Signal())
	}
	return w.ExitStatus()
}

func (s *shim) endRest(reaped <-chan int) {
	give := time.NewTimer(sweepFor)
	defer give.Stop()
	again := time.NewTicker(sweepEvery)
	defer again.Stop()
	first := time.After(0)
	for {
		select {
		case _, more := <-reaped:
			if !more {
				return
			}
		case <-first:
			s.sweep()
		case <-again.C:
			s.sweep()
		case <-give.C:
			s.exit.Left = s.sweep()
			return
		}
	}
}

// sweep kills all processes of the job once and returns how many there were.
func (s *shim) sweep() int {
	t, err := readTable()
	if err != nil {
		return 0
	}
	found := t.job(s.handle)
	_ = signalAll(found, syscall.SIGKILL)
	if len(s.spec.Cgroups) > 0 && (s.spec.First || s.exit.Fenced) {
		_, _ = KillCgroup(s.spec.Cgroups)
	}
	return len(found)
}
