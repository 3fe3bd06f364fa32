package spool

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// An inner record has one inside, and one whose fields count as its own.
type inner struct {
	Inset
	Number int            `json:"number,omitempty"`
	Words  []string       `json:"words,omitempty"`
	Deep   record         `json:"deep,omitzero"`
	Counts map[string]int `json:"counts,omitempty"`
}

// Inset is embedded.
type Inset struct {
	Flag bool   `json:"flag,omitempty"`
	Note string `json:"note"`
}

type wide struct {
	Inset
	Inner  inner             `json:"inner,omitzero"`
	State  int               `json:"state"`
	Hosts  []string          `json:"hosts,omitempty"`
	Shares map[string]int    `json:"shares,omitempty"`
	Result *record           `json:"result,omitempty"`
	Handle record            `json:"handle,omitempty"`
	Plain  []string          // without a tag
	Told   bool              `json:"told,omitempty"`
	Dead   map[string]string `json:"dead"`
}

func theTask(t interface {
	Helper()
	Fatalf(string, ...any)
}, home string,
) wide {
	t.Helper()
	s, err := Open(Options{Home: home, NoSync: true})
	if err != nil {
		t.Fatalf("%v", err)
	}
	all, err := s.Tasks()
	if err != nil || len(all) != 1 {
		t.Fatalf("tasks %v, %v", all, err)
	}
	var w wide
	if err := json.Unmarshal(all[0].Data, &w); err != nil {
		t.Fatalf("%q: %v", all[0].Data, err)
	}
	return w
}

// again is the record as it is read where it was written whole.
func again(t *rapid.T, w wide) (read wide) {
	text, err := json.Marshal(w)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// A change of a wide record is written in a few bytes, and read with all that stays.
func TestChangeTask_WritesWhatDiffers(t *testing.T) {
	home := t.TempDir()
	s := open(t, Options{Home: home, NoSync: true})
	k := key("1.srv", 1)
	hosts := strings.Split(strings.Repeat("host ", 1000), " ")
	first := wide{State: 1, Hosts: hosts, Result: &record{"r"}, Told: true, Inner: inner{Words: hosts}}
	if err := s.SaveTask(k, first, true); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.TaskDir(k), taskFile)
	before, _ := os.Stat(path)
	next := first
	next.State, next.Result, next.Told, next.Shares = 0, nil, false, map[string]int{"a": 1}
	next.Inner.Number, next.Inner.Flag = 1, true
	if err := s.ChangeTask(k, first, next, false); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || after.Size()-before.Size() > 150 {
		t.Errorf("%d bytes more, %v", after.Size()-before.Size(), err)
	}
	if got := theTask(t, home); !reflect.DeepEqual(got, next) {
		t.Errorf("read %+v", got)
	}
}

// Whatever is saved in turn, durable or not, by this mom or the next: what is read is what was saved last.
func TestChangeTask_AnyTurn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		home, err := os.MkdirTemp(t.TempDir(), "home")
		if err != nil {
			rt.Fatal(err)
		}
		k, broken := key("1.srv", 1), false
		opened := func() *Spool {
			s, err := Open(Options{Home: home, NoSync: true, Fault: func(step Step, _ string) error {
				if broken && step == Write {
					return errors.New("full")
				}
				return nil
			}})
			if err != nil {
				rt.Fatal(err)
			}
			return s
		}
		s := opened()
		var now wide
		if err := s.SaveTask(k, now, true); err != nil {
			rt.Fatal(err)
		}
		words := rapid.SliceOfN(rapid.StringMatching("[a-c]"), 0, 3)
		for range rapid.IntRange(1, 20).Draw(rt, "turns") {
			next := now
			switch rapid.IntRange(0, 10).Draw(rt, "what") {
			case 0:
				next.State = rapid.IntRange(0, 2).Draw(rt, "state")
			case 1:
				next.Hosts = words.Draw(rt, "hosts")
			case 2:
				next.Result = rapid.SampledFrom([]*record{nil, {"x"}}).Draw(rt, "result")
			case 3:
				next.Shares = rapid.MapOf(rapid.StringMatching("[a-c]"), rapid.IntRange(0, 2)).Draw(rt, "shares")
			case 4:
				next.Plain, next.Handle.Text = words.Draw(rt, "plain"), strings.Repeat("long", rapid.SampledFrom([]int{0, 5000}).Draw(rt, "size"))
			case 5:
				s = opened()
			case 6:
				next.Told, next.Dead = !now.Told, nil
			case 7:
				broken = true
			case 8:
				next.Flag, next.Inner.Flag, next.Inner.Note = !now.Flag, rapid.Bool().Draw(rt, "flag"), strings.Join(words.Draw(rt, "note"), "")
			case 9:
				next.Inner.Number, next.Inner.Words = rapid.IntRange(0, 2).Draw(rt, "number"), words.Draw(rt, "inner words")
				next.Inner.Deep.Text = strings.Join(words.Draw(rt, "deep"), "")
			case 10:
				next.Inner, next.Inner.Counts = inner{}, rapid.MapOf(rapid.StringMatching("[a-c]"), rapid.IntRange(0, 2)).Draw(rt, "counts")
			}
			durable := rapid.Bool().Draw(rt, "durable")
			if rapid.Bool().Draw(rt, "change") {
				err = s.ChangeTask(k, now, next, durable)
			} else {
				err = s.SaveTask(k, next, durable)
			}
			if (err != nil) != broken {
				rt.Fatalf("saved: %v", err)
			}
			if err == nil {
				now = next
			}
			broken = false
			got, _ := json.Marshal(theTask(rt, home))
			if want, _ := json.Marshal(again(rt, now)); string(got) != string(want) {
				rt.Fatalf("read %s, want %s", got, want)
			}
		}
	})
}

// A change that has lost what it builds on does not count, and what is whole after it does.
func TestReadTask_Damaged(t *testing.T) {
	first, second, third := wide{State: 1}, wide{State: 2}, wide{State: 2, Told: true}
	whole, err := formatLine(first)
	if err != nil {
		t.Fatal(err)
	}
	one, err := formatChange(first, second)
	if err != nil {
		t.Fatal(err)
	}
	two, err := formatChange(second, third)
	if err != nil {
		t.Fatal(err)
	}
	last, err := formatLine(wide{State: 9})
	if err != nil {
		t.Fatal(err)
	}
	half := append(append([]byte{}, one[:len(one)-3]...), '\n')
	for _, c := range []struct {
		file [][]byte
		want wide
	}{
		{[][]byte{whole, one, two}, third},
		{[][]byte{whole, one, two[:len(two)-4]}, second},
		{[][]byte{whole, half, two}, first},
		{[][]byte{one, two}, wide{}},
		{[][]byte{whole, half, two, last}, wide{State: 9}},
		{[][]byte{whole, one, []byte("\n"), last}, wide{State: 9}},
	} {
		var file []byte
		for _, line := range c.file {
			file = append(file, line...)
		}
		text, err := readTask(file)
		var got wide
		if err == nil && text != nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q is %+v, %v", file, got, err)
		}
	}
}
