package home

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTokenSource(t *testing.T) {
	const open, hidden = "proc /proc proc rw,nosuid 0 0\n", "sysfs /sys sysfs rw 0 0\nproc /proc proc rw,hidepid=invisible 0 0\n"
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	closed, shared := write("closed", "  filed\n", 0o600), write("shared", "filed\n", 0o644)
	for name, c := range map[string]struct {
		source                 TokenSource
		environment            string
		want, failure, warning string
	}{
		"command line, open list":   {source: TokenSource{Text: "shown", Mounts: open}, want: "shown", warning: "list of processes"},
		"command line, closed list": {source: TokenSource{Text: "shown", Mounts: hidden}, want: "shown"},
		"closed, then open over it": {source: TokenSource{Text: "shown", Mounts: hidden + open}, want: "shown", warning: "list of processes"},
		"hidepid=0":                 {source: TokenSource{Text: "shown", Mounts: "proc /proc proc rw,hidepid=0 0 0\n"}, want: "shown", warning: "list of processes"},
		"command line wins":         {source: TokenSource{Text: "shown", Mounts: hidden}, environment: "rampart1.kept", want: "shown"},
		"environment":               {environment: "rampart1.kept", want: "rampart1.kept"},
		"file":                      {source: TokenSource{Path: closed}, environment: "rampart1.kept", want: "filed"},
		"file for all":              {source: TokenSource{Path: shared}, want: "filed", warning: "may be read by others (mode 0644)"},
		"standard input":            {source: TokenSource{Path: "-", Stdin: strings.NewReader("typed\n")}, want: "typed"},
		"a login token":             {environment: "eyJ.kept.x", failure: "a login token lets nobody join"},
		"nothing":                   {failure: "--token-file is missing"},
		"empty input":               {source: TokenSource{Path: "-", Stdin: strings.NewReader(" \n")}, failure: "standard input is empty"},
		"too much":                  {source: TokenSource{Path: "-", Stdin: strings.NewReader(strings.Repeat("x", maxToken+1))}, failure: "is no token"},
		"no file":                   {source: TokenSource{Path: filepath.Join(dir, "missing")}, failure: "no such file"},
		"both":                      {source: TokenSource{Text: "a", Path: "b"}, failure: "one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(TokenVariable, c.environment)
			var said bytes.Buffer
			c.source.Stderr = &said
			got, err := c.source.Token()
			if got != c.want || (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
				t.Errorf("%q, %v", got, err)
			}
			if (said.Len() > 0) != (c.warning != "") || !strings.Contains(said.String(), c.warning) {
				t.Errorf("said %q, want %q", said.String(), c.warning)
			}
			if c.want == "rampart1.kept" && os.Getenv(TokenVariable) != "" {
				t.Error("children find the token in the environment")
			}
			if c.failure != "" && os.Getenv(TokenVariable) != c.environment {
				t.Error("the login token is gone")
			}
		})
	}
}
