package spool

import "testing"

// A line of a journal is a fact with its checksum, or what a crash left of one.
func FuzzParseLine(f *testing.F) {
	line, err := formatLine(Fact{Version: version, Seq: 3})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line[:len(line)-1])
	f.Add([]byte("00000000 "))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		f, ok := parseLine(line)
		if !ok {
			return
		}
		again, err := formatLine(f)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if _, ok := parseLine(again[:len(again)-1]); !ok {
			t.Errorf("%q is written as %q, which is none", line, again)
		}
	})
}
