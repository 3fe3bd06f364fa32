package x11

import (
	"bytes"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrWrongKey is the error of a program that does not know the key it was to have.
var ErrWrongKey = errors.New("the program does not know the key of the display")

// setupHead is the length of what begins a connection: the order of bytes, the version, and the lengths of the protocol's name and of the key.
const setupHead = 12

// maxPart bounds the name and the key, in bytes.
const maxPart = 1 << 10

// Exchange reads the first words of a program that connects, wants the key of it, and returns them with
// another one in its place; nil: with none.
func Exchange(r io.Reader, want, key []byte) ([]byte, error) {
	var head [setupHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("first words of a program: %w", err)
	}
	var order binary.ByteOrder
	switch head[0] {
	case 'B':
		order = binary.BigEndian
	case 'l':
		order = binary.LittleEndian
	default:
		return nil, errors.New("first words of a program: they are not X's")
	}
	name, given := int(order.Uint16(head[6:])), int(order.Uint16(head[8:]))
	if name > maxPart || given > maxPart {
		return nil, ErrWrongKey
	}
	rest := make([]byte, padded(name)+padded(given))
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, fmt.Errorf("first words of a program: %w", err)
	}
	if string(rest[:name]) != Cookie || subtle.ConstantTimeCompare(rest[padded(name):][:given], want) != 1 {
		return nil, ErrWrongKey
	}
	protocol := []byte(Cookie)
	if key == nil {
		protocol = nil
	}
	order.PutUint16(head[6:], uint16(len(protocol)))
	order.PutUint16(head[8:], uint16(len(key)))
	return append(append(head[:], pad(protocol)...), pad(key)...), nil
}

func padded(n int) int { return (n + 3) &^ 3 }

func pad(b []byte) []byte { return append(bytes.Clone(b), make([]byte, padded(len(b))-len(b))...) }
