package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// compactAt is the size at which a task's file is written anew, if that saves most of it.
const compactAt = 64 << 10

const taskFile = "task.log"

// A taskLog is what this spool has written of a task's file. The zero one knows nothing of it.
type taskLog struct {
	entered bool  // the file's name is on disk, so that it is enough to sync what it holds
	size    int64 // of the file, which ends with a whole line
	whole   int64 // of the last line that is not a change
}

// SaveTask makes record the task's, whole or not at all. What is not durable outlives
// the mom but perhaps not the host, which suffices for all that is void after a boot; it
// is appended to the task's file, of which the last whole line counts.
func (s *Spool) SaveTask(k TaskKey, record any, durable bool) error {
	return s.saveTask(k, durable, nil, func() ([]byte, error) { return formatLine(record) })
}

// ChangeTask makes next the task's record as SaveTask does, where before is what was saved last: only
// the fields that differ are written. Both are structs of one type.
func (s *Spool) ChangeTask(k TaskKey, before, next any, durable bool) error {
	return s.saveTask(k, durable, func() ([]byte, error) { return formatChange(before, next) }, func() ([]byte, error) { return formatLine(next) })
}

// saveTask appends a line to the task's file: a change, if there is one, where all that it builds on is
// known to be in the file, else the whole record.
func (s *Spool) saveTask(k TaskKey, durable bool, change, whole func() ([]byte, error)) error {
	path := filepath.Join(s.TaskDir(k), taskFile)
	d := &s.disk
	if !durable {
		d = s.disk.unsynced()
	}
	err := fs.ErrNotExist
	if !durable || s.log(path).entered {
		err = s.appendTask(path, d, change, whole)
	}
	if durable && errors.Is(err, fs.ErrNotExist) { // it is new, or somebody has removed it
		if err = s.makeTaskDir(s.TaskDir(k)); err == nil {
			err = s.putTask(path, d, whole)
		}
	}
	if err != nil {
		return fmt.Errorf("save task %s: %w", k, err)
	}
	return nil
}

// putTask replaces the task's file.
func (s *Spool) putTask(path string, d *disk, whole func() ([]byte, error)) error {
	line, err := whole()
	if err != nil {
		return err
	}
	s.setLog(path, taskLog{})
	if err := d.put(path, line, 0o600); err != nil {
		return err
	}
	s.setLog(path, taskLog{entered: !d.quick, size: int64(len(line)), whole: int64(len(line))})
	return nil
}

// appendTask does not create the file: a task that was dropped stays so.
func (s *Spool) appendTask(path string, d *disk, change, whole func() ([]byte, error)) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	log := s.log(path)
	if info.Size() >= max(compactAt, 2*log.whole) {
		return errors.Join(f.Close(), s.putTask(path, d, whole))
	}
	known := log.size > 0 && log.size == info.Size()
	format := whole
	if known && change != nil {
		format = change
	}
	line, err := format()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	switch {
	case !known: // what the file ends with may be half a line
		log.whole, line = int64(len(line)), append([]byte("\n"), line...)
	case change == nil:
		log.whole = int64(len(line))
	}
	log.size = info.Size() + int64(len(line))
	s.setLog(path, taskLog{entered: log.entered})
	if err = d.write(f, line); err == nil {
		err = d.sync(f)
	}
	if err != nil { // a half line must not be followed by another
		return errors.Join(err, f.Truncate(info.Size()), f.Close())
	}
	s.setLog(path, log)
	return f.Close()
}

func (s *Spool) log(path string) taskLog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tasks[path]
}

func (s *Spool) setLog(path string, log taskLog) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if log == (taskLog{}) {
		delete(s.tasks, path)
	} else {
		s.tasks[path] = log
	}
}

func (s *Spool) makeTaskDir(dir string) error {
	if err := s.disk.at(Create, dir); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o711) // the owner of the job must reach his script, and no more
	if os.IsExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.disk.syncDir(filepath.Dir(dir))
}

// A Record is a task as it was last saved. Data is nil when the crash of the host has
// left a folder without a readable record.
type Record struct {
	Key  TaskKey
	Data json.RawMessage
}

// Tasks returns all tasks, in the order of their names.
func (s *Spool) Tasks() ([]Record, error) { return ReadTasks(TasksDir(s.home)) }

// ReadTasks returns the tasks whose folders are in a folder, as Tasks does, beside whatever mom has them in hand.
func ReadTasks(dir string) ([]Record, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	var all []Record
	for _, e := range entries {
		k, ok := parseKey(e.Name())
		if !ok || !e.IsDir() {
			continue
		}
		r := Record{Key: k}
		data, err := os.ReadFile(filepath.Join(dir, e.Name(), taskFile))
		if os.IsNotExist(err) {
			// The folder was made and the order not answered: it comes again.
			continue
		}
		if r.Data, err = readTask(data); err != nil {
			return nil, fmt.Errorf("read task %s: %w", k, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// Drop removes all that is kept of a task.
func (s *Spool) Drop(k TaskKey) error {
	s.setLog(filepath.Join(s.TaskDir(k), taskFile), taskLog{})
	if err := s.disk.remove(s.TaskDir(k)); err != nil {
		return fmt.Errorf("drop task %s: %w", k, err)
	}
	return nil
}
