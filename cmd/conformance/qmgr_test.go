package conformance

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// talk starts qmgr at a terminal of its own and types; it returns what the terminal showed.
func talk(t *testing.T, home string, typed ...string) string {
	t.Helper()
	cmd := shared.Command(t.Context(), "qmgr")
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "HOME="+home, "TERM=xterm")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	said := new(output)
	read := make(chan struct{})
	go func() { // ends with the command: nobody else holds its terminal
		defer close(read)
		_, _ = io.Copy(said, tty)
	}()
	for i, text := range typed {
		waitFor(t, patience, "the prompt", func() error {
			if strings.Count(said.String(), "Qmgr: ") > i {
				return nil
			}
			return said.shows("one prompt more")()
		})
		if _, err := io.WriteString(tty, text); err != nil {
			t.Fatal(err)
		}
	}
	err = cmd.Wait()
	<-read
	if err != nil {
		t.Errorf("qmgr: %v\n%s", err, said.String())
	}
	return said.String()
}

// TestQmgr_EditsLinesAtATerminal: what is typed can be edited, and brought back in the next
// session; the file of it is the user's alone.
func TestQmgr_EditsLinesAtATerminal(t *testing.T) {
	const left, up, enter, endOfInput = "\x1b[D", "\x1b[A", "\r", "\x04"
	home := t.TempDir()
	out := talk(t, home, "list srver default_queue"+strings.Repeat(left, len("rver default_queue"))+"e"+enter, endOfInput)
	if !strings.Contains(out, "default_queue = workq") {
		t.Errorf("a corrected line is not carried out:\n%s", out)
	}
	file := filepath.Join(home, ".pbs_qmgr_history")
	if text, err := os.ReadFile(file); string(text) != "list server default_queue\n" {
		t.Errorf("the history is %q, %v", text, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history file: %v, %v", info, err)
	}
	out = talk(t, home, up+enter, "history"+enter, "quit"+enter)
	if !strings.Contains(out, "default_queue = workq") || !strings.Contains(out, "2  list server default_queue") {
		t.Errorf("a line of the session before is not brought back:\n%s", out)
	}
}
