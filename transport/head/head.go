// Package head keeps the beginning of what a program says.
package head

import "bytes"

// most is how much of it is kept, in bytes.
const most = 4096

// Buffer keeps the first 4096 bytes of what is written to it; the rest is taken and forgotten. The zero value is empty.
type Buffer struct{ kept bytes.Buffer }

// Write never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.kept.Write(p[:min(most-b.kept.Len(), len(p))])
	return len(p), nil
}

// String returns what is kept.
func (b *Buffer) String() string { return b.kept.String() }
