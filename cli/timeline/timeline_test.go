package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files again")

func records(t *testing.T, name string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".acct"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(text), []byte("\n"))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s", name, got)
	}
}

var now = time.Date(2027, 11, 21, 12, 0, 0, 0, time.UTC)

// Releases, a reliable start, a suspension, several runs, one that runs on, and a job that
// never ran.
func TestPictures(t *testing.T) {
	for _, name := range []string{"releases", "padded", "runs", "waits"} {
		j := Read("12.srv", records(t, name), time.UTC, now)
		for form, draw := range map[string]func(io.Writer) error{
			"txt": func(w io.Writer) error { return Text(w, j, 80) },
			"svg": func(w io.Writer) error { return SVG(w, j) },
		} {
			var out bytes.Buffer
			if err := draw(&out); err != nil {
				t.Fatal(err)
			}
			golden(t, name+"."+form, out.Bytes())
			if form == "svg" {
				wellFormed(t, out.Bytes())
			}
			for line := range strings.Lines(out.String()) {
				if bar, _, _ := strings.Cut(line, "\n"); form == "txt" && strings.Contains(bar, "##") && len(bar) != 80 {
					t.Errorf("%s: a bar ends at column %d: %s", name, len(bar), bar)
				}
			}
		}
	}
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// What users choose stands in the pictures as text: it neither moves the cursor nor becomes
// an element.
func TestPictures_HoldNamesAsText(t *testing.T) {
	line := "11/21/2027 10:00:00;S;12.srv;user=ann group=g jobname=\"<script> \x1b[2J&\" queue=q start=1 exec_vnode=(h:ncpus=1)"
	j := Read("12.srv", [][]byte{[]byte(line)}, time.UTC, now)
	var text, svg strings.Builder
	if err := errors.Join(Text(&text, j, 80), SVG(&svg, j)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "\x1b") || strings.Contains(svg.String(), "<script>") || !strings.Contains(svg.String(), "&lt;script&gt;") {
		t.Errorf("%s\n%s", text.String(), svg.String())
	}
	wellFormed(t, []byte(svg.String()))
}

// Many vnodes with the same story share a row.
func TestRows_OfAWideJob(t *testing.T) {
	var all, kept []string
	for i := range 300 {
		all = append(all, fmt.Sprintf("(n%d:ncpus=2:mem=1gb)", i))
	}
	kept = all[:100]
	j := Read("12.srv", [][]byte{
		[]byte("11/21/2027 10:00:00;S;12.srv;user=ann exec_vnode=" + strings.Join(all, "+")),
		[]byte("11/21/2027 10:30:00;u;12.srv;user=ann exec_vnode=" + strings.Join(all, "+") + " run_count=1 resources_used.cput=00:01:00"),
		[]byte("11/21/2027 10:30:00;c;12.srv;user=ann exec_vnode=" + strings.Join(kept, "+")),
	}, time.UTC, now)
	var names []string
	for _, r := range rows(&j.Runs[0]) {
		names = append(names, r.name)
	}
	if got := strings.Join(names, ", "); got != "n0 and 99 more, n100 and 199 more" {
		t.Error(got)
	}
}

// Whatever the files hold, and however narrow the terminal is, there is a picture.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"releases", "padded", "runs", "waits"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".acct"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, 80)
	}
	f.Add([]byte("11/21/2027 10:00:00;u;1.s;exec_vnode=(a:ncpus=9223372036854775807)+(a:ncpus=1) jobname=\"x"), -5)
	f.Fuzz(func(t *testing.T, text []byte, columns int) {
		j := Read("1.s", bytes.Split(text, []byte("\n")), time.UTC, now)
		var svg bytes.Buffer
		if err := errors.Join(Text(io.Discard, j, min(columns, 500)), SVG(&svg, j)); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, svg.Bytes())
	})
}
