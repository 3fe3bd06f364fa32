package store

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/hashicorp/raft"
)

// A snapshot is opened with the content that was written and its length, and only beside the facts
// that it was written with.
func FuzzCheckedSnapshots(f *testing.F) {
	f.Add(uint64(5), uint64(2), "s1", "10.0.0.1:15001", []byte("state"), 3, byte(1))
	f.Add(uint64(0), uint64(1<<63), "", "\xff", []byte(nil), 12, byte(0xff))
	f.Add(uint64(1<<64-1), uint64(0), "a\"b", "", bytes.Repeat([]byte{0}, 3000), 200, byte(0))
	f.Fuzz(func(t *testing.T, index, term uint64, id, address string, content []byte, at int, flip byte) {
		raw := new(memorySnapshots)
		s := checkedSnapshots{raw}
		members := raft.Configuration{Servers: []raft.Server{{ID: raft.ServerID(id), Address: raft.ServerAddress(address)}}}
		sink, err := s.Create(raft.SnapshotVersionMax, index, term, members, index, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = sink.Write(content)
		if err = errors.Join(err, sink.Close()); err != nil {
			t.Fatal(err)
		}
		all, err := s.List()
		if err != nil || len(all) != 1 || all[0].Size != int64(len(content)) {
			t.Fatalf("of %d bytes the list is %+v, %v", len(content), all, err)
		}
		open := func() (*raft.SnapshotMeta, []byte, error) {
			meta, r, err := s.Open(sink.ID())
			if err != nil {
				return nil, nil, err
			}
			defer r.Close()
			got, err := io.ReadAll(r)
			return meta, got, err
		}
		if meta, got, err := open(); err != nil || meta.Size != int64(len(content)) || !bytes.Equal(got, content) {
			t.Fatalf("%q came back as %q with %+v, %v", content, got, meta, err)
		}
		kept := raw.kept[0]
		head := len(kept.data) - len(content)
		at = (at%head + head) % head
		kept.data[at] ^= flip
		if _, _, err := open(); (err == nil) != (flip == 0) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("with byte %d before its content changed by %#x: %v", at, flip, err)
		}
		kept.data[at] ^= flip
		kept.meta.Index++
		if _, _, err := open(); !errors.Is(err, ErrDamaged) {
			t.Errorf("it passes for one of another index: %v", err)
		}
	})
}
