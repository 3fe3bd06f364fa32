package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	durable "rampart/transport/disk"
)

// A Step names a point of a change on disk at which a fault may strike.
type Step string

// The steps of writing and removing, in their order.
const (
	Create  Step = "create"
	Write   Step = "write"
	Sync    Step = "sync"
	Rename  Step = "rename"
	SyncDir Step = "sync folder"
	Remove  Step = "remove"
	Cut     Step = "cut"
)

// disk makes changes that are whole or not at all.
type disk struct {
	noSync bool
	quick  bool // what is written need not outlive the host
	fault  func(Step, string) error
}

// unsynced returns the disk for what is void after a crash of the host.
func (d disk) unsynced() *disk {
	d.quick = true
	return &d
}

func (d *disk) at(s Step, path string) error {
	if d.fault == nil {
		return nil
	}
	return d.fault(s, path)
}

// put replaces the file at path by data.
func (d *disk) put(path string, data []byte, mode fs.FileMode) error {
	tmp := path + ".tmp"
	if err := d.fill(tmp, data, mode); err != nil {
		return err
	}
	if err := d.at(Rename, path); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return d.syncDir(filepath.Dir(path))
}

// stream replaces the file at path by what fill writes. Nothing is made before its first byte is there. failed reports
// whether it was the disk that failed.
func (d *disk) stream(path string, mode fs.FileMode, fill func(io.Writer) error) (failed bool, err error) {
	w := &streamed{disk: d, tmp: path + ".tmp", mode: mode}
	if err = fill(w); err == nil && w.f == nil {
		w.err = w.create()
	}
	if w.f != nil {
		if err == nil && w.err == nil {
			w.err = d.sync(w.f)
		}
		w.err = errors.Join(w.err, w.f.Close())
	}
	if err == nil && w.err == nil {
		if w.err = d.at(Rename, path); w.err == nil {
			w.err = os.Rename(w.tmp, path)
		}
	}
	switch {
	case w.err != nil:
		err = w.err
	case err == nil:
		w.err = d.syncDir(filepath.Dir(path))
		return w.err != nil, w.err
	}
	if w.f != nil {
		_ = os.Remove(w.tmp)
	}
	return w.err != nil, err
}

// streamed is a file that comes piece by piece.
type streamed struct {
	disk *disk
	tmp  string
	mode fs.FileMode
	f    *os.File
	err  error // of the disk
}

func (w *streamed) create() error {
	if err := w.disk.at(Create, w.tmp); err != nil {
		return err
	}
	var err error
	if w.f, err = os.OpenFile(w.tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, w.mode); err != nil {
		return err
	}
	return w.f.Chmod(w.mode) // the umask does not count here
}

// Write implements io.Writer.
func (w *streamed) Write(data []byte) (int, error) {
	if w.f == nil && w.err == nil {
		w.err = w.create()
	}
	if w.err == nil {
		w.err = w.disk.write(w.f, data)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(data), nil
}

func (d *disk) putJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	return d.put(path, data, 0o600)
}

func (d *disk) fill(tmp string, data []byte, mode fs.FileMode) error {
	if err := d.at(Create, tmp); err != nil {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	err = errors.Join(d.write(f, data), f.Chmod(mode)) // the umask does not count here
	if err == nil {
		err = d.sync(f)
	}
	return errors.Join(err, f.Close())
}

func (d *disk) write(f *os.File, data []byte) error {
	if err := d.at(Write, f.Name()); err != nil {
		_, _ = f.Write(data[:len(data)/2]) // what a full disk or a crash leaves behind
		return err
	}
	_, err := f.Write(data)
	return err
}

func (d *disk) sync(f *os.File) error {
	if d.quick {
		return nil
	}
	if err := d.at(Sync, f.Name()); err != nil {
		return err
	}
	if d.noSync {
		return nil
	}
	return f.Sync()
}

func (d *disk) syncDir(path string) error {
	if d.quick {
		return nil
	}
	if err := d.at(SyncDir, path); err != nil {
		return err
	}
	if d.noSync {
		return nil
	}
	return durable.SyncDir(path)
}

func (d *disk) remove(path string) error {
	if err := d.at(Remove, path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// readJSON reads a file; ok is false when there is none.
func readJSON(path string, v any) (ok bool, err error) {
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
