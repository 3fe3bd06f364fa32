package proc

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOpenInSpool_NothingThatWaitedThere: what somebody left under the name of a job's output
// is neither written to nor waited for, and what he has open stays empty.
func TestOpenInSpool_NothingThatWaitedThere(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "elsewhere")
	for name, plant := range map[string]func(path string) error{
		"file":    func(path string) error { return os.WriteFile(path, nil, 0o666) },
		"linked":  func(path string) error { return os.Link(elsewhere, path) },
		"symlink": func(path string) error { return os.Symlink(elsewhere, path) },
		"pipe":    func(path string) error { return syscall.Mkfifo(path, 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(elsewhere, nil, 0o666); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name+".OU")
			if err := plant(path); err != nil {
				t.Fatal(err)
			}
			planted, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer planted.Close()
			f, err := openOutput(path, "", Spec{Job: "1.srv", Umask: 0o77})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString("secret\n"); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(path)
			if was, statErr := planted.Stat(); statErr != nil || os.SameFile(was, info) {
				t.Error("what was left there reads along")
			}
			if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 || info.Size() != 7 {
				t.Errorf("the output: %v, %v", info, err)
			}
		})
	}
}

// TestOpenInSpool_Restart: a program that is restarted goes on with its own output only.
func TestOpenInSpool_Restart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.srv.OU")
	spec := Spec{Job: "1.srv", Restart: true}
	for range 2 { // the first finds none
		f, err := openOutput(path, "", spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("line\n"); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if text, err := os.ReadFile(path); string(text) != "line\nline\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Link(path, path+".also"); err != nil {
		t.Fatal(err)
	}
	if f, err := openOutput(path, "", spec); err == nil {
		f.Close()
		t.Error("a file that has another name is taken")
	}
}

// TestOpenInSpool_Again: a later run goes on behind the output of the one before; what it cannot have written is in nobody's way.
func TestOpenInSpool_Again(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.srv.OU")
	write := func(spec Spec, want string) {
		t.Helper()
		f, err := openOutput(path, "", spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("line\n"); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if text, err := os.ReadFile(path); string(text) != want {
			t.Errorf("%q, want %q: %v", text, want, err)
		}
	}
	first, again := Spec{Job: "1.srv"}, Spec{Job: "1.srv", Again: true}
	write(again, "line\n")
	write(again, "line\nline\n")
	write(first, "line\n") // a job of the same number, long ago
	if err := os.Link(path, path+".also"); err != nil {
		t.Fatal(err)
	}
	write(again, "line\n")
}

// TestOpenOutput_CarriesOver: what an earlier run has left in the spool comes before what a later one writes in place, and is delivered
// over nothing; what is no file of the job's is left out.
func TestOpenOutput_CarriesOver(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		dir := t.TempDir()
		spool, place := filepath.Join(dir, "1.srv.OU"), filepath.Join(dir, "out")
		if err := os.WriteFile(spool, []byte("first\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		want := "first\nsecond\n"
		if foreign {
			want = "second\n"
			if err := os.Link(spool, spool+".also"); err != nil {
				t.Fatal(err)
			}
		}
		f, err := openOutput(spool, place, Spec{Job: "1.srv", Again: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString("second\n")
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(place); err != nil || string(text) != want {
			t.Errorf("%q, want %q: %v", text, want, err)
		}
		if _, err := os.Lstat(spool); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the spool has it still: %v", err)
		}
	}
}

// TestOpenOutputs_Joined: what an earlier run has kept apart comes into the file that a later one has for both streams; a first run takes
// nothing that somebody else has left.
func TestOpenOutputs_Joined(t *testing.T) {
	for again, want := range map[bool]string{true: "first\nfirst error\nsecond\n", false: "second\n"} {
		dir := t.TempDir()
		joined, apart := filepath.Join(dir, "1.srv.OU"), filepath.Join(dir, "1.srv.ER")
		err := errors.Join(os.WriteFile(joined, []byte("first\n"), 0o600), os.WriteFile(apart, []byte("first error\n"), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		stdout, _, err := openOutputs(Spec{Job: "1.srv", Stdout: joined, Stderr: joined, Apart: apart, Again: again})
		if err != nil {
			t.Fatal(err)
		}
		_, err = stdout.WriteString("second\n")
		if err := errors.Join(err, stdout.Close()); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(joined); err != nil || string(text) != want {
			t.Errorf("again %v: %q, want %q: %v", again, text, want, err)
		}
		if _, err := os.Lstat(apart); again && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the spool has it still: %v", err)
		}
	}
}

// TestOpenInPlace: a file that is made has the mode of the job's umask, not of the daemon's; one that is there keeps its mode and what
// it holds, also at the end of a link.
func TestOpenInPlace(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "linked"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		for i, mode := range []os.FileMode{0o644, 0o664} {
			f, err := openInPlace(path, mode)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString("line\n"); err != nil {
				t.Fatal(err)
			}
			f.Close()
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o644 || info.Size() != int64(5*(i+1)) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}
