package pbs_test

import (
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// What is read of these short languages is written, and read again, as the same.
func FuzzParseIndices(f *testing.F) {
	for _, text := range []string{"1-5:2", "0-99", "7", "1,3-9:3,10", "5-1", "1-5:0", "1-2,2-3", "-", "99999999999-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set, err := pbs.ParseIndices(text)
		if err != nil {
			return
		}
		again, err := pbs.ParseIndices(set.String())
		if err != nil || !slices.Equal(again, set) {
			t.Errorf("%q is %v, and read again %v, %v", text, set, again, err)
		}
	})
}

func FuzzParseStaged(f *testing.F) {
	for _, text := range []string{"a@b:c", "a@b@hostc:/d:e", "@b:c", "a@-b:c", "a@b:", "x y@h:z"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := pbs.ParseStaged(text)
		if !ok {
			return
		}
		if got := s.Local + "@" + s.Host + ":" + s.Remote; got != text || strings.HasPrefix(s.Host, "-") {
			t.Errorf("%q is %+v", text, s)
		}
	})
}

func FuzzParseHolds(f *testing.F) {
	for _, text := range []string{"u", "uos", "n", "nu", "", "uu", "p"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := pbs.ParseHolds(text)
		if err != nil {
			return
		}
		if again, err := pbs.ParseHolds(h.String()); err != nil || again != h {
			t.Errorf("%q is %v, and read again %v, %v", text, h, again, err)
		}
	})
}
