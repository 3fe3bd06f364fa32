package proc

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// An alarm rings at a time since the boot. Unlike a timer of the runtime it rings as
// soon as a host wakes that was suspended beyond that time.
type alarm struct {
	rings chan struct{}
	file  *os.File    // a timerfd
	timer *time.Timer // on a kernel that has none to give
}

// newAlarm starts a goroutine that ends with the process, as shims do.
func newAlarm() *alarm {
	a := &alarm{rings: make(chan struct{}, 1)}
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		a.timer = time.AfterFunc(time.Hour, a.ring)
		return a
	}
	a.file = os.NewFile(uintptr(fd), "timerfd")
	go func() {
		var count [8]byte
		for {
			if _, err := a.file.Read(count[:]); err != nil {
				return
			}
			a.ring()
		}
	}()
	return a
}

func (a *alarm) ring() {
	select {
	case a.rings <- struct{}{}:
	default:
	}
}

// set moves the alarm to a time since the boot.
func (a *alarm) set(at time.Duration) {
	if a.file == nil {
		a.timer.Reset(at - boottime())
		return
	}
	conn, err := a.file.SyscallConn()
	if err != nil {
		return
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, int64(at)))}
	_ = conn.Control(func(fd uintptr) { _ = unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME, &spec, nil) })
}
