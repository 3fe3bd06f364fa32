package hook

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever a script's process says, it is an answer to this event, or an error: lines of its log are
// bounded, and nothing is waited for when it has ended.
func FuzzConverse(f *testing.F) {
	for _, text := range []string{
		`{"log":2,"job":"1.srv","text":"x"}` + "\n" + `{"done":{"accept":true},"item":7,"stays":true}` + "\n",
		`{"ask":"job","name":"1.srv"}` + "\n" + `{"done":{},"item":7}` + "\n", `{"done":{"accept":true},"item":8}` + "\n",
		`{"done":null}` + "\n", "null\n", "\n", "{}", `{"log":-5}` + "\n", strings.Repeat(`{"log":1}`+"\n", 20), "\x00\xff\n",
	} {
		f.Add([]byte(text))
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = null.Close() })
	f.Fuzz(func(t *testing.T, text []byte) {
		rest := &io.LimitedReader{R: bytes.NewReader(text)}
		p := &process{pipes: &pipes{in: null}, rest: rest, lines: bufio.NewReaderSize(rest, 64)}
		lines := 0
		a, stays, err := converse(t.Context(), p, &request{Item: 7}, &Run{Log: func(Line) { lines++ }})
		if (a == nil) != (err != nil) || stays && a == nil || lines > maxLines {
			t.Errorf("%q: %+v, %v, %v, %d lines", text, a, stays, err, lines)
		}
	})
}

// An event that was kept and then spoilt is refused, with the reason, before anything runs.
func FuzzParseKept(f *testing.F) {
	for _, text := range []string{
		`{"data":{"hook":{"name":"h1"},"event":"queuejob"}}`, `{"data":{"hook":{"name":"h1"},"event":null}}`,
		`{"data":{"hook":null}}`, `{"data":null}`, `null`, `[]`, ``, `{"data":{"hook":{"name":1}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		req, err := parseKept(text)
		if err == nil && (req.Data.Hook["name"] == "" || req.Data.Event.Event == "") {
			t.Errorf("%q is read as %+v", text, req)
		}
	})
}

func TestReplay_SaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{"data":{"hook":{"name":"h1"}}}`: "it names no event",
		`{"data":{"event":"queuejob"}}`:   "it names no hook",
		`no event`:                        "invalid character",
	} {
		saved := filepath.Join(t.TempDir(), "saved.data")
		if err := os.WriteFile(saved, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Replay(t.Context(), Replaying{Saved: saved, Out: io.Discard, Log: io.Discard})
		if err == nil || !strings.HasPrefix(err.Error(), saved+" is no event that was kept: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
