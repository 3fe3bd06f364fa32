package ledger

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxOfJob bounds the lines of a job that are held in memory.
const maxOfJob = 64 << 20

// OfJob returns the lines of a job's records in the files of the days first to last, YYYYMMDD,
// in their order, without newlines. With newest it begins at the last day and reads back to
// the one on which the job was queued. Only one call at a time reads: a day of a busy cluster is
// many megabytes.
func (l *Ledger) OfJob(ctx context.Context, id, first, last string, newest bool) ([][]byte, error) {
	select {
	case l.reading <- struct{}{}:
		defer func() { <-l.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return ofJob(ctx, l.opts.Dir, id, first, last, newest)
}

func ofJob(ctx context.Context, dir, id, first, last string, newest bool) ([][]byte, error) {
	names, err := sidecars(dir)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(day string) bool { return day < first || day > last })
	slices.Sort(names)
	if newest {
		slices.Reverse(names)
	}
	var all [][][]byte
	room := maxOfJob
	for _, day := range names {
		lines, queued, err := ofJobIn(ctx, filepath.Join(dir, day), id, &room)
		if err != nil {
			return nil, fmt.Errorf("read accounting file %s: %w", day, err)
		}
		all = append(all, lines)
		if newest && queued {
			break
		}
	}
	if newest {
		slices.Reverse(all)
	}
	return slices.Concat(all...), nil
}

// The head of a line, "MM/DD/YYYY hh:mm:ss;X;ID;": where its letter is, and the id begins.
const (
	letterAt = 20
	idAt     = 22
)

func ofJobIn(ctx context.Context, path, id string, room *int) (lines [][]byte, queued bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil // the day is being mended
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	scan := bufio.NewScanner(reader{ctx, f})
	scan.Buffer(make([]byte, 256<<10), maxLine)
	scan.Split(wholeLines)
	tail := []byte(id + ";")
	for scan.Scan() {
		line := scan.Bytes()
		if len(line) < idAt || !bytes.HasPrefix(line[idAt:], tail) {
			continue
		}
		if *room -= len(line); *room < 0 {
			return nil, false, fmt.Errorf("the records of %s are longer than %d MB", id, maxOfJob>>20)
		}
		queued = queued || line[letterAt] == 'Q'
		lines = append(lines, bytes.Clone(line))
	}
	return lines, queued, scan.Err()
}

// wholeLines passes over a last line without an end: it is still being written.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if n := bytes.IndexByte(data, '\n'); n >= 0 {
		return n + 1, data[:n], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

// reader reads until its context ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
