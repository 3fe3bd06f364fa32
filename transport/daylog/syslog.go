package daylog

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"rampart/fsm/pbs"
)

// A Syslog says which lines go to the log of the host's operating system as well: PBS_SYSLOG, PBS_SYSLOGSEVR and PBS_LOCALLOG
// of pbs.conf.
type Syslog struct {
	Facility int    // as PBS numbers them: 1 is "daemon", 2 to 9 are "local0" to "local7"; others: nothing goes there
	Severity int    // the least urgent one that goes there, as syslog(3) numbers them; 0 or less: each does
	Only     bool   // the files of this package have no lines
	Socket   string // of the system's daemon; empty: /dev/log
}

// Urgencies of syslog(3).
const (
	severityError  = 3
	severityNotice = 5
	severityInfo   = 6
	severityDebug  = 7
)

// systemWait bounds how long a line waits for the system's daemon, which may have been stopped. Tests that wait for lines give it more.
var systemWait = 200 * time.Millisecond

// systemPause is how long no line goes there after one that was not taken.
const systemPause = 10 * time.Second

// on reports whether lines go to the system's log at all.
func (s Syslog) on() bool { return s.Facility >= 1 && s.Facility <= 9 }

// priority returns the number at the front of a message.
func (s Syslog) priority(severity int) int {
	facility := 3
	if s.Facility > 1 {
		facility = 16 + s.Facility - 2
	}
	return facility<<3 | severity
}

// severityOf returns how urgent an event is for the system's log.
func severityOf(event uint16) int {
	switch {
	case event&pbs.LogError != 0:
		return severityError
	case event&(pbs.LogSystem|pbs.LogAdmin|pbs.LogSecurity) != 0:
		return severityNotice
	case event&(pbs.LogDebug|pbs.LogDebug2|pbs.LogDebug3|pbs.LogDebug4) != 0:
		return severityDebug
	}
	return severityInfo
}

// tellSystemLocked sends a line to the system's log. One that is not taken at once is lost there: no daemon waits for another one's log. A
// connection that the system's daemon has ended, as by a restart, is replaced for the line that finds it so.
func (l *Log) tellSystemLocked(daemon string, at time.Time, event uint16, class, object, text string) {
	s, severity := l.opts.Syslog, severityOf(event)
	if s.Severity > 0 && severity > s.Severity || time.Now().Before(l.systemAgain) {
		return
	}
	line := fmt.Sprintf("<%d>%s %s[%d]: %04x;%s;%s;%s", s.priority(severity), at.Format(time.Stamp), daemon, os.Getpid(),
		event&^pbs.LogForce, class, flat(object), flat(text))
	known := l.system != nil
	err := l.sendSystemLocked(line)
	if gone := !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, syscall.EMSGSIZE); err != nil && known && gone {
		err = l.sendSystemLocked(line)
	}
	if err != nil {
		l.systemAgain = time.Now().Add(systemPause)
	}
}

// sendSystemLocked sends a line by the connection that there is, or by a new one. One that fails is no connection any more: the system's
// daemon may have another socket by then.
func (l *Log) sendSystemLocked(line string) error {
	if l.system == nil {
		conn, err := net.DialTimeout("unixgram", cmp.Or(l.opts.Syslog.Socket, "/dev/log"), systemWait)
		if err != nil {
			return err
		}
		l.system = conn
	}
	err := l.system.SetWriteDeadline(time.Now().Add(systemWait))
	if err == nil {
		_, err = l.system.Write([]byte(line))
	}
	if err != nil {
		_ = l.system.Close()
		l.system = nil
	}
	return err
}
