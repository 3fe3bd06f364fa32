package attached_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
	"rampart/fsm/snapshot/attached"
	"rampart/fsm/state"
)

func whole(t *testing.T, contents ...string) (file []byte, size int) {
	t.Helper()
	var b bytes.Buffer
	if err := snapshot.Write(&b, state.NewStore().View()); err != nil {
		t.Fatal(err)
	}
	size = b.Len()
	bodies := map[pbs.BlobSum]string{}
	var names []pbs.Blob
	for _, c := range contents {
		n := pbs.NameBlob([]byte(c))
		names, bodies[n.Sum] = append(names, n), c
	}
	behind := attached.Behind(names, func(n pbs.Blob) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte(bodies[n.Sum]))), nil
	})
	if _, err := io.Copy(&b, behind); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), size
}

// A snapshot with scripts behind it is read as one without, and comes apart again.
func TestSplit(t *testing.T) {
	for _, contents := range [][]string{nil, {"one"}, {"one", string(make([]byte, 1<<20)), "three"}} {
		file, size := whole(t, contents...)
		if _, _, err := snapshot.Read(bytes.NewReader(file)); err != nil {
			t.Errorf("%d scripts: %v", len(contents), err)
		}
		state, scripts, err := attached.Split(bytes.NewReader(file), int64(len(file)))
		if err != nil || int(state) != size || len(scripts) != len(contents) {
			t.Fatalf("%d scripts: %d of %d bytes, %d, %v", len(contents), state, size, len(scripts), err)
		}
		for i, s := range scripts {
			if got := file[s.Offset : s.Offset+s.Size]; string(got) != contents[i] || pbs.NameBlob(got) != s.Blob {
				t.Errorf("script %d is another one", i)
			}
		}
	}
}

// FuzzSplit: whatever stands there, what is said to be a script lies in the file.
func FuzzSplit(f *testing.F) {
	t := &testing.T{}
	for _, contents := range [][]string{nil, {"one"}, {"one", "two"}} {
		file, _ := whole(t, contents...)
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		state, scripts, err := attached.Split(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			if !errors.Is(err, attached.ErrCorrupt) && !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			return
		}
		for _, s := range scripts {
			if s.Size <= 0 || s.Offset < state || s.Offset+s.Size > int64(len(file)) {
				t.Errorf("%+v of %d bytes", s, len(file))
			}
		}
	})
}
