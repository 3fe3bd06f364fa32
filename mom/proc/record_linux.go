package proc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"rampart/transport/disk"
)

const (
	specFile = "spec.json"
	shimFile = "shim.json"
	exitFile = "exit.json"
	overFile = "over.json" // how the program ended, while the shim goes on
)

// A started record follows the shim's own once the job's first process exists.
type started struct {
	Session int `json:"session"`
}

// writeRecord puts v in place of the file by a rename. Without sync the record is
// meant for this boot of the host only: it outlives every process, not the kernel.
func writeRecord(path string, v any, sync bool) error {
	tmp, err := writeTemp(path, v, sync)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	if !sync {
		return nil
	}
	return disk.SyncDir(filepath.Dir(path))
}

// claimRecord makes the file with its content at once, or fails with fs.ErrExist.
func claimRecord(path string, v any) error {
	tmp, err := writeTemp(path, v, false)
	if err != nil {
		return err
	}
	return errors.Join(os.Link(tmp, path), os.Remove(tmp))
}

// addRecord appends a record to a file, for readShim.
func addRecord(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte("\n"), data...))
	return errors.Join(err, f.Close())
}

// readShim reads who the shim of a folder is, and its session if that was added.
func readShim(path string) (h Handle, ok bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	claim, rest, _ := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(claim, &h); err != nil {
		return h, false, fmt.Errorf("read %s: %w", path, err)
	}
	var s started
	if json.Unmarshal(rest, &s) == nil { // else it is not there yet
		h.Session = s.Session
	}
	if h.PID < 0 || h.PID == 1 || h.Session < 0 || h.Session == 1 { // a signal to it would go to all
		return Handle{}, false, fmt.Errorf("read %s: process %d with session %d is no shim", path, h.PID, h.Session)
	}
	return h, true, nil
}

func writeTemp(path string, v any, sync bool) (tmp string, err error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	tmp = fmt.Sprintf("%s.%d", path, os.Getpid())
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if sync && err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(tmp))
	}
	return tmp, nil
}

// readRecord reads a record; ok is false when there is none.
func readRecord(path string, v any) (ok bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return true, nil
}
