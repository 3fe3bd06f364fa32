package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxEntries bounds what one item of a job may be.
const maxEntries = 1 << 20

// chunk is how much data a sink gets at once.
const chunk = 256 << 10

// Send gives the sink what an absolute path names: a file, a folder with all it holds, or
// everything that matches if it is a pattern. It returns the paths that it has sent, a folder
// before what is in it. Links in folders are sent as links.
func Send(path string, sink Sink) ([]string, error) {
	s := sender{sink: sink, buffer: make([]byte, chunk)}
	all := []string{path}
	if IsPattern(path) {
		var err error
		if all, err = filepath.Glob(path); err != nil {
			return nil, because("read", path, err)
		}
		if _, err := os.Lstat(path); err == nil { // a name that looks like a pattern
			all = []string{path}
		}
		if len(all) == 0 {
			return nil, failed("%s: no file matches", path)
		}
	}
	for _, p := range all {
		if err := s.top(filepath.Clean(p)); err != nil {
			return nil, err
		}
	}
	return s.sent, nil
}

type sender struct {
	sink   Sink
	buffer []byte
	sent   []string
}

// top sends what was asked for itself: a link is followed.
func (s *sender) top(path string) error {
	f, err := open(path, unix.O_RDONLY)
	if err != nil {
		return because("read", path, err)
	}
	defer f.Close()
	return s.opened(f, path, filepath.Base(path))
}

func (s *sender) opened(f *os.File, path, name string) error {
	info, err := f.Stat()
	if err != nil {
		return because("read", path, err)
	}
	if len(s.sent) == maxEntries {
		return failed("read %s: more than %d files", path, maxEntries)
	}
	e := Entry{Path: name, Mode: info.Mode().Perm(), Size: info.Size(), Modified: info.ModTime(), Inode: inode(info)}
	switch {
	case info.IsDir():
		e.Kind = Folder
		s.sent = append(s.sent, path)
		if err := s.sink.Entry(e); err != nil {
			return err
		}
		return s.folder(f, path, name)
	case !info.Mode().IsRegular():
		return failed("read %s: it is no file and no folder", path)
	}
	s.sent = append(s.sent, path)
	if err := s.sink.Entry(e); err != nil {
		return err
	}
	return s.data(f, path)
}

func (s *sender) data(f *os.File, path string) error {
	for {
		n, err := f.Read(s.buffer)
		if n > 0 {
			if _, err := s.sink.Write(s.buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return because("read", path, err)
		}
	}
}

func (s *sender) folder(f *os.File, path, name string) error {
	for {
		entries, err := f.ReadDir(1000)
		for _, e := range entries {
			if err := s.inside(filepath.Join(path, e.Name()), filepath.Join(name, e.Name()), e.Type()); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return because("read", path, err)
		}
	}
}

// inside sends what was found in a folder; pipes, sockets and devices stay where they are.
func (s *sender) inside(path, name string, kind fs.FileMode) error {
	switch {
	case kind&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		if err != nil {
			return because("read", path, err)
		}
		s.sent = append(s.sent, path)
		return s.sink.Entry(Entry{Path: name, Kind: Link, Link: to})
	case !kind.IsRegular() && !kind.IsDir():
		return nil
	}
	f, err := open(path, unix.O_RDONLY|unix.O_NOFOLLOW)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it went away in the meantime
	}
	if err != nil {
		return because("read", path, err)
	}
	defer f.Close()
	return s.opened(f, path, name)
}
