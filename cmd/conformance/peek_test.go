package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPeek_ShowsTheLastWords: bpeek -f shows all that a job writes, however soon it is over then, wherever its output goes, and though the leader
// is killed meanwhile.
func TestPeek_ShowsTheLastWords(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg:ncpus=8")
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var written strings.Builder
	written.WriteString("<< output from stdout >>\nfirst words\nmiddle\n")
	for i := range 30000 {
		fmt.Fprintln(&written, i+1)
	}
	written.WriteString("last words\n")
	until := func(file string) string {
		return "; while [ ! -e " + filepath.Join(c.Dir, file) + " ]; do sleep 0.1; done; "
	}
	allow := func(file string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(c.Dir, file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var lookers []*exec.Cmd
	var shown [4]output
	out, errs := filepath.Join(c.Dir, "out"), filepath.Join(c.Dir, "err")
	for i, submit := range [][]string{
		{"bsub", "-oo", out + ".%J"},
		{"bsub", "-oo", out + ".%J", "-eo", errs + ".%J"},
		{"qsub", "-k", "oed", "-o", out, "-e", errs, "--", "/bin/sh", "-c"},
		{"qsub", "-k", "od", "-j", "oe", "-o", out + ".joined", "--", "/bin/sh", "-c"},
	} {
		script := "echo first words" + until("middle") + "echo middle" + until("end") + "seq 30000; echo last words"
		if out, err := c.Output(t.Context(), submit[0], append(submit[1:], script)...); err != nil {
			t.Fatalf("%v: %s, %v", submit, out, err)
		}
		waitFor(t, patience, "the job to run", func() error {
			_, err := c.Output(t.Context(), "bpeek", fmt.Sprint(i))
			return err
		})
		cmd := through(c, append([]string{leader}, followers(leader)...)...).Command(t.Context(), "bpeek", "-f", fmt.Sprint(i))
		cmd.Stdout = &shown[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		lookers = append(lookers, cmd)
		waitFor(t, patience, "the beginning to be shown", shown[i].shows("first words\n"))
	}
	if err := c.Signal(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	allow("middle")
	for i := range lookers {
		waitFor(t, patience, "to go on by another replica", shown[i].shows("middle\n"))
	}
	allow("end")
	for i, cmd := range lookers {
		if err := cmd.Wait(); err != nil {
			t.Errorf("bpeek -f %d ends with %v", i, err)
		}
		got := strings.Replace(shown[i].String(), "\n<< output from stderr >>\n", "", 1)
		if got != written.String() {
			t.Errorf("bpeek -f %d shows %d bytes, want %d: ... %q", i, len(got), written.Len(), got[max(0, len(got)-40):])
		}
	}
}
