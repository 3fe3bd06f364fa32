package ledger

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A slot describes one record of a day file: the sidecar beside it is a row of
// them, each a line of hexadecimal digits, for tools of sites read whatever lies in
// server_priv/accounting as text. The form is on disk in every cluster.
type slot struct {
	number uint64
	offset uint64 // of the line in the day file
	length uint32
	sum    uint32 // over number, offset and line
}

const (
	slotBytes = 24
	slotSize  = 2*slotBytes + 1 // as a line
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func newSlot(number, offset uint64, line []byte) slot {
	s := slot{number: number, offset: offset, length: uint32(len(line))}
	s.sum = s.check(line)
	return s
}

// check returns the checksum that the slot must have if line is its record.
func (s slot) check(line []byte) uint32 {
	var head [16]byte
	binary.BigEndian.PutUint64(head[:8], s.number)
	binary.BigEndian.PutUint64(head[8:], s.offset)
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, line)
}

func (s slot) end() uint64 { return s.offset + uint64(s.length) }

func (s slot) append(b []byte) []byte {
	raw := make([]byte, 0, slotBytes)
	raw = binary.BigEndian.AppendUint64(raw, s.number)
	raw = binary.BigEndian.AppendUint64(raw, s.offset)
	raw = binary.BigEndian.AppendUint32(raw, s.length)
	raw = binary.BigEndian.AppendUint32(raw, s.sum)
	return append(hex.AppendEncode(b, raw), '\n')
}

// parseSlot reads a line; one of another form is as a slot of zeros, which describes no record.
func parseSlot(b []byte) slot {
	var raw [slotBytes]byte
	if _, err := hex.Decode(raw[:], b[:2*slotBytes]); err != nil || b[2*slotBytes] != '\n' {
		return slot{}
	}
	return slot{
		number: binary.BigEndian.Uint64(raw[:]),
		offset: binary.BigEndian.Uint64(raw[8:]),
		length: binary.BigEndian.Uint32(raw[16:]),
		sum:    binary.BigEndian.Uint32(raw[20:]),
	}
}

const sidecarEnd = ".index"

func indexName(day string) string { return "." + day + sidecarEnd }

// dayOf returns the day of a sidecar's file name.
func dayOf(name string) (string, bool) {
	day, ok := strings.CutPrefix(name, ".")
	if !ok {
		return "", false
	}
	day, ok = strings.CutSuffix(day, sidecarEnd)
	return day, ok && validDay(day)
}

// validDay guards file names: days come from peers too.
func validDay(day string) bool {
	if len(day) != 8 {
		return false
	}
	return strings.Trim(day, "0123456789") == ""
}

// A span is the range of numbers in one day file. With a changed time zone the
// spans of two days may overlap; a number is in one file only.
type span struct {
	day         string
	first, last uint64
	slots       int64
}

// sidecars lists the days that have one.
func sidecars(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list accounting files: %w", err)
	}
	var days []string
	for _, e := range entries {
		if day, ok := dayOf(e.Name()); ok && !e.IsDir() {
			days = append(days, day)
		}
	}
	return days, nil
}

// spans lists the day files that hold records, by their last number.
func spans(dir string) ([]span, error) {
	days, err := sidecars(dir)
	if err != nil {
		return nil, err
	}
	var all []span
	for _, day := range days {
		s, err := readSpan(dir, day)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is being mended
		}
		if err != nil {
			return nil, err
		}
		if s.slots > 0 {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.last, b.last) })
	return all, nil
}

func readSpan(dir, day string) (span, error) {
	f, err := os.Open(filepath.Join(dir, indexName(day)))
	if err != nil {
		return span{}, fmt.Errorf("open accounting sidecar: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return span{}, fmt.Errorf("read accounting sidecar: %w", err)
	}
	s := span{day: day, slots: info.Size() / slotSize}
	if s.slots == 0 {
		return s, nil
	}
	first, err1 := slotAt(f, 0)
	last, err2 := slotAt(f, s.slots-1)
	if err := errors.Join(err1, err2); err != nil {
		return span{}, fmt.Errorf("read accounting sidecar of %s: %w", day, err)
	}
	s.first, s.last = first.number, last.number
	return s, nil
}

func slotAt(r io.ReaderAt, i int64) (slot, error) {
	var b [slotSize]byte
	if _, err := r.ReadAt(b[:], i*slotSize); err != nil {
		return slot{}, err
	}
	return parseSlot(b[:]), nil
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
