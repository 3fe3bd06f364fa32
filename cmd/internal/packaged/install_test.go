package packaged

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInstall_LaysWhatThePackageDoes: make install lays the profile and the files of PBS_EXEC where
// the package has them.
func TestInstall_LaysWhatThePackageDoes(t *testing.T) {
	maker, err := exec.LookPath("make")
	if err != nil {
		t.Skip("there is no make")
	}
	programs, dest := t.TempDir(), t.TempDir()
	for _, name := range []string{"rampart", "pbs"} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), maker, "-s", "-o", "build", "install", "DESTDIR="+dest, "PREFIX=/opt/pbs", "PROGRAMS="+programs, "VERSION=1.2.3")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for at, source := range map[string]string{
		"etc/profile.d/pbs.sh":                      "packaging/profile.d/pbs.sh",
		"opt/pbs/etc/pbs.sh":                        "packaging/profile.d/pbs.sh",
		"opt/pbs/etc/pbs_sched_config":              "cmd/rampart/home/etc/pbs_sched_config",
		"opt/pbs/lib/python/altair/pbs_ifl.py":      "mom/hook/python/pbs_ifl.py",
		"opt/pbs/lib/python/altair/pbs/__init__.py": "mom/hook/python/pbs/__init__.py",
		"opt/pbs/libexec/pbs_init.d":                "packaging/libexec/pbs_init.d",
	} {
		got, err1 := os.ReadFile(filepath.Join(dest, at))
		want, err2 := os.ReadFile(filepath.Join(root, source))
		if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %v", at, err1, err2)
		}
	}
}
