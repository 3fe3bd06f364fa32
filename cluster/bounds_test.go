package cluster

import (
	"slices"
	"testing"

	"github.com/hashicorp/raft"
)

// pieces is a log that notes how many bytes each write has.
type pieces struct {
	raft.LogStore
	writes []int
	last   uint64
}

func (p *pieces) StoreLogs(logs []*raft.Log) error {
	bytes := 0
	for _, l := range logs {
		if l.Index != p.last+1 {
			panic("a gap in the log")
		}
		p.last, bytes = l.Index, bytes+len(l.Data)
	}
	p.writes = append(p.writes, bytes)
	return nil
}

func entries(bytes ...int) (all []*raft.Log) {
	for i, n := range bytes {
		all = append(all, &raft.Log{Index: uint64(i + 1), Data: make([]byte, n)})
	}
	return all
}

// A write to the log has what a slow disk takes half of the deadline for, and so has a call
// to a follower; a larger entry goes alone.
func TestCut(t *testing.T) {
	const half, over = appendBytes / 2, appendBytes + 1
	for _, c := range []struct {
		in, writes []int
	}{
		{[]int{10, 20}, []int{30}},
		{[]int{half, half, half}, []int{2 * half, half}},
		{[]int{over, 1, over, over}, []int{over, 1, over, over}},
		{slices.Repeat([]int{1 << 20}, 64), slices.Repeat([]int{appendBytes}, 16)},
	} {
		p := &pieces{}
		if err := (cutLog{p}).StoreLogs(entries(c.in...)); err != nil || !slices.Equal(p.writes, c.writes) {
			t.Errorf("%v is written as %v, want %v: %v", c.in, p.writes, c.writes, err)
		}
		call := raft.AppendEntriesRequest{Entries: entries(c.in...)}
		cut(&call)
		sent := 0
		for _, l := range call.Entries {
			sent += len(l.Data)
		}
		if sent != c.writes[0] {
			t.Errorf("of %v a call has %d bytes", c.in, sent)
		}
	}
	empty := raft.AppendEntriesRequest{}
	if cut(&empty); len(empty.Entries) != 0 {
		t.Error("something of nothing")
	}
}

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
