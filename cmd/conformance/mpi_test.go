package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMPI runs a program of MPICH over three hosts by the task manager: it ends well, and when its
// job is deleted none of its processes is left on any host.
func TestMPI(t *testing.T) {
	if testing.Short() {
		t.Skip("long: it wants MPICH and a cluster of its own")
	}
	for _, program := range []string{"mpicc", "mpiexec.hydra"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("MPICH is not installed (make mpich): %v", err)
		}
	}
	t.Parallel()
	c := kept{newCluster(t, "--replicas", "1", "--mom", "hosta:ncpus=2,mem=2gb", "--mom", "hostb:ncpus=2,mem=2gb", "--mom", "hostc:ncpus=2,mem=2gb")}
	sum := filepath.Join(c.Dir, "sum")
	if out, err := exec.CommandContext(t.Context(), "mpicc", "-o", sum, "testdata/mpi/sum.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	submit := func(name, args string) (job, says string) {
		says = filepath.Join(c.Dir, name)
		script := fmt.Sprintf(`export PATH="$PBS_O_PATH"
mpiexec.hydra -launcher rsh -launcher-exec pbs_tmrsh -f "$PBS_NODEFILE" -n 6 %s %s >%s 2>&1
echo status $? >>%s
`, sum, args, says, says)
		file := filepath.Join(c.Dir, name+".sh")
		if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		job = c.must(t, "qsub", "-l", "select=3:ncpus=2:mpiprocs=2", "-l", "place=scatter", "-o", "/dev/null", "-j", "oe", file)
		return job, says
	}
	ranks := func(says, end string) (pids []int) {
		waitFor(t, 2*patience, "the ranks", func() error {
			text, err := os.ReadFile(says)
			pids = nil
			for line := range strings.Lines(string(text)) {
				var rank, pid int
				if n, _ := fmt.Sscanf(line, "rank %d of 6 pid %d sum 15", &rank, &pid); n == 2 {
					pids = append(pids, pid)
				}
			}
			if err != nil || len(pids) != 6 || !strings.HasSuffix(string(text), end) {
				return fmt.Errorf("%v: %s", err, text)
			}
			return nil
		})
		return pids
	}
	_, says := submit("good", "")
	ranks(says, "status 0\n")

	job, says := submit("stays", "and waits")
	pids := ranks(says, "\n")
	for _, pid := range pids {
		if !alive(pid) {
			t.Errorf("rank with pid %d does not live", pid)
		}
	}
	c.must(t, "qdel", job)
	for _, pid := range pids {
		awaitGone(t, pid)
	}
}
