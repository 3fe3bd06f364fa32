package mom

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A mom's files are read line by line: what is refused names its file, what is taken is within
// bounds, and the environment has no name that a program could not find.
func FuzzReadSettings(f *testing.F) {
	f.Add("$logevent 0xff\n$usecp *:/home /nfs\n$tmpdir /a b\n", "TZ=UTC\nPATH\n#A=1\n=x\n")
	f.Add("# a comment\r\n$max_poll_downtime 5\r\n", "A=1=2\n")
	f.Add("$cgroup_parent ../..\n", "")
	f.Add("$cgroup_parent /a/./b\n$log_keep_days 65535\n$nosuch x", "\x00=1\n")
	f.Add(strings.Repeat("x", 70000), "A")
	f.Fuzz(func(t *testing.T, config, environment string) {
		dir := t.TempDir()
		paths := [2]string{filepath.Join(dir, "config"), filepath.Join(dir, "environment")}
		for i, text := range []string{config, environment} {
			if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := readSettings(paths[0], paths[1], "/tmp")
		if err != nil {
			if !strings.Contains(err.Error(), dir) {
				t.Errorf("the file at fault is not named: %v", err)
			}
			return
		}
		if s.keepDays < 0 || s.PollDowntime < 0 || s.JoinAlarm < 0 || s.LaunchDelay < 0 || !filepath.IsAbs(s.TmpDir) {
			t.Errorf("%q is read as %+v", config, s)
		}
		if p := s.cgroupParent; p != "" && (p != filepath.Clean(p) || !filepath.IsAbs(p) || p == "/") {
			t.Errorf("%q has the cgroups in %q", config, p)
		}
		for _, u := range s.UseCopy {
			if u.From == "" || u.To == "" || strings.ContainsAny(u.Host+u.From+u.To, " \n") {
				t.Errorf("%q has the line %+v", config, u)
			}
		}
		for name, value := range s.Environment {
			if name == "" || strings.ContainsAny(name, "=\n\x00") || strings.ContainsAny(value, "\n\x00") {
				t.Errorf("%q has %q=%q", environment, name, value)
			}
		}
		again, err := readSettings(paths[0], paths[1], "/tmp")
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("read again it is %+v, not %+v: %v", again, s, err)
		}
	})
}
