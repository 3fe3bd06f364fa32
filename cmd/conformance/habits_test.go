package conformance

import (
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"rampart/cmd/devrun"
)

// TestHabits plays the scripts that people have written for PBS by habit, at a replica that
// does not lead: a parallel job, a sweep, staging, a session at a terminal, an administrator's
// night.
func TestHabits(t *testing.T) {
	cases(t, shared, "habits/*.txtar", "PBS_GATEWAY="+followersGateway(t, shared))
}

// followersGateway is the socket of a replica that does not lead the cluster.
func followersGateway(t *testing.T, c *devrun.Cluster) string {
	t.Helper()
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := followers(leader)[0]
	return filepath.Join(c.Home(name), "run", name+".sock")
}

// converse FILE COMMAND...: runs the command at a terminal. Lines "< WORDS" of the file are
// waited for in what it shows, behind what was waited for before; lines "> KEYS" are typed.
func converse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: converse FILE COMMAND [ARG...]")
	}
	name, err := exec.LookPath(filepath.Join(ts.Getenv("RAMPART_DEV"), "bin", args[1]))
	ts.Check(err)
	cmd := exec.Command(name, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, v := range []string{"PATH", "HOME", "PBS_CONF_FILE", "PBS_EXEC", "PBS_GATEWAY"} {
		cmd.Env = append(cmd.Env, v+"="+ts.Getenv(v))
	}
	cmd.Env = append(cmd.Env, "PWD="+cmd.Dir, "TERM=xterm")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
	ts.Check(err)
	said := new(output)
	read := make(chan struct{})
	go func() { // ends with the command: nobody else holds its terminal
		defer close(read)
		_, _ = io.Copy(said, tty)
	}()
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		_ = tty.Close()
		<-read
	})
	seen := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		sign, words, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch sign {
		case "<":
			seen += until(ts, words, func() string { return said.String()[seen:] })
		case ">":
			_, err := io.WriteString(tty, words+"\n")
			ts.Check(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		ts.Fatalf("%s: %v; it showed:\n%s", strings.Join(args[1:], " "), err, said)
	}
}

// until waits for words to be shown and returns where they end.
func until(ts *testscript.TestScript, words string, shown func() string) int {
	for began := time.Now(); time.Since(began) < patience; poll(began) {
		if i := strings.Index(shown(), words); i >= 0 {
			return i + len(words)
		}
	}
	ts.Fatalf("%q was never shown; last seen:\n%s", words, shown())
	return 0
}
