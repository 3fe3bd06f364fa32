package cluster

import (
	"testing"

	"github.com/hashicorp/raft"
)

// What stays behind a snapshot is bounded by number and by bytes.
func TestTrailing(t *testing.T) {
	s := &sizes{}
	if n := s.trailing(20, 1); n != 20 {
		t.Errorf("of an empty log %d stay", n)
	}
	for i := range uint64(3 * trailingLogs) {
		if i%2 == 0 { // the others are Raft's own
			s.note(&raft.Log{Index: i + 1, Data: make([]byte, 100)})
		}
	}
	for _, c := range []struct {
		most  uint64
		bytes int
		want  uint64
	}{
		{20, 1 << 20, 20}, {20, 1000, 20}, {20, 999, 18}, {20, 99, 0}, {trailingLogs, 1 << 30, trailingLogs},
	} {
		if n := s.trailing(c.most, c.bytes); n != c.want {
			t.Errorf("at most %d entries of %d bytes: %d", c.most, c.bytes, n)
		}
	}
}
