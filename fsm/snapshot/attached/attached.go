// Package attached puts the large scripts of jobs behind a snapshot that people keep, since the
// state only names them. Each stands in a frame that whoever reads the state skips: its sum and
// its content. The last frame has the length of all that and a magic text, by which it is found
// from the end. The content is not checked here: its name is its hash.
package attached

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"rampart/fsm/pbs"
)

const (
	magic     = "RAMPARTBLOB1"
	skippable = 0x184D2A5B // begins a frame that zstd skips
	frameHead = 8
	blobHead  = frameHead + len(pbs.BlobSum{})
	footSize  = frameHead + 8 + len(magic)
)

// ErrCorrupt means that what stands behind the state is not what was written there.
var ErrCorrupt = errors.New("the scripts in the snapshot are corrupt")

// frame begins a frame of so many bytes.
func frame(bytes int64) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, skippable), uint32(bytes))
}

// A Script is a blob in a snapshot file.
type Script struct {
	pbs.Blob
	Offset int64 // of its content
}

// Behind returns what stands behind a snapshot that has these blobs; nothing if there are none.
// Each is opened when its turn comes.
func Behind(blobs []pbs.Blob, open func(pbs.Blob) (io.ReadCloser, error)) io.ReadCloser {
	return &attaching{todo: blobs, open: open, done: len(blobs) == 0, now: bytes.NewReader(nil)}
}

type attaching struct {
	todo  []pbs.Blob
	open  func(pbs.Blob) (io.ReadCloser, error)
	now   io.Reader
	file  io.Closer // of now; nil: there is none
	bytes int64
	done  bool // the end is in now, or was read
}

// Read implements io.Reader.
func (a *attaching) Read(p []byte) (int, error) {
	for {
		n, err := a.now.Read(p)
		if n > 0 || err != nil && err != io.EOF {
			return n, err
		}
		if err := a.Close(); err != nil {
			return 0, err
		}
		switch {
		case len(a.todo) > 0:
			if err := a.next(); err != nil {
				return 0, err
			}
		case !a.done:
			a.done = true
			foot := binary.BigEndian.AppendUint64(frame(int64(footSize-frameHead)), uint64(a.bytes))
			a.now = bytes.NewReader(append(foot, magic...))
		default:
			return 0, io.EOF
		}
	}
}

func (a *attaching) next() error {
	b := a.todo[0]
	a.todo = a.todo[1:]
	f, err := a.open(b)
	if err != nil {
		return fmt.Errorf("attach script %s: %w", b.Sum, err)
	}
	a.file = f
	a.now = io.MultiReader(bytes.NewReader(append(frame(int64(len(b.Sum))+b.Size), b.Sum[:]...)), f)
	a.bytes += int64(blobHead) + b.Size
	return nil
}

// Close implements io.Closer.
func (a *attaching) Close() error {
	f := a.file
	if a.file = nil; f == nil {
		return nil
	}
	return f.Close()
}

// Split returns how many bytes of a snapshot file are the state, and which blobs stand behind it.
func Split(f io.ReaderAt, size int64) (state int64, blobs []Script, err error) {
	foot := make([]byte, footSize)
	if size < int64(footSize) {
		return size, nil, nil
	}
	if _, err := f.ReadAt(foot, size-int64(footSize)); err != nil {
		return 0, nil, fmt.Errorf("read snapshot: %w", err)
	}
	if string(foot[frameHead+8:]) != magic {
		return size, nil, nil
	}
	end := size - int64(footSize)
	state = end - int64(binary.BigEndian.Uint64(foot[frameHead:]))
	if state < 0 || state > end {
		return 0, nil, ErrCorrupt
	}
	head := make([]byte, blobHead)
	for at := state; at < end; {
		if _, err := f.ReadAt(head, at); err != nil {
			return 0, nil, fmt.Errorf("read snapshot: %w", err)
		}
		b := Script{Offset: at + int64(blobHead)}
		copy(b.Sum[:], head[frameHead:])
		b.Size = int64(binary.LittleEndian.Uint32(head[4:])) - int64(len(b.Sum))
		if at = b.Offset + b.Size; b.Size <= 0 || b.Size > pbs.MaxScript || at > end {
			return 0, nil, ErrCorrupt
		}
		blobs = append(blobs, b)
	}
	return state, blobs, nil
}
