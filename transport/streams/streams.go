// Package streams joins what a program writes to its standard output and its standard error into one stream of bytes, and parts it again.
package streams

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The streams that are joined.
const (
	Output byte = 1
	Errors byte = 2
)

// Head is how many bytes stand before each piece of data: the number of its stream, and its length in 16 bits.
const Head = 1 + 2

// MaxPiece is the greatest length of a piece's data, in bytes.
const MaxPiece = 1<<16 - 1

// Append adds data of a stream to joined ones.
func Append(joined []byte, stream byte, data []byte) []byte {
	for len(data) > 0 {
		piece := data[:min(len(data), MaxPiece)]
		joined = binary.BigEndian.AppendUint16(append(joined, stream), uint16(len(piece)))
		joined = append(joined, piece...)
		data = data[len(piece):]
	}
	return joined
}

// A Parter parts joined streams that are written to it, in pieces of any length. What cannot be written is left out, and the first error kept.
type Parter struct {
	Output, Errors io.Writer

	head [Head]byte
	read int // of the head
	left int // of the piece
	err  error
}

// Write implements io.Writer. It fails where the bytes are no joined streams.
func (p *Parter) Write(data []byte) (int, error) {
	total := len(data)
	for len(data) > 0 {
		if p.left == 0 {
			n := copy(p.head[p.read:], data)
			data = data[n:]
			if p.read += n; p.read < Head {
				break
			}
			if p.head[0] != Output && p.head[0] != Errors {
				p.err = fmt.Errorf("no stream has the number %d", p.head[0])
				return total - len(data), p.err
			}
			p.read, p.left = 0, int(binary.BigEndian.Uint16(p.head[1:]))
			continue
		}
		n := min(p.left, len(data))
		p.pass(data[:n])
		data, p.left = data[n:], p.left-n
	}
	return total, nil
}

func (p *Parter) pass(data []byte) {
	to := p.Output
	if p.head[0] == Errors {
		to = p.Errors
	}
	if _, err := to.Write(data); err != nil && p.err == nil {
		p.err = err
	}
}

// Err returns the first error.
func (p *Parter) Err() error { return p.err }
