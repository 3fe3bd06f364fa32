package proc

import (
	"bytes"
	"testing"
)

// What is read as a frame is written as the bytes that it was; no length makes us wait for, or
// keep, more than a frame may hold.
func FuzzReadFrame(f *testing.F) {
	var seed bytes.Buffer
	for _, fr := range []Frame{{Kind: FrameAttach, Offset: 7}, {Kind: FrameInput, Data: []byte("ls\n")}, {Kind: FrameEnd, Offset: 1 << 40}} {
		if err := WriteFrame(&seed, fr); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(seed.Bytes())
	f.Add([]byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.NewReader(data)
		var out bytes.Buffer
		for {
			fr, err := ReadFrame(in)
			if err != nil {
				break
			}
			if err := WriteFrame(&out, fr); err != nil {
				t.Fatalf("%+v was read and cannot be written: %v", fr, err)
			}
		}
		if !bytes.HasPrefix(data, out.Bytes()) {
			t.Errorf("%x is written as %x", data, out.Bytes())
		}
	})
}
