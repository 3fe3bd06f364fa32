package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

// An entry comes back as it was stored; one that was changed on the disk is damage, and so is an
// end mark.
func FuzzCheckedLog(f *testing.F) {
	f.Add(uint64(1), uint64(1), []byte("data"), []byte(nil), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint64(7), uint64(3), []byte(nil), []byte("ext"), []byte(nil))
	f.Add(uint64(markIndex-1), uint64(0), []byte{0}, []byte{0}, make([]byte, 7))
	f.Fuzz(func(t *testing.T, index, term uint64, data, extensions, other []byte) {
		if index == 0 || index == markIndex {
			return
		}
		store := raft.NewInmemStore()
		l, _, err := openLog(store)
		if err != nil {
			t.Fatal(err)
		}
		entry := &raft.Log{Index: index, Term: term, Data: data, Extensions: extensions}
		if err := l.StoreLog(entry); err != nil {
			t.Fatal(err)
		}
		again, marked, err := openLog(store)
		if err != nil || !marked || again.last.Load() != index {
			t.Fatalf("opened again it ends at %d, marked %v: %v", again.last.Load(), marked, err)
		}
		var got raft.Log
		if err := again.GetLog(index, &got); err != nil || got.Term != term || !bytes.Equal(got.Data, data) || !bytes.Equal(got.Extensions, extensions) {
			t.Errorf("%+v came back as %+v, %v", entry, got, err)
		}
		was := got
		for _, changed := range []raft.Log{
			{Index: index, Term: term, Data: data, Extensions: other},
			{Index: index, Term: term + 1, Data: data, Extensions: withChecksum(entry).Extensions},
			{Index: index, Term: term, Data: append(bytes.Clone(data), other...), Extensions: withChecksum(entry).Extensions},
		} {
			if bytes.Equal(changed.Extensions, withChecksum(entry).Extensions) && changed.Term == term && len(changed.Data) == len(data) {
				continue
			}
			if err := store.StoreLog(&changed); err != nil {
				t.Fatal(err)
			}
			if err := again.GetLog(index, &got); !errors.Is(err, ErrDamaged) || got.Term != was.Term || !bytes.Equal(got.Data, was.Data) {
				t.Errorf("%+v is taken for %+v: %v", changed, got, err)
			}
		}
		if err := store.StoreLog(&raft.Log{Index: markIndex, Data: other, Extensions: extensions}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := openLog(store); !errors.Is(err, ErrDamaged) {
			t.Errorf("an end mark of %x is taken: %v", other, err)
		}
	})
}

// What the stable store holds is read as it was set; a record of another checksum is damage, and
// one with a good checksum can be added to.
func FuzzCheckedStable(f *testing.F) {
	f.Add([]byte("{}"), []byte("CurrentTerm"), []byte{0, 0, 0, 0, 0, 0, 0, 9})
	f.Add([]byte("null"), []byte("key"), []byte(nil))
	f.Add([]byte(`{"a":"AQ==","a":null}`), []byte("a"), []byte("b"))
	f.Add([]byte("[1]"), []byte("\xff"), []byte("b"))
	f.Add([]byte(""), []byte(""), []byte("short"))
	f.Fuzz(func(t *testing.T, record, key, value []byte) {
		store := raft.NewInmemStore()
		if err := store.Set(keyStable, record); err != nil {
			t.Fatal(err)
		}
		n := len(record) - sumSize
		if _, known, err := openStable(store); known && (n < 0 || xxhash.Sum64(record[:n]) != binary.BigEndian.Uint64(record[n:])) || !known && err == nil && len(record) > 0 {
			t.Errorf("%x is taken: %v, %v", record, known, err)
		}
		if err := store.Set(keyStable, binary.BigEndian.AppendUint64(bytes.Clone(record), xxhash.Sum64(record))); err != nil {
			t.Fatal(err)
		}
		s, _, err := openStable(store)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("%q is refused with %v", record, err)
			}
			return
		}
		if !utf8.Valid(key) {
			return // Raft has no such keys, and JSON neither
		}
		if err := s.Set(key, value); err != nil {
			t.Fatal(err)
		}
		again, known, err := openStable(store)
		if err != nil || !known {
			t.Fatalf("%q=%q cannot be read again: %v", key, value, err)
		}
		if got, err := again.Get(key); err != nil || !bytes.Equal(got, value) {
			t.Errorf("%q=%q came back as %q, %v", key, value, got, err)
		}
		if n, err := again.GetUint64(key); err == nil && (len(value) != 8 || n != binary.BigEndian.Uint64(value)) {
			t.Errorf("%q is the number %d", value, n)
		}
	})
}

// theBook is a bolt file as a replica's log is, with branches.
func theBook(f *testing.F) []byte {
	f.Helper()
	path := filepath.Join(f.TempDir(), "raft.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		f.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range []string{logBucket, "conf"} {
			b, err := tx.CreateBucket([]byte(name))
			if err != nil {
				return err
			}
			for i := range uint64(40) {
				if err := b.Put(binary.BigEndian.AppendUint64(nil, i+1), bytes.Repeat([]byte{byte(i)}, 200)); err != nil {
					return err
				}
			}
		}
		b, err := tx.CreateBucket([]byte("small"))
		if err != nil {
			return err
		}
		return b.Put([]byte("key"), []byte("value"))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	return data
}

// A bolt file that passes is one that bolt can read to its end: bolt itself would panic, or read
// past its map.
func FuzzCheckPages(f *testing.F) {
	book := theBook(f)
	page := os.Getpagesize()
	f.Add(uint32(0), []byte(nil), uint32(0))
	f.Add(uint32(2*page+10), []byte{0xff, 0xff}, uint32(0))
	f.Add(uint32(3*page+12), []byte{1}, uint32(0))
	f.Add(uint32(4*page+16), []byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, uint32(0))
	f.Add(uint32(16), []byte{1}, uint32(0))
	f.Add(uint32(0), []byte(nil), uint32(3*page))
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, cut uint32) {
		data := bytes.Clone(book)
		if int(at) < len(data) {
			copy(data[at:], patch)
		}
		data = data[:max(0, len(data)-int(cut))]
		path := filepath.Join(t.TempDir(), "raft.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkPages(path); err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("refused with %v", err)
			}
			return
		}
		if len(data) == 0 {
			return // bolt makes a new one
		}
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: 1})
		if err != nil {
			t.Fatalf("it passes, and bolt refuses it: %v", err)
		}
		err = db.View(func(tx *bbolt.Tx) error {
			return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
				return b.ForEach(func(k, v []byte) error { _ = len(k) + len(bytes.Clone(v)); return nil })
			})
		})
		if err = errors.Join(err, db.Close()); err != nil {
			t.Errorf("it passes, and bolt cannot read it: %v", err)
		}
	})
}
