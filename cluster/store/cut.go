package store

import "github.com/hashicorp/raft"

const (
	// slowDisk is how many bytes a second a disk writes that is just good enough.
	slowDisk = 8 << 20
	// appendBytes is the most that one write to the log has: such a disk takes half of a
	// second for it. Only a larger entry goes alone.
	appendBytes = slowDisk / 2
)

// cutLog writes to the log in pieces of a bounded size, so that a slow disk keeps the
// deadline of each. A crash between two leaves a log that ends earlier.
type cutLog struct{ raft.LogStore }

// StoreLogs implements raft.LogStore.
func (c cutLog) StoreLogs(logs []*raft.Log) error {
	for len(logs) > 0 {
		piece := Piece(logs)
		if err := c.LogStore.StoreLogs(piece); err != nil {
			return err
		}
		logs = logs[len(piece):]
	}
	return nil
}

// Piece returns the entries from the front that one write takes, at least one if there is one.
func Piece(logs []*raft.Log) []*raft.Log {
	bytes := 0
	for i, l := range logs {
		if bytes += len(l.Data); bytes > appendBytes && i > 0 {
			return logs[:i]
		}
	}
	return logs
}
