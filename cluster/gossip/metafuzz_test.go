package gossip

import "testing"

// Whatever another member tells of itself is read or left out.
func FuzzDecodeMeta(f *testing.F) {
	for _, m := range []Meta{{}, {Role: "mom", BootID: "b", Address: "h:1", Version: "1", Keys: 3, Level: 2}} {
		data, err := m.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{0xa1, 0x18, 0x63, 0xf6})
	f.Fuzz(func(t *testing.T, data []byte) {
		m := decodeMeta(data)
		again, err := m.encode()
		if err != nil {
			return // it would not fit into an announcement
		}
		if got := decodeMeta(again); got != m {
			t.Errorf("%x is %+v, and read again %+v", data, m, got)
		}
	})
}
