package pbs

import (
	"crypto/sha256"
	"encoding/hex"
)

const (
	// MaxScript is the greatest size of a job script, in bytes: whatever jobscript_max_size says
	// raised to.
	MaxScript = 100 << 20
	// LargeScript is from how many bytes on a script is a blob beside the state: the log and
	// each snapshot carry its name only.
	LargeScript = 256 << 10
)

// A Blob names a large content that the replicas keep beside the state: the body of a script.
type Blob struct {
	Sum  BlobSum `cbor:"1,keyasint"`
	Size int64   `cbor:"2,keyasint"`
}

// BlobSum is the SHA-256 of a content, and its name.
type BlobSum [sha256.Size]byte

// String returns the sum in hexadecimal digits.
func (s BlobSum) String() string { return hex.EncodeToString(s[:]) }

// ParseBlobSum reads what String returns, and reports whether it is that.
func ParseBlobSum(text string) (s BlobSum, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(s) {
		return s, false
	}
	copy(s[:], b)
	return s, s.String() == text
}

// NameBlob returns the name of a content.
func NameBlob(body []byte) Blob { return Blob{Sum: sha256.Sum256(body), Size: int64(len(body))} }
