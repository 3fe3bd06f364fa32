package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	urfave "github.com/urfave/cli/v2"
)

// Files that cannot be written are told before anything is replayed, and what is there stays.
func TestCheckOutputs(t *testing.T) {
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "old"), filepath.Join(dir, "fresh")
	if err := os.WriteFile(old, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags map[string]string
		want  string
	}{
		{map[string]string{"csv": old, "json": fresh, "svg": "-"}, ""},
		{map[string]string{"csv": filepath.Join(dir, "no/where")}, "--csv: open "},
		{map[string]string{"json": dir}, "--json: open "},
		{map[string]string{"csv": fresh, "each": fresh}, "--each: --csv is written to " + fresh + ", too"},
		{map[string]string{"csv": "-", "json": "-"}, "--json: --csv is written to -, too"},
	} {
		set := flag.NewFlagSet("", flag.ContinueOnError)
		for _, name := range []string{"csv", "json", "svg", "each"} {
			set.String(name, c.flags[name], "")
		}
		err := checkOutputs(urfave.NewContext(nil, set, nil))
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.flags, err, c.want)
		}
	}
	left, err := os.ReadFile(old)
	if _, missing := os.Stat(fresh); err != nil || string(left) != "before" || !os.IsNotExist(missing) {
		t.Errorf("what was there: %q, %v; what was not: %v", left, err, missing)
	}
}

// What a replay has in use and the garbage that may lie beside it are bounded, unless it has very much in use.
func TestGarbageFor(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 400},
		{10 * mb, 400},
		{16 * mb, 400},
		{32 * mb, 200},
		{64 * mb, 100},
		{128 * mb, 50},
		{4096 * mb, 50},
	} {
		if got := garbageFor(c.live); got != c.want {
			t.Errorf("%d bytes in use: %d %%, want %d", c.live, got, c.want)
		}
	}
}

// What is skipped is told, also where figures go to standard output.
func TestReplay_WarnsBesideFigures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.swf")
	if err := os.WriteFile(file, []byte("; MaxProcs: 4\n1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1 -1\n2 0 -1 -5 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1 -1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"--csv", "-"}, {"--each", "-"}, nil} {
		a := app()
		var out, told bytes.Buffer
		a.Writer, a.ErrWriter = &out, &told
		if err := a.Run(append([]string{"rampart", "sim", "--trace", file, "--hosts", "1:ncpus=4"}, flags...)); err != nil {
			t.Fatal(err)
		}
		if flags == nil {
			told, out = out, told
		}
		if !strings.Contains(told.String(), "1 lines of the trace were skipped") || strings.Contains(out.String(), "skipped") {
			t.Errorf("%v: told\n%s\nbeside\n%s", flags, &told, &out)
		}
	}
}
