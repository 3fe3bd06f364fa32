package bare

import (
	"encoding/binary"
	"io"

	"github.com/hashicorp/raft"
)

// counter is the state machine: how many submissions there were.
type counter struct{ submitted uint64 }

// Apply implements raft.FSM; the answer is the number of the entry's first submission.
func (c *counter) Apply(l *raft.Log) any {
	first := c.submitted + 1
	for data := l.Data; len(data) > 0; c.submitted++ {
		n, size := binary.Uvarint(data)
		data = data[size+int(n):]
	}
	return first
}

// Snapshot implements raft.FSM; no snapshot is ever due.
func (c *counter) Snapshot() (raft.FSMSnapshot, error) { return nil, io.ErrUnexpectedEOF }

// Restore implements raft.FSM.
func (c *counter) Restore(io.ReadCloser) error { return io.ErrUnexpectedEOF }

// entry frames submissions as the counter reads them.
func entry(group []*submission) []byte {
	var data []byte
	for _, s := range group {
		data = binary.AppendUvarint(data, uint64(len(s.body)))
		data = append(data, s.body...)
	}
	return data
}
