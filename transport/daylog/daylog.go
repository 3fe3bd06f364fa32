// Package daylog writes a daemon's log in PBS's format: one line per event in one
// file per day (specification: logs.md section 1). It owns the form of a line, the
// choice of the file and its mode; what is worth a line is the daemon's business,
// and structured logs on stderr are slog's. A Log may be used by several goroutines;
// it starts none, and keeps one file open until Close.
package daylog

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport/own"
)

// The masks that PBS's daemons start with.
const (
	ServerMask uint16 = 511
	MomMask    uint16 = 975
	SchedMask  uint16 = 767
)

// Options choose how lines look and which are written.
type Options struct {
	HighRes  bool           // microseconds in the time of a line
	Location *time.Location // of dates and times; nil: local time
	Mask     uint16         // events that are written; 0 writes only forced ones
	KeepDays int            // older files are removed when one is begun; 0: none are
	File     string         // the path of the one file that has all lines, of whatever day; empty: each day has its own
	Syslog   Syslog         // where lines go besides
	Head     []string       // what the daemon says of itself whenever it opens a file; none: not even that it does
}

// A Log appends lines to the file of their day.
type Log struct {
	dir    string
	daemon string

	mu   sync.Mutex
	opts Options
	day  string
	file *os.File

	system      net.Conn  // to the system's log; nil: there is none yet
	systemAgain time.Time // before that no line goes there: it has not taken one
}

// New returns a log in the folder dir, which is made with the first line, for the
// daemon named in each line, such as "pbs_mom" or "Server@hosta".
func New(dir, daemon string, opts Options) *Log {
	if opts.Location == nil {
		opts.Location = time.Local
	}
	return &Log{dir: dir, daemon: daemon, opts: opts}
}

// SetMask changes which events are written from now on.
func (l *Log) SetMask(mask uint16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opts.Mask = mask
}

// SetLocation changes the time zone of the lines to come.
func (l *Log) SetLocation(loc *time.Location) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opts.Location = loc
}

// Write appends the line of an event that happened at the given moment. An event
// that the mask leaves out is dropped.
func (l *Log) Write(at time.Time, event uint16, class, object, text string) error {
	return l.WriteAs(l.daemon, at, event, class, object, text)
}

// WriteAs is Write with the name of another daemon, such as "pbs_python".
func (l *Log) WriteAs(daemon string, at time.Time, event uint16, class, object, text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if event&(l.opts.Mask|pbs.LogForce) == 0 {
		return nil
	}
	at = at.In(l.opts.Location)
	if l.opts.Syslog.on() {
		l.tellSystemLocked(daemon, at, event, class, object, text)
		if l.opts.Syslog.Only {
			return nil
		}
	}
	day := at.Format(dayForm)
	if l.opts.File != "" {
		day = ""
	}
	begun, err := l.openLocked(day)
	if err != nil {
		return fmt.Errorf("write log line: %w", err)
	}
	line := Format(at, l.opts.HighRes, event, daemon, class, object, text)
	if begun {
		line = l.headLocked(at) + line
	}
	if _, err := l.file.WriteString(line); err != nil {
		return fmt.Errorf("write log line: %w", err)
	}
	if begun {
		return l.dropExpiredLocked()
	}
	return nil
}

// headLocked returns the lines before the first one that is written into a file that was just opened.
func (l *Log) headLocked(at time.Time) string {
	if len(l.opts.Head) == 0 {
		return ""
	}
	head := Format(at, l.opts.HighRes, pbs.LogSystem, l.daemon, "Svr", "Log", "Log opened")
	for _, text := range l.opts.Head {
		head += Format(at, l.opts.HighRes, pbs.LogSystem, l.daemon, "Svr", l.daemon, text)
	}
	return head
}

// Close closes the file of the day; a later Write opens it again.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closeLocked()
}

// CloseMoved is Close if the open file is no longer where it was opened.
func (l *Log) CloseMoved() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	there, err := os.Stat(l.pathLocked(l.day))
	if err == nil {
		var open os.FileInfo
		if open, err = l.file.Stat(); err == nil && os.SameFile(there, open) {
			return nil
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return l.closeLocked()
}

func (l *Log) closeLocked() error {
	if l.system != nil {
		_ = l.system.Close()
		l.system = nil
	}
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file, l.day = nil, ""
	return f.Close()
}

// openLocked makes the file of the day the open one, and reports whether it was another.
func (l *Log) openLocked(day string) (begun bool, err error) {
	if l.file != nil && l.day == day {
		return false, nil
	}
	if err := l.closeLocked(); err != nil {
		return false, err
	}
	if day != "" {
		if err := own.Folder(l.dir, 0o755); err != nil {
			return false, err
		}
	}
	f, err := os.OpenFile(l.pathLocked(day), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return false, err
	}
	l.file, l.day = f, day
	return true, nil
}

// pathLocked returns where the lines of a day lie; no day: those of all.
func (l *Log) pathLocked(day string) string {
	if day == "" {
		return l.opts.File
	}
	return filepath.Join(l.dir, day)
}

// Format returns one line with its newline. Newlines in the text, which would
// break the line for every reader, become blanks.
func Format(at time.Time, highRes bool, event uint16, daemon, class, object, text string) string {
	layout := "01/02/2006 15:04:05"
	if highRes {
		layout = "01/02/2006 15:04:05.000000"
	}
	return fmt.Sprintf("%s;%04x;%s;%s;%s;%s\n",
		at.Format(layout), event&^pbs.LogForce, daemon, class, flat(object), flat(text))
}

func flat(s string) string {
	s = strings.TrimRight(s, "\n")
	if !strings.ContainsAny(s, "\n\r") {
		return s
	}
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
}
