package gossip

import (
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// Members of two versions hear each other: an older one tells no level, and what a newer
// one tells beyond ours is passed over.
func TestMeta_OfOtherVersions(t *testing.T) {
	own := Meta{Role: "mom", BootID: "1", Address: "h:1", Version: "1.2", Keys: 7, Level: 3}
	older, newer := own, own
	older.Level = 0
	for name, test := range map[string]struct {
		said any
		want Meta
	}{
		"own": {own, own},
		"older": {struct {
			Role    string `cbor:"1,keyasint"`
			BootID  string `cbor:"2,keyasint"`
			Address string `cbor:"3,keyasint"`
			Version string `cbor:"4,keyasint"`
			Keys    uint64 `cbor:"5,keyasint"`
		}{"mom", "1", "h:1", "1.2", 7}, older},
		"newer": {struct {
			Meta
			Beyond string `cbor:"99,keyasint"`
		}{own, "x"}, newer},
	} {
		data, err := cbor.Marshal(test.said)
		if err != nil {
			t.Fatal(err)
		}
		if got := decodeMeta(data); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
