package streams

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestParter_GivesEachStreamItsOwn: whatever is joined is parted, wherever the bytes are cut on their way.
func TestParter_GivesEachStreamItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var joined []byte
		var want [2]strings.Builder
		for range rapid.IntRange(0, 8).Draw(t, "pieces") {
			n := rapid.IntRange(0, 1).Draw(t, "stream")
			size := rapid.OneOf(rapid.IntRange(0, 9), rapid.IntRange(MaxPiece-1, MaxPiece+2)).Draw(t, "size")
			data := bytes.Repeat([]byte{byte(size)}, size)
			want[n].Write(data)
			joined = Append(joined, Output+byte(n), data)
		}
		var out, errs bytes.Buffer
		p := &Parter{Output: &out, Errors: &errs}
		for len(joined) > 0 {
			n := min(len(joined), rapid.OneOf(rapid.IntRange(1, 5), rapid.IntRange(1, 1<<16)).Draw(t, "cut"))
			if taken, err := p.Write(joined[:n]); taken != n || err != nil {
				t.Fatalf("%d of %d bytes: %v", taken, n, err)
			}
			joined = joined[n:]
		}
		if out.String() != want[0].String() || errs.String() != want[1].String() || p.Err() != nil {
			t.Fatalf("%d and %d bytes of %d and %d, %v", out.Len(), errs.Len(), want[0].Len(), want[1].Len(), p.Err())
		}
	})
}

func TestParter_RefusesWhatIsNotJoined(t *testing.T) {
	p := &Parter{Output: new(bytes.Buffer), Errors: new(bytes.Buffer)}
	if n, err := p.Write([]byte("hello")); err == nil || n != Head {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// full is a disk.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestParter_GoesOnWithTheOtherStream: a full disk under one stream is told of, and the other one goes on.
func TestParter_GoesOnWithTheOtherStream(t *testing.T) {
	var errs bytes.Buffer
	p := &Parter{Output: full{}, Errors: &errs}
	_, err := p.Write(Append(Append(nil, Output, []byte("lost")), Errors, []byte("seen")))
	if err != nil || !errors.Is(p.Err(), errFull) || errs.String() != "seen" {
		t.Errorf("%v, %v, %q", err, p.Err(), errs.String())
	}
}
