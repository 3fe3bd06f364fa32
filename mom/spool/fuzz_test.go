package spool

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// A folder is that of a task if the task's folder has that very name: no two names are one task.
func FuzzParseKey(f *testing.F) {
	for _, name := range []string{"12.srv@1", "12[3].srv@4294967295", "12.srv@4294967296", "12.srv@01", "@1", "a@b@1", "12.srv@", "12.srv@+1", ".probe"} {
		f.Add(name, uint32(7))
	}
	f.Fuzz(func(t *testing.T, name string, run uint32) {
		if k, ok := parseKey(name); ok && k.String() != name {
			t.Errorf("%q is read as %+v, whose folder is %q", name, k, k)
		}
		k := TaskKey{Job: pbs.JobID(name), Run: pbs.RunCount(run)}
		if got, ok := parseKey(k.String()); ok && got != k {
			t.Errorf("%+v is read as %+v", k, got)
		} else if id, err := pbs.ParseJobID(name, "srv"); err == nil && string(id) == name && !ok {
			t.Errorf("%q is no task", k)
		}
	})
}

// A task's file is read as its last whole record with the whole changes since, wherever a crash
// has torn it.
func FuzzReadTask(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[2]}`), []byte(`{"b":null}`), []byte(`{"c":3}`), 10)
	f.Add([]byte(`{}`), []byte(`{}`), []byte(`null`), 0)
	f.Add([]byte(`[1]`), []byte(`{"a":1}`), []byte(`"x"`), 1000)
	f.Add([]byte("+"), []byte("+\n"), []byte(""), 5)
	f.Fuzz(func(t *testing.T, record, change, other []byte, cut int) {
		_, _ = readTask(record) // what is no file of ours is none
		if !object(record) || !object(change) || !object(other) || inside(change) || inside(other) {
			return
		}
		file := formatText(compact(record))
		whole := len(file)
		file = append(file, formatText(append([]byte(changeMark), compact(change)...))...)
		first := len(file)
		file = append(file, formatText(append([]byte(changeMark), compact(other)...))...)
		cut = min(max(cut, 0), len(file))
		got, err := readTask(file[:cut])
		if err != nil {
			t.Fatalf("%q: %v", file[:cut], err)
		}
		var want map[string]json.RawMessage
		for _, part := range []struct {
			text []byte
			end  int
		}{{record, whole}, {change, first}, {other, len(file)}} {
			if cut < part.end-1 { // the newline may be missing
				break
			}
			if err := json.Unmarshal(compact(part.text), &want); err != nil {
				t.Fatal(err)
			}
		}
		var fields map[string]json.RawMessage
		if got != nil {
			if err := json.Unmarshal(got, &fields); err != nil {
				t.Fatalf("%q is read as %q: %v", file[:cut], got, err)
			}
		}
		if !reflect.DeepEqual(plain(t, fields), plain(t, want)) {
			t.Errorf("%q is read as %q, want %q", file[:cut], fields, want)
		}
	})
}

func object(text []byte) bool {
	return json.Valid(text) && len(compact(text)) > 0 && compact(text)[0] == '{'
}

// inside reports whether a change names a record inside the record.
func inside(text []byte) bool {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(text, &fields)
	for name := range fields {
		if strings.HasPrefix(name, changeMark) {
			return true
		}
	}
	return false
}

func compact(text []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, text)
	return b.Bytes()
}

// plain is what fields mean, however they are written.
func plain(t *testing.T, fields map[string]json.RawMessage) map[string]any {
	t.Helper()
	all := map[string]any{}
	for name, text := range fields {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return nil // a number beyond what Go reads
		}
		all[name] = v
	}
	return all
}

// A journal is opened at facts that follow each other, whatever stands in its file, or is refused
// without a change; what is added then is there the next time, behind what was.
func FuzzJournal(f *testing.F) {
	var two []byte
	for seq := range uint64(2) {
		line, err := formatLine(Fact{Version: version, Seq: seq + 3, Task: TaskKey{Job: "1.srv", Run: 1}})
		if err != nil {
			f.Fatal(err)
		}
		two = append(two, line...)
	}
	f.Add(two, uint64(3))
	f.Add(two[:len(two)-2], uint64(3))
	f.Add(two, uint64(4))
	f.Add([]byte("00000000 \n"), uint64(1))
	f.Add([]byte(nil), uint64(1<<64-1))
	f.Fuzz(func(t *testing.T, data []byte, first uint64) {
		if first == 0 || first > 1<<63 {
			return
		}
		dir := t.TempDir()
		path := filepath.Join(dir, segment(first))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		j := &journal{dir: dir, disk: &disk{noSync: true}}
		facts, last, err := j.open()
		if err != nil {
			if now, _ := os.ReadFile(path); !bytes.Equal(now, data) {
				t.Errorf("%q was refused and changed to %q", data, now)
			}
			return
		}
		for i, fact := range facts {
			if fact.Seq != first+uint64(i) {
				t.Errorf("fact %d stands at %d", fact.Seq, first+uint64(i))
			}
		}
		if last != first-1+uint64(len(facts)) {
			t.Errorf("%d facts from %d on, and the last is %d", len(facts), first, last)
		}
		if err := j.append([]Fact{{Version: version, Seq: last + 1}}); err != nil {
			t.Fatal(err)
		}
		if err := j.close(); err != nil {
			t.Fatal(err)
		}
		again := &journal{dir: dir, disk: &disk{noSync: true}}
		more, end, err := again.open()
		if err != nil || end != last+1 || len(more) != len(facts)+1 || !reflect.DeepEqual(more[:len(facts)], facts[:len(facts):len(facts)]) && len(facts) > 0 {
			t.Fatalf("with one more there are %d facts to %d, not %d: %v", len(more), end, len(facts)+1, err)
		}
		if err := again.close(); err != nil {
			t.Fatal(err)
		}
	})
}
