package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

func writeOutputs(spec Spec, text string) error {
	heads := [2][]byte{}
	for i, path := range []string{spec.StdoutHead, spec.StderrHead} {
		data, err := os.ReadFile(path)
		if err != nil && path != "" && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		heads[i] = data
	}
	if spec.Stdout == spec.Stderr {
		heads[0], heads[1] = append(heads[0], heads[1]...), nil
	}
	for i, path := range []string{spec.Stdout, spec.Stderr} {
		if path == "" || i == 1 && path == spec.Stdout {
			continue
		}
		data := heads[i]
		if i == 0 {
			data = append(data, text...)
		}
		how := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
		if spec.Again {
			how ^= os.O_TRUNC | os.O_APPEND
		}
		f, err := os.OpenFile(path, how, 0o600)
		if err == nil {
			_, err = f.Write(data)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SetFull makes Move fail, as a full or closed target does.
func (f *Fake) SetFull(full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full = full
}

// Move implements System on real files.
func (f *Fake) Move(_ *Owner, file, target, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.full {
		return syscall.ENOSPC
	}
	if info, err := os.Stat(target); strings.HasSuffix(target, "/") || err == nil && info.IsDir() {
		target = filepath.Join(target, name)
	}
	err := os.Rename(file, target)
	if errors.Is(err, fs.ErrNotExist) {
		if _, gone := os.Stat(file); gone != nil {
			return nil // moved before
		}
	}
	return err
}

// MakeDir implements System; the folder is not made, for nothing runs in it.
func (f *Fake) MakeDir(*Owner, string) error { return nil }

// RemoveDir implements System.
func (f *Fake) RemoveDir(*Owner, string) error { return nil }
