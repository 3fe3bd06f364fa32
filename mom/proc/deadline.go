package proc

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Deadline says until when the jobs of a host may run. The mom moves it, the shims
// obey it, whether the mom lives or not (L2, the fence). Times count from the boot and
// go on while the host is suspended.
type Deadline struct {
	BootID string
	// Lapse counts the deadlines that have passed. What was started under an earlier
	// number may have been given up and is over, whatever At says by now.
	Lapse uint64
	At    time.Duration // 0: there is none
	Fence time.Duration // from the sending of a renewal to At; 0: there is none
}

// Passed reports whether the deadline is over.
func (d Deadline) Passed(now time.Duration) bool { return d.At > 0 && now > d.At }

// A deadline's file has one line of a fixed length: it is written over in place, which
// takes no room on a disk that is full, and a reader tells a torn one by its checksum.
const deadlineForm = "deadline 1 %-40s %20d %20d %20d"

func (d Deadline) line() []byte {
	text := fmt.Sprintf(deadlineForm, d.BootID, d.Lapse, int64(d.At), int64(d.Fence))
	return fmt.Appendf(nil, "%s %08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

// WriteDeadline moves the deadline of all shims that were given this file.
func WriteDeadline(path string, d Deadline) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return createDeadline(path, d)
	}
	if err == nil {
		_, err = f.WriteAt(d.line(), 0)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("move deadline: %w", err)
	}
	return nil
}

// A DeadlineFile is WriteDeadline with the file kept open: a host that has no descriptors left can
// still move the deadline of its jobs. The zero value is ready; one goroutine uses it at a time.
type DeadlineFile struct{ open *os.File }

// Write moves the deadline of all shims that were given this file.
func (f *DeadlineFile) Write(path string, d Deadline) error {
	if f.open != nil && f.current(path) {
		if _, err := f.open.WriteAt(d.line(), 0); err != nil {
			return fmt.Errorf("move deadline: %w", err)
		}
		return nil
	}
	if err := WriteDeadline(path, d); err != nil {
		return err
	}
	f.Close()
	f.open, _ = os.OpenFile(path, os.O_WRONLY, 0) // else it is opened anew each time
	return nil
}

// current reports whether the file that is open is still the one that shims read.
func (f *DeadlineFile) current(path string) bool {
	have, err := f.open.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(have, now)
}

// Close closes the file.
func (f *DeadlineFile) Close() {
	if f.open != nil {
		_ = f.open.Close()
		f.open = nil
	}
}

func createDeadline(path string, d Deadline) error {
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	err := os.WriteFile(tmp, d.line(), 0o600)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("make deadline: %w", err)
	}
	return nil
}

// readAttempts is how often a torn deadline is read: its writer needs microseconds.
const readAttempts = 5

// ReadDeadline reads what WriteDeadline wrote. fs.ErrNotExist in the chain says that
// there is no deadline yet.
func ReadDeadline(path string) (d Deadline, err error) {
	for range readAttempts {
		var data []byte
		if data, err = os.ReadFile(path); err != nil {
			return Deadline{}, fmt.Errorf("read deadline: %w", err)
		}
		if d, err = parseDeadline(data); err == nil {
			return d, nil
		}
	}
	return Deadline{}, fmt.Errorf("read deadline %s: %w", path, err)
}

func parseDeadline(data []byte) (d Deadline, err error) {
	var sum uint32
	var at, fence int64
	if _, err := fmt.Sscanf(string(data), "deadline 1 %s %d %d %d %x", &d.BootID, &d.Lapse, &at, &fence, &sum); err != nil {
		return Deadline{}, fmt.Errorf("no deadline of version 1: %w", err)
	}
	d.At, d.Fence = time.Duration(at), time.Duration(fence)
	if !bytes.Equal(data, d.line()) {
		return Deadline{}, errors.New("checksum does not match")
	}
	return d, nil
}

// fence is a shim's knowledge of its host's deadline.
type fence struct {
	path  string // "": none
	boot  string
	lapse uint64
	last  Deadline // a file that cannot be read leaves what was known in force
}

// fallen reports whether the job must end, or must not start.
func (f *fence) fallen(now time.Duration) bool {
	if f.path == "" {
		return false
	}
	if d, err := ReadDeadline(f.path); err == nil {
		f.last = d
	}
	return f.last.BootID != f.boot || f.last.Lapse > f.lapse || f.last.Passed(now)
}

// deadlineEvery is how soon a shim sees a deadline that has come nearer.
const deadlineEvery = 5 * time.Second

// next returns when to look again, at the latest after the given time: the deadline
// itself wakes the shim.
func (f *fence) next(now, most time.Duration) time.Duration {
	if f.path == "" || f.last.At == 0 {
		return now + most
	}
	return min(now+most, f.last.At+1)
}
