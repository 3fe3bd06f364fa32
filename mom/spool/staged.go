package spool

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// stagedFile lists what is to be removed when a task's files are where they belong.
const stagedFile = "staged"

// NoteStaged adds paths to those that Staged returns. The list only saves disk space of the
// job's owner, so it is not synced: after a crash of the host some of them may stay.
func (s *Spool) NoteStaged(k TaskKey, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	path := filepath.Join(s.TaskDir(k), stagedFile)
	err := s.disk.at(Write, path)
	if err != nil {
		return fmt.Errorf("note staged files of %s: %w", k, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("note staged files of %s: %w", k, err)
	}
	w := bufio.NewWriter(f)
	for _, p := range paths {
		line, _ := json.Marshal(p)
		_, err = w.Write(append(line, '\n'))
	}
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("note staged files of %s: %w", k, err)
	}
	return nil
}

// Staged returns what NoteStaged has noted; a line that a crash has spoilt is left out.
func (s *Spool) Staged(k TaskKey) ([]string, error) {
	f, err := os.Open(filepath.Join(s.TaskDir(k), stagedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("staged files of %s: %w", k, err)
	}
	defer f.Close()
	var all []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var path string
		if json.Unmarshal(lines.Bytes(), &path) == nil && filepath.IsAbs(path) {
			all = append(all, path)
		}
	}
	return all, lines.Err()
}
