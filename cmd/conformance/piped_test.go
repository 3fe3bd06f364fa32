package conformance

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// piped is bsub -I without a terminal, asked at a replica that does not lead.
func piped(t *testing.T, c *devrun.Cluster, command string) (cmd *exec.Cmd, stdin io.WriteCloser, stdout, stderr *output) {
	t.Helper()
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd = through(c, followers(leader)...).Command(t.Context(), "bsub", "-I", command)
	stdout, stderr = new(output), new(output)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if stdin, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, stdin, stdout, stderr
}

// TestInteractive_WithoutATerminal: bsub -I in a pipe hands its standard streams to the job, each byte once though leader and mom are killed, and
// ends as the job does; SIGINT kills the job, and one that waits is not asked about.
func TestInteractive_WithoutATerminal(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--mom", "borg:ncpus=1")
	cmd, stdin, stdout, stderr := piped(t, c, "tty; echo begun >&2; cat; echo ended >&2; exit 3")
	waitFor(t, patience, "the job to begin", stderr.shows("begun\n"))
	line := strings.Repeat("0123456789abcde", 68) + "\n"
	send := func(n int, shown string) {
		t.Helper()
		for i := range n {
			if _, err := fmt.Fprintf(stdin, "%s %d %s", shown, i, line); err != nil {
				t.Fatal(err)
			}
		}
		waitFor(t, patience, shown+" to come back", stdout.shows(fmt.Sprintf("%s %d ", shown, n-1)))
	}
	send(100, "before")
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Signal(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	send(100, "leaderless")
	if err := c.Signal("borg", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := c.Restart(t.Context(), "borg"); err != nil {
		t.Fatal(err)
	}
	send(100, "restarted")
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("bsub -I ends with %v", err)
	}
	var want strings.Builder
	want.WriteString("Job <0> is submitted to default queue <workq>.\nnot a tty\n")
	for _, shown := range []string{"before", "leaderless", "restarted"} {
		for i := range 100 {
			fmt.Fprintf(&want, "%s %d %s", shown, i, line)
		}
	}
	if stdout.String() != want.String() {
		t.Errorf("%d bytes of output, want %d", len(stdout.String()), want.Len())
	}
	if got := stderr.String(); got != "<<Waiting for dispatch ...>>\n<<Starting on borg>>\nbegun\nended\n" {
		t.Errorf("errors %q", got)
	}
	cmd, _, stdout, _ = piped(t, c, "echo mine; exec sleep 1000")
	waitFor(t, patience, "the job to begin", stdout.shows("mine"))
	waits, _, _, stderr := piped(t, c, "true")
	waitFor(t, patience, "the other one to wait", stderr.shows("<<Waiting for dispatch ...>>"))
	for i, p := range []*exec.Cmd{waits, cmd} {
		if err := p.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := p.Wait(); err == nil {
			t.Errorf("interrupted bsub -I ends well")
		}
		waitFor(t, patience, "its job to be gone", jobGone(t, c, fmt.Sprint(2-i)))
	}
	if out, err := c.Output(t.Context(), "bsub", "-Is", "true"); err == nil || !strings.Contains(out+err.Error(), "must be a terminal") {
		t.Errorf("bsub -Is without a terminal: %s, %v", out, err)
	}
}
