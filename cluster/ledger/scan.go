package ledger

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"time"

	"rampart/transport/pause"
)

// A found record is whole: its slot stands in the sidecar, and its line, with the
// checksum, in the day file. An edit further up may have moved the line.
type found struct {
	slot
	at   uint64 // where the line is
	line []byte // valid until the next record
}

// A scan looks for the whole records of one day file.
type scan struct {
	data, index *os.File
	size        uint64 // of the day file
	rest        int64  // bytes of the sidecar
	pace        *pace

	seen   int64  // slots so far
	clean  bool   // nothing but whole records so far, each where its slot says
	last   slot   // of the last whole record
	end    uint64 // where its line ends
	line   []byte
	text   []byte // of the file from textAt on
	textAt uint64
}

func openScan(dir, day string, p *pace) (*scan, error) {
	data, err1 := os.Open(filepath.Join(dir, day))
	if errors.Is(err1, fs.ErrNotExist) {
		data, err1 = nil, nil
	}
	index, err2 := os.Open(filepath.Join(dir, indexName(day)))
	s := &scan{data: data, index: index, pace: p, clean: true}
	if err := errors.Join(err1, err2); err != nil {
		return nil, errors.Join(fmt.Errorf("open accounting file: %w", err), s.close())
	}
	if err := s.measure(); err != nil {
		return nil, errors.Join(fmt.Errorf("read accounting file %s: %w", day, err), s.close())
	}
	return s, nil
}

// measure takes the sidecar's size before the data's: lines are written first.
func (s *scan) measure() error {
	info, err := s.index.Stat()
	if err != nil {
		return err
	}
	s.rest = info.Size()
	if s.data == nil {
		return nil
	}
	if info, err = s.data.Stat(); err != nil {
		return err
	}
	s.size = uint64(info.Size())
	return nil
}

func (s *scan) close() error { return errors.Join(closeFile(s.data), closeFile(s.index)) }

// everything is the limit of a scan that has none. With a limit the file may be
// under the writer's hands, and what is above it is not judged.
const everything = math.MaxUint64

// records yields the whole records with numbers up to limit, by number.
func (s *scan) records(ctx context.Context, limit uint64) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		slots := bufio.NewReaderSize(io.NewSectionReader(s.index, 0, s.rest), slotSize*1024)
		for {
			if err := ctx.Err(); err != nil {
				yield(found{}, err)
				return
			}
			var b [slotSize]byte
			if _, err := io.ReadFull(slots, b[:]); isEnd(err) {
				s.clean = s.clean && (limit < everything || err == io.EOF && s.end == s.size)
				return
			} else if err != nil {
				yield(found{}, fmt.Errorf("read accounting sidecar: %w", err))
				return
			}
			sl := parseSlot(b[:])
			s.seen++
			f, ok, err := s.find(sl)
			if err != nil {
				yield(found{}, fmt.Errorf("read accounting file: %w", err))
				return
			}
			if ok && f.number > limit {
				return
			}
			if !ok {
				s.clean = s.clean && sl.number > limit
				continue
			}
			s.clean = s.clean && f.at == f.offset && f.at == s.end
			s.last, s.end = f.slot, f.at+uint64(f.length)
			if !yield(f, nil) {
				return
			}
			s.pace.read(ctx, slotSize+int(f.length))
		}
	}
}

// find looks for the line of a slot: where the slot says, as far from there as the
// line before is, or among the lines that follow the one before.
func (s *scan) find(sl slot) (found, bool, error) {
	if sl.number <= s.last.number || sl.number == math.MaxUint64 || sl.length == 0 || sl.length > maxLine {
		return found{}, false, nil
	}
	for _, at := range []uint64{sl.offset, sl.offset + s.end - s.last.end()} {
		if at < s.end {
			continue
		}
		if ok, err := s.isAt(sl, at); ok || err != nil {
			return found{sl, at, s.line}, ok, err
		}
	}
	at, ok, err := s.search(sl)
	return found{sl, at, s.line}, ok, err
}

// isAt reports whether the line of the slot stands at an offset, and reads it. A slot of no
// length has none; the day file, which may be gone, is not asked for it.
func (s *scan) isAt(sl slot, at uint64) (bool, error) {
	if sl.length == 0 || sl.length > maxLine || at > s.size || uint64(sl.length) > s.size-at {
		return false, nil
	}
	s.line = append(s.line[:0], make([]byte, sl.length)...)
	if _, err := s.data.ReadAt(s.line, int64(at)); isEnd(err) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return sl.check(s.line) == sl.sum, nil
}

// window bounds what is searched for a line that an edit has moved.
const window = 256 << 10

func (s *scan) search(sl slot) (at uint64, ok bool, err error) {
	if s.textAt != s.end || s.text == nil {
		if err := s.readWindow(); err != nil {
			return 0, false, err
		}
	}
	at, text := s.end, s.text
	for len(text) > 0 {
		length := bytes.IndexByte(text, '\n') + 1
		if length == 0 {
			break
		}
		if length == int(sl.length) && sl.check(text[:length]) == sl.sum {
			s.line = append(s.line[:0], text[:length]...)
			return at, true, nil
		}
		at, text = at+uint64(length), text[length:]
	}
	return 0, false, nil
}

// readWindow reads what follows the last whole record.
func (s *scan) readWindow() error {
	s.textAt, s.text = s.end, []byte{}
	if s.end >= s.size {
		return nil
	}
	text := make([]byte, min(window, s.size-s.end))
	n, err := s.data.ReadAt(text, int64(s.end))
	if err != nil && !isEnd(err) {
		return err
	}
	s.text = text[:n]
	return nil
}

// A pace keeps verifying from taking the disk away from others.
type pace struct{ bytes int }

// One MiB is read at once, and then paused: at most 16 MiB a second.
const (
	paceBytes = 1 << 20
	pacePause = time.Second / 16
)

func (p *pace) read(ctx context.Context, n int) {
	if p == nil {
		return
	}
	if p.bytes += n; p.bytes >= paceBytes {
		p.bytes = 0
		pause.For(ctx, pacePause)
	}
}
