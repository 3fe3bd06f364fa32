package server

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/daylog"
)

// TestReopen: what is written after a SIGHUP goes into a new file where the old one was moved, and a scheduler's log opens
// again by itself.
func TestReopen(t *testing.T) {
	home := t.TempDir()
	options := daylog.Options{Mask: daylog.ServerMask, Location: time.UTC}
	hangups := make(chan os.Signal) // unbuffered: who has sent one knows that it was heard
	s := &Server{
		serverLog: daylog.New(filepath.Join(home, "server_logs"), "Server@hosta", options), outside: Outside{Process: Process{Hangups: hangups}}, logger: slog.New(slog.DiscardHandler),
		schedLogs: &schedLogs{home: home, options: options, server: func() *state.Server { return &state.Server{} }},
	}
	ctx, end := context.WithCancel(t.Context())
	over := make(chan error)
	go func() { over <- s.reopen(ctx) }()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	write := func(text string) {
		t.Helper()
		for _, log := range []interface {
			Write(time.Time, uint16, string, string, string) error
		}{s.serverLog, s.schedLogs.of("")} {
			if err := log.Write(at, pbs.LogAdmin, "Svr", "x", text); err != nil {
				t.Fatal(err)
			}
		}
	}
	files := []string{filepath.Join(home, "server_logs", "20261121"), filepath.Join(home, "sched_logs", "20261121")}
	move := func(to string) {
		t.Helper()
		for _, file := range files {
			if err := os.Rename(file, file+to); err != nil {
				t.Fatal(err)
			}
		}
	}
	says := func(file, want string) {
		t.Helper()
		if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), want) {
			t.Errorf("%s says %q, %v, want one line with %q", file, text, err, want)
		}
	}
	write("first")
	move(".1")
	hangups <- syscall.SIGHUP
	hangups <- syscall.SIGHUP // the first one was obeyed
	write("second")
	for _, file := range files {
		says(file+".1", "first")
		says(file, "second")
	}
	move(".2")
	if err := s.schedLogs.keep(&state.Server{}); err != nil {
		t.Error(err)
	}
	if err := s.schedLogs.of("").Write(at, pbs.LogAdmin, "Svr", "x", "third"); err != nil {
		t.Error(err)
	}
	says(files[1]+".2", "second")
	says(files[1], "third")
	if err := s.schedLogs.keep(&state.Server{}); err != nil { // which is where it was opened
		t.Error(err)
	}
	end()
	if err := <-over; err != nil {
		t.Error(err)
	}
	s.schedLogs.of("").close()
	_ = s.serverLog.Close()
}
