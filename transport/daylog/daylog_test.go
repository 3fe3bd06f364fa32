package daylog

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"rampart/fsm/pbs"
)

// lineForm is case LG-1 of the specification.
var lineForm = regexp.MustCompile(`^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d(\.\d{6})?;[0-9a-f]{4};[^;]+;(Svr|Que|Job|Req|Fil|Act|Node|Resv|Sched|Hook|Resc|TPP);[^;]*;.*$`)

func read(t *testing.T, dir, day string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, day))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWrite_OneFilePerDay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mom_logs")
	l := New(dir, "pbs_mom", Options{Mask: MomMask, Location: time.UTC})
	before := time.Date(2026, 11, 21, 23, 59, 59, 0, time.UTC)
	for _, at := range []time.Time{before, before.Add(time.Second)} {
		if err := l.Write(at, pbs.LogJob, "Job", "1.srv", "kill_job"); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, dir, "20261121"), "11/21/2026 23:59:59;0008;pbs_mom;Job;1.srv;kill_job\n"; got != want {
		t.Errorf("first day: %q, want %q", got, want)
	}
	if got, want := read(t, dir, "20261122"), "11/22/2026 00:00:00;0008;pbs_mom;Job;1.srv;kill_job\n"; got != want {
		t.Errorf("second day: %q, want %q", got, want)
	}
	info, err := os.Stat(filepath.Join(dir, "20261121"))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestWrite_OneFile: with a file for all days no day has its own, none is removed, and no folder is made; moved away it is opened again.
func TestWrite_OneFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "all")
	l := New(filepath.Join(dir, "mom_logs"), "pbs_mom", Options{Mask: MomMask, Location: time.UTC, File: file, KeepDays: 1})
	before := time.Date(2026, 11, 21, 23, 59, 59, 0, time.UTC)
	for _, at := range []time.Time{before, before.Add(time.Second)} {
		if err := l.Write(at, pbs.LogJob, "Job", "1.srv", "kill_job"); err != nil {
			t.Fatal(err)
		}
		if err := l.CloseMoved(); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, dir, "all"); strings.Count(got, "\n") != 2 {
		t.Errorf("the file says %q", got)
	}
	if err := os.Rename(file, file+".1"); err != nil {
		t.Fatal(err)
	}
	if err := l.CloseMoved(); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(before, pbs.LogJob, "Job", "2.srv", "kill_job"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "all"); !strings.Contains(got, "2.srv") || strings.Count(got, "\n") != 1 {
		t.Errorf("the file in its place says %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "mom_logs")); err == nil {
		t.Error("there is a folder of days")
	}
	_ = l.Close()
}

// TestWrite_Head: each file that is opened says of whom it is, whatever is written into it.
func TestWrite_Head(t *testing.T) {
	dir := t.TempDir()
	l := New(dir, "pbs_mom", Options{Mask: pbs.LogJob, Location: time.UTC, Head: []string{"pbs_version=23", "hostname=hosta"}})
	at := time.Date(2026, 11, 21, 23, 59, 59, 0, time.UTC)
	for _, after := range []time.Duration{0, 0, time.Second} {
		if err := l.Write(at.Add(after), pbs.LogJob, "Job", "1.srv", "kill_job"); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for day, times := range map[string]int{"20261121": 2, "20261122": 1} {
		at := map[string]string{"20261121": "11/21/2026 23:59:59;", "20261122": "11/22/2026 00:00:00;"}[day]
		want := at + "0002;pbs_mom;Svr;Log;Log opened\n" + at + "0002;pbs_mom;Svr;pbs_mom;pbs_version=23\n" +
			at + "0002;pbs_mom;Svr;pbs_mom;hostname=hosta\n" + strings.Repeat(at+"0008;pbs_mom;Job;1.srv;kill_job\n", times)
		if got := read(t, dir, day); got != want {
			t.Errorf("%s: %q, want %q", day, got, want)
		}
	}
}

func TestWrite_MaskAndForce(t *testing.T) {
	dir := t.TempDir()
	l := New(dir, "Server@h", Options{Location: time.UTC})
	at := time.Date(2027, 1, 2, 3, 4, 5, 678000, time.UTC)
	for _, event := range []uint16{pbs.LogJob, pbs.LogForce | pbs.LogSystem} {
		if err := l.Write(at, event, "Svr", "Server@h", "text"); err != nil {
			t.Fatal(err)
		}
	}
	l.SetMask(ServerMask)
	if err := l.Write(at, pbs.LogDebug2|pbs.LogJob, "Node", "v;x", "again"); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	want := "01/02/2027 03:04:05;0002;Server@h;Svr;Server@h;text\n" +
		"01/02/2027 03:04:05;0108;Server@h;Node;v;x;again\n"
	if got := read(t, dir, "20270102"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFormat_FormOfEveryLine(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 26, 20, 458878000, time.UTC)
	for _, text := range []string{"plain", "a;b;c", "two\nlines\n", "", "carriage\r\nreturn"} {
		for _, high := range []bool{false, true} {
			line := Format(at, high, pbs.LogJob, "pbs_mom", "Job", "141.hosta", text)
			if strings.Count(line, "\n") != 1 || !lineForm.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Errorf("bad line %q", line)
			}
		}
	}
	if got := Format(at, true, pbs.LogJob, "pbs_mom", "Job", "141.hosta", "kill_job"); got != "11/21/2026 05:26:20.458878;0008;pbs_mom;Job;141.hosta;kill_job\n" {
		t.Errorf("got %q", got)
	}
}
