package spool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// shrinkAt is the size at which a journal without open facts begins a new file.
const shrinkAt = 1 << 20

// A journal keeps facts in files that are named for the first number in them. A line is
// the checksum of a fact and the fact.
type journal struct {
	dir  string
	disk *disk
	file *os.File
	size int64 // of what is whole; what stands behind it has to be cut off
	torn bool
}

func segment(seq uint64) string {
	n := strconv.FormatUint(seq, 10)
	return strings.Repeat("0", max(0, 20-len(n))) + n + ".log"
}

// open reads all facts and the last number that was given.
func (j *journal) open() (facts []Fact, last uint64, err error) {
	names, err := filepath.Glob(filepath.Join(j.dir, "*.log"))
	if err != nil {
		return nil, 0, err
	}
	slices.Sort(names)
	for i, name := range names {
		first, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(name), ".log"), 10, 64)
		if err != nil || first == 0 {
			return nil, 0, fmt.Errorf("%s is not a journal", name)
		}
		last = max(last, first-1)
		read, err := j.read(name, last+1, i == len(names)-1)
		if err != nil {
			return nil, 0, err
		}
		facts = append(facts, read...)
		last += uint64(len(read))
	}
	if j.file == nil {
		err = j.begin(last + 1)
	}
	return facts, last, err
}

// read reads one file. In the newest a line that is not whole is what a crash left, and
// was acknowledged to nobody.
func (j *journal) read(name string, next uint64, newest bool) ([]Fact, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var facts []Fact
	size := 0
	for size < len(data) {
		line, _, whole := bytes.Cut(data[size:], []byte("\n"))
		f, ok := parseLine(line)
		if !whole || !ok {
			break
		}
		if f.Version != version || f.Seq != next {
			return nil, fmt.Errorf("%s: fact %d of version %d, not %d of %d", name, f.Seq, f.Version, next, version)
		}
		facts = append(facts, f)
		next++
		size += len(line) + 1
	}
	if !newest {
		if size < len(data) {
			return nil, fmt.Errorf("%s is damaged at byte %d", name, size)
		}
		return facts, nil
	}
	if j.file, err = os.OpenFile(name, os.O_WRONLY, 0); err != nil {
		return nil, err
	}
	j.size, j.torn = int64(size), size < len(data)
	return facts, nil
}

// formatLine writes a record on a line of its own, behind its checksum.
func formatLine(record any) ([]byte, error) {
	data, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return formatText(data), nil
}

func formatText(data []byte) []byte {
	line := make([]byte, 0, len(data)+10)
	return append(append(fmt.Appendf(line, "%08x ", crc32.ChecksumIEEE(data)), data...), '\n')
}

// checkLine returns the record of a line that is whole.
func checkLine(line []byte) (json.RawMessage, bool) {
	sum, data, ok := bytes.Cut(line, []byte(" "))
	want, err := strconv.ParseUint(string(sum), 16, 32)
	return data, ok && err == nil && uint32(want) == crc32.ChecksumIEEE(data)
}

func parseLine(line []byte) (f Fact, ok bool) {
	data, ok := checkLine(line)
	return f, ok && json.Unmarshal(data, &f) == nil
}

// begin opens a new file for the facts from seq on.
func (j *journal) begin(seq uint64) error {
	path := filepath.Join(j.dir, segment(seq))
	if err := j.disk.at(Create, path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := j.disk.syncDir(j.dir); err != nil {
		return errors.Join(err, f.Close())
	}
	old := j.file
	j.file, j.size, j.torn = f, 0, false
	if old == nil {
		return nil
	}
	return errors.Join(old.Close(), j.disk.remove(old.Name()))
}

// append writes and syncs facts. After a failure nothing of them stays.
func (j *journal) append(facts []Fact) error {
	if err := j.cut(); err != nil {
		return err
	}
	var lines []byte
	for _, f := range facts {
		line, err := formatLine(f)
		if err != nil {
			return err
		}
		lines = append(lines, line...)
	}
	j.torn = true
	if _, err := j.file.Seek(j.size, 0); err != nil {
		return err
	}
	err := j.disk.write(j.file, lines)
	if err == nil {
		err = j.disk.sync(j.file)
	}
	if err != nil {
		return errors.Join(err, j.cut())
	}
	j.size += int64(len(lines))
	j.torn = false
	return nil
}

// cut removes what a failed append left. Until that is done nothing can follow.
func (j *journal) cut() error {
	if !j.torn {
		return nil
	}
	if err := j.disk.at(Cut, j.file.Name()); err != nil {
		return err
	}
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	j.torn = false
	return nil
}

// shrink begins a new file when the old one has nothing but acknowledged facts.
func (j *journal) shrink(next uint64) error {
	if j.size < shrinkAt {
		return nil
	}
	return j.begin(next)
}

func (j *journal) close() error { return j.file.Close() }
