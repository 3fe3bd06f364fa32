package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/transport/own"
)

// TestRunDynamic: the first line counts; what fails, is late, or could be anybody's says nothing.
func TestRunDynamic(t *testing.T) {
	dir := t.TempDir()
	if err := own.Program(dir); err != nil {
		t.Skip(err)
	}
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, c := range []struct{ command, want, fault string }{
		{write("two", "echo ' 10 '; echo 20", 0o700), "10", ""},
		{write("arguments", `echo "$2 $#"`, 0o700) + " a 7;ls", "7;ls 2", ""},
		{write("fails", "echo 1; echo broken >&2; exit 3", 0o700), "", "broken"},
		{write("open", "echo 1", 0o722), "", "open: file has a non-secure file access: "},
		{filepath.Join(dir, "none"), "", "no such file"},
	} {
		got, err := runDynamic(ctx, c.command)
		if got != c.want || (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %q, %v; want %q, %q", c.command, got, err, c.want, c.fault)
		}
	}
	if _, err := runDynamic(ctx, filepath.Join(dir, "open")); !errors.Is(err, sched.ErrForeign) {
		t.Errorf("the scheduler is told %v", err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("echo 10 $1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := runDynamic(ctx, plain+" a"); got != "10 a" || err != nil {
		t.Errorf("a script that names no shell: %q, %v", got, err)
	}
	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := runDynamic(late, write("late", "sleep 100", 0o700)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a late program: %v", err)
	}
}
