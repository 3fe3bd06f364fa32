package command

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

var update = flag.Bool("update", false, "add new kinds to the golden file")

const golden = "testdata/kinds.golden"

// TestKinds_Golden holds one encoded example of each kind ever shipped: every one
// still decodes, and encodes to the same bytes.
func TestKinds_Golden(t *testing.T) {
	text, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		name, code, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		seen[name] = true
		b, err := hex.DecodeString(code)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e, err := Decode(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := Encode(e)
		if err != nil || !slices.Equal(again, b) {
			t.Errorf("%s encodes to %x now, %v", name, again, err)
		}
	}
	for _, line := range missing(t, seen) {
		if !*update {
			t.Errorf("no example of %s; run with -update", line)
			continue
		}
		text = append(text, line...)
	}
	if *update {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// missing returns a line for each kind that is not in the golden file.
func missing(t *testing.T, seen map[string]bool) []string {
	var lines []string
	for k := Kind(1); int(k) <= len(kinds); k++ {
		build, ok := kinds[k]
		if !ok {
			t.Fatalf("kind %d is missing: the numbers have a gap", k)
		}
		c := build()
		name := fmt.Sprintf("%d-%s", k, reflect.TypeOf(c).Elem().Name())
		if seen[name] {
			continue
		}
		fill(reflect.ValueOf(c).Elem(), 1)
		b, err := Encode(Entry{Time: 1, Proposals: []Proposal{{ID: "id", Asker: pbs.User{Name: "u", Host: "h"}, Commands: []Command{c}}}})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, name+" "+hex.EncodeToString(b)+"\n")
	}
	return lines
}

// fill gives every field a value, so that each is in the encoding.
func fill(v reflect.Value, n int64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), int64(i+1))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d", n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(n)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(n))
	}
}

// TestDecode_Unknown is L4: what this build does not know stops it.
func TestDecode_Unknown(t *testing.T) {
	type newer struct {
		Later int `cbor:"99,keyasint"`
	}
	for name, w := range map[string]wireEntry{
		"kind":  {Proposals: []wireProposal{{Commands: []wireCommand{{Kind: 9999, Body: must(encMode.Marshal(struct{}{}))}}}}},
		"field": {Proposals: []wireProposal{{Commands: []wireCommand{{Kind: 3, Body: must(encMode.Marshal(newer{Later: 1}))}}}}},
	} {
		if _, err := Decode(must(encMode.Marshal(w))); err == nil {
			t.Errorf("an unknown %s was skipped", name)
		}
	}
}

type panics struct{}

func (*panics) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	tx.PutQueue(&state.Queue{Name: "half"})
	panic("boom")
}

// TestRun_Panic: a panic in one command rolls its proposal back and is noted.
func TestRun_Panic(t *testing.T) {
	s := state.NewStore()
	out, _ := Run(s, 7, 1, Entry{Time: 1, Proposals: []Proposal{{Commands: []Command{&panics{}}}}})
	v := s.Publish()
	if pbs.CodeOf(out[0].Err()) != pbs.SystemError {
		t.Errorf("outcome %v, want a system error", out[0].Err())
	}
	if _, ok := v.Queue("half"); ok {
		t.Error("the proposal was not rolled back")
	}
	if f := v.Cluster().Faults; len(f) != 1 || f[0].Index != 7 || !strings.Contains(f[0].Text, "boom") {
		t.Errorf("faults %v", f)
	}
	if err := v.Check(); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	text, err := os.ReadFile(golden)
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, code, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			if b, err := hex.DecodeString(code); err == nil {
				f.Add(b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Decode(b)
		if err != nil {
			return
		}
		// What decodes can be applied: it is refused or takes effect, on a state that
		// keeps the laws.
		s := state.NewStore()
		Run(s, 1, 1, e)
		if err := s.Publish().Check(); err != nil {
			t.Error(err)
		}
	})
}
