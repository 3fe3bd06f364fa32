package daylog

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/fsm/pbs"
)

// What pbs.conf says of syslog decides which lines go there, with which priority, and whether the files have them, too.
func TestSyslog(t *testing.T) {
	defer func(wait time.Duration) { systemWait = wait }(systemWait)
	systemWait = time.Minute
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	write := func(log *Log) {
		for _, event := range []uint16{pbs.LogError, pbs.LogAdmin, pbs.LogJob, pbs.LogDebug, pbs.LogDebug3} {
			if err := log.Write(at, event, "Job", "0.srv", fmt.Sprintf("event %d", event)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		syslog Syslog
		want   []string // priorities
		file   bool
	}{
		{Syslog{}, nil, true},
		{Syslog{Facility: 10}, nil, true},
		{Syslog{Only: true}, nil, true}, // else nothing would have them
		{Syslog{Facility: 1}, []string{"<27>", "<29>", "<30>", "<31>"}, true},
		{Syslog{Facility: 2}, []string{"<131>", "<133>", "<134>", "<135>"}, true},
		{Syslog{Facility: 9, Severity: 5}, []string{"<187>", "<189>"}, true},
		{Syslog{Facility: 1, Severity: 3, Only: true}, []string{"<27>"}, false},
	} {
		dir := t.TempDir()
		c.syslog.Socket = filepath.Join(dir, "log")
		system, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: c.syslog.Socket, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		log := New(filepath.Join(dir, "mom_logs"), "pbs_mom", Options{Location: time.UTC, Mask: MomMask, Syslog: c.syslog})
		write(log)
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		var got []string
		buf := make([]byte, 1000)
		for range c.want {
			if err := system.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			n, err := system.Read(buf)
			if err != nil {
				t.Fatalf("%+v: %v after %v", c.syslog, err, got)
			}
			priority, rest, _ := strings.Cut(string(buf[:n]), "May  4 03:02:01 pbs_mom[")
			if _, text, ok := strings.Cut(rest, "]: "); !ok || !strings.Contains(text, ";Job;0.srv;event ") {
				t.Errorf("%+v: %s", c.syslog, buf[:n])
			}
			got = append(got, priority)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.syslog, got, c.want)
		}
		if _, err := os.Stat(filepath.Join(dir, "mom_logs", "20260504")); (err == nil) != c.file {
			t.Errorf("%+v: the file: %v", c.syslog, err)
		}
		_ = system.Close()
		write(log) // nobody is there: nothing is held up, nothing fails
		_ = log.Close()
	}
}

// TestSyslog_Restart: the first line after a restart of the system's daemon is in its log, too.
func TestSyslog_Restart(t *testing.T) {
	dir := t.TempDir()
	at := &net.UnixAddr{Name: filepath.Join(dir, "log"), Net: "unixgram"}
	log := New(filepath.Join(dir, "mom_logs"), "pbs_mom", Options{Location: time.UTC, Mask: MomMask, Syslog: Syslog{Facility: 1, Socket: at.Name}})
	defer log.Close()
	for range 3 {
		system, err := net.ListenUnixgram("unixgram", at)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(log.Write(time.Now(), pbs.LogError, "Job", "0.srv", "a line"), system.SetReadDeadline(time.Now().Add(10*time.Second))); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1000)
		if n, err := system.Read(buf); err != nil || !strings.HasSuffix(string(buf[:n]), ";Job;0.srv;a line") {
			t.Fatalf("the system has %q: %v", buf[:n], err)
		}
		if err := errors.Join(system.Close(), os.Remove(at.Name)); err != nil {
			t.Fatal(err)
		}
	}
}
