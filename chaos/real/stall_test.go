package real

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"rampart/chaos/world"
)

// stallFor is how long a write waits, of each thread that writes.
const stallFor = 3 * time.Second

// stall has strace hold up the next fdatasync of each of a process's threads, and returns when it
// does; free ends that. The test is skipped where that cannot be had.
func stall(t *testing.T, pid int) (free func()) {
	t.Helper()
	tool, err := exec.LookPath("strace")
	if err != nil {
		t.Skipf("%v: `make strace` installs it", err)
	}
	inject := fmt.Sprintf("inject=fdatasync:delay_enter=%d:when=1", stallFor.Microseconds())
	cmd := exec.Command(tool, "-f", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", inject, "-p", fmt.Sprint(pid))
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	free = func() {
		_ = cmd.Process.Signal(os.Interrupt) // it lets go of the process
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if !strings.Contains(line, "attached") {
		free()
		t.Skipf("strace: %q, %v", line, err)
	}
	return free
}

// TestReal_StalledDisks: the disks of a lone replica, of a leader, of all replicas do not answer for
// three seconds. Nobody ends; a submission is acknowledged, and all are level again by themselves.
func TestReal_StalledDisks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ replicas, stalled int }{
		"a lone replica": {1, 1}, "the leader of three": {3, 1}, "all of three": {3, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, Config{Size: world.Size{Servers: c.replicas, Moms: 1}})
			leader, err := w.cluster.Leader(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range w.replicas {
				if c.stalled == c.replicas || r.name == leader {
					defer stall(t, w.pids[r.name])()
				}
			}
			began := time.Now()
			var job string
			err = await(t.Context(), time.Minute, func(ctx context.Context) (err error) { // each thread stalls once
				job, err = w.cluster.Output(ctx, "qsub", "-h", "--", "/bin/true")
				return err
			})
			if err != nil {
				t.Fatalf("submit: %v", err)
			}
			t.Logf("acknowledged after %s", time.Since(began).Round(time.Millisecond))
			if err := await(t.Context(), time.Minute, w.level); err != nil {
				t.Error(err)
			}
			err = await(t.Context(), time.Minute, func(ctx context.Context) error {
				_, err := w.cluster.Output(ctx, "qstat", strings.TrimSpace(job))
				return err
			})
			if err != nil {
				t.Errorf("%s was acknowledged: %v", job, err)
			}
			for _, r := range w.replicas {
				if pid, err := w.cluster.Pid(r.name); err != nil || pid != w.pids[r.name] {
					t.Errorf("%s has ended (%v): %v", r.name, w.cluster.Ended(r.name), err)
				}
			}
		})
	}
}
