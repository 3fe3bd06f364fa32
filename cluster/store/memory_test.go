package store

import (
	"io"
	"testing"

	"github.com/hashicorp/raft"
)

// TestMemory_SnapshotsOfOneIndex: a snapshot can be read when it is complete, however many there are of its index.
func TestMemory_SnapshotsOfOneIndex(t *testing.T) {
	m := NewMemory()
	for _, text := range []string{"a", "b", "c", "d"} {
		sink, err := m.Snapshots().Create(1, 7, 2, raft.Configuration{}, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sink.Write([]byte(text)); err != nil || sink.Close() != nil {
			t.Fatal(err)
		}
		_, file, err := m.Snapshots().Open(sink.ID())
		if err != nil {
			t.Fatal(err)
		}
		if data, err := io.ReadAll(file); err != nil || string(data) != text {
			t.Errorf("%q, %v, want %q", data, err, text)
		}
	}
	if all, err := m.Snapshots().List(); err != nil || len(all) != snapshotsKept {
		t.Errorf("%d snapshots, %v, want %d", len(all), err, snapshotsKept)
	}
}
