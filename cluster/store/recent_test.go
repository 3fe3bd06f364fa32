package store

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"
)

// deaf is a log that refuses reads and, if it is told to, writes.
type deaf struct {
	raft.LogStore
	full bool
}

var errDeaf = errors.New("asked the disk")

func (d *deaf) GetLog(uint64, *raft.Log) error { return errDeaf }

func (d *deaf) StoreLogs([]*raft.Log) error {
	if d.full {
		return errDeaf
	}
	return nil
}

func (d *deaf) DeleteRange(_, _ uint64) error { return nil }

// The latest entries are read from memory, as many as there is room for; what the disk did
// not take, or what was deleted, is not.
func TestRecent(t *testing.T) {
	disk := &deaf{}
	r := newRecent(disk)
	put := func(index uint64, size int) error {
		return r.StoreLog(&raft.Log{Index: index, Data: make([]byte, size)})
	}
	kept := func(index uint64) bool {
		var l raft.Log
		err := r.GetLog(index, &l)
		return err == nil && l.Index == index
	}
	want := func(what string, from, to uint64, there bool) {
		t.Helper()
		for i := from; i <= to; i++ {
			if kept(i) != there {
				t.Fatalf("%s: entry %d is kept: %v", what, i, kept(i))
			}
		}
	}
	for i := range uint64(recentEntries + 10) {
		if err := put(i+1, 100); err != nil {
			t.Fatal(err)
		}
	}
	want("more than there are places", 1, 10, false)
	want("the latest", 11, recentEntries+10, true)

	next := uint64(recentEntries + 11)
	for i := range uint64(3) {
		_ = put(next+i, recentBytes/2-1000)
	}
	want("long before long ones", next-100, next, false)
	want("the two that fit in", next+1, next+2, true)
	if r.bytes > recentBytes {
		t.Errorf("%d bytes are kept", r.bytes)
	}
	_ = put(next+3, recentBytes+1)
	want("one that is longer than all the room", next, next+3, false)
	if r.bytes != 0 {
		t.Errorf("%d bytes are kept of nothing", r.bytes)
	}

	_ = put(next+4, 10)
	_ = r.DeleteRange(next+4, next+4)
	want("deleted", next+4, next+4, false)
	_ = put(next+4, 20) // another one in its place
	want("written again", next+4, next+4, true)

	disk.full = true
	if err := put(next+5, 10); !errors.Is(err, errDeaf) {
		t.Errorf("%v", err)
	}
	want("not written", next+5, next+5, false)
}
