package mom

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rampart/transport/api"
)

// program writes a program of the site into mom_priv.
func (w *world) program(name, text string, mode os.FileMode) {
	w.t.Helper()
	path := filepath.Join(w.home, "mom_priv", name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		w.t.Fatal(err)
	}
}

// A prologue runs before the program and an epilogue after it, each with PBS's arguments.
func TestPelog_Arguments(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		said := filepath.Join(t.TempDir(), "said")
		for _, name := range []string{"prologue", "epilogue"} {
			w.program(name, fmt.Sprintf("for a; do printf '%%s|' \"$a\"; done >> %s; pwd >> %s; exit 0", said, said), 0o700)
		}
		w.deliver(w.run("1.srv", "sleep 60\n", &api.Attribute{Name: "egroup", Value: "staff"}, &api.Attribute{Name: "Account_Name", Value: "acct"}))
		sleep(2 * time.Minute)
		w.wants("1.srv", "1 started", "1 ended 0")
		data, err := os.ReadFile(said)
		lines := strings.Split(string(data), "\n")
		if err != nil || len(lines) != 3 || lines[0] != "1.srv|ann|staff|"+w.user {
			t.Fatalf("they have said %q, %v", data, err)
		}
		words := strings.Split(lines[1], "|")
		if len(words) != 11 || strings.Join(words[:4], " ") != "1.srv ann staff work" || words[5] != "ncpus=2" || !strings.Contains(words[6], "walltime=00:01:00") ||
			strings.Join(words[7:], " ") != "workq acct 0 "+w.user {
			t.Errorf("the epilogue has %q", words)
		}
	})
}

// A job's output begins with what its prologue prints, and ends with the epilogue's; each run begins anew.
func TestPelog_Output(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.program("prologue", "echo welcome; echo beware >&2", 0o700)
		w.program("epilogue", "echo goodbye", 0o700)
		for id, join := range map[string]string{"1.srv": "oe", "2.srv": "n"} {
			w.deliver(w.run(id, "sleep 60\n", &api.Attribute{Name: "Join_Path", Value: join}))
			sleep(2 * time.Minute)
			number, _, _ := strings.Cut(id, ".")
			target, failure := filepath.Join(w.user, "work.o"+number), filepath.Join(w.user, "work.e"+number)
			w.wants(id, "1 started", "1 ended 0")
			data, err := os.ReadFile(target)
			if first, last := strings.Index(string(data), "welcome\n"), strings.Index(string(data), "goodbye\n"); err != nil || first != 0 || last < 0 {
				t.Errorf("%s: the output is %q, %v", join, data, err)
			}
			if joined := strings.Contains(string(data), "beware"); joined != (join == "oe") {
				t.Errorf("%s: the output is %q", join, data)
			}
			if data, err := os.ReadFile(failure); join == "n" && (err != nil || string(data) != "beware\n") {
				t.Errorf("the error is %q, %v", data, err)
			}
		}
	})
}

// A prologue that fails has the job queued again, or deleted; one that everybody can write, or nobody start, fails.
func TestPelog_Fails(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		mode    os.FileMode
		deletes bool
	}{
		"requeues":   {"exit 2", 0o700, false},
		"deletes":    {"exit 1", 0o700, true},
		"anybody's":  {"exit 0", 0o702, false},
		"no program": {"exit 0", 0o600, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				if err := os.MkdirAll(filepath.Join(w.home, "mom_priv"), 0o751); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(w.home, "mom_priv", "config"), []byte("$prologalarm 1\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				w.up()
				w.program("prologue", c.text, c.mode)
				w.deliver(w.run("1.srv", "sleep 60\n"))
				sleep(10 * time.Second)
				if e := w.servers.ended("1.srv"); !e.GetNeverStarted() || !strings.Contains(e.GetComment(), "prologue failed") {
					t.Errorf("it has ended with %v\n%s", e, w.log())
				}
				deletes := false
				w.servers.set(func(s *servers) {
					for _, f := range s.facts {
						deletes = deletes || len(f.GetHooks().GetDelete()) > 0
					}
				})
				if deletes != c.deletes {
					t.Errorf("it is to be deleted: %v", deletes)
				}
			})
		})
	}
}
