package store

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

// A write to the log has what a slow disk takes half of the deadline for; a larger entry goes
// alone.
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
		first := 0
		for _, l := range Piece(entries(c.in...)) {
			first += len(l.Data)
		}
		if first != c.writes[0] {
			t.Errorf("of %v a piece has %d bytes", c.in, first)
		}
	}
	if len(Piece(nil)) != 0 {
		t.Error("something of nothing")
	}
}
