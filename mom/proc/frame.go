package proc

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A FrameKind says what a Frame is. The numbers are spoken between builds: append only.
type FrameKind uint8

// The kinds of frames. Offsets count the bytes of a direction since the session began, so
// that a peer that comes back after a broken connection goes on where it was.
const (
	FrameAttach   FrameKind = iota + 1 // to the session: Offset is how much output was seen
	FrameInput                         // to the session: Data typed, the first byte at Offset
	FrameSeen                          // to the session: output up to Offset need not be kept
	FrameWindow                        // to the session: Data is rows and columns, 16 bits each
	FrameHangup                        // to the session: the terminal is gone for good
	FrameLeft                          // to the session: who was attached is cut off, and may come back
	FrameNotice                        // to the session: Data is shown besides its output
	FrameOutput                        // of the session: Data, the first byte at Offset
	FrameTaken                         // of the session: the input up to Offset was passed on
	FrameEnd                           // of the session: it is over, its output ended at Offset
	FrameDisplay                       // to the session: this connection is for a program that wants the display; of it: one does
	FrameInputEnd                      // to the session: there is no more input, which ended at Offset: of a session at pipes
)

// MaxFrame is the greatest length of a frame's data, in bytes.
const MaxFrame = 16 << 10

// A Frame is one message between a terminal and the session that it is attached to.
type Frame struct {
	Kind   FrameKind
	Offset uint64
	Data   []byte
}

const frameHead = 1 + 8 + 4

// WriteFrame writes a frame by one call of Write.
func WriteFrame(w io.Writer, f Frame) error {
	if len(f.Data) > MaxFrame {
		return fmt.Errorf("frame of %d bytes: more than %d", len(f.Data), MaxFrame)
	}
	b := make([]byte, frameHead, frameHead+len(f.Data))
	b[0] = byte(f.Kind)
	binary.BigEndian.PutUint64(b[1:], f.Offset)
	binary.BigEndian.PutUint32(b[9:], uint32(len(f.Data)))
	_, err := w.Write(append(b, f.Data...))
	return err
}

// ReadFrame reads a frame; io.EOF says that there are no more.
func ReadFrame(r io.Reader) (Frame, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	f := Frame{Kind: FrameKind(head[0]), Offset: binary.BigEndian.Uint64(head[1:])}
	n := binary.BigEndian.Uint32(head[9:])
	if n > MaxFrame {
		return Frame{}, fmt.Errorf("frame of %d bytes: more than %d", n, MaxFrame)
	}
	f.Data = make([]byte, n)
	if _, err := io.ReadFull(r, f.Data); err != nil {
		return Frame{}, io.ErrUnexpectedEOF
	}
	return f, nil
}
