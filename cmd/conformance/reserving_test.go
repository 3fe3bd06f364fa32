package conformance

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReserving plays the script of resource reservation as LSF has it by the gateway of a replica that does not lead; the replicas read the
// files of the script as LSF's. What waits for hours is played by cmd/rampart/sim alone.
func TestReserving(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it needs users")
	}
	t.Setenv("LSF_ENVDIR", filepath.Join(scratch, t.Name(), "script-now"))
	c := newCluster(t, "--mom", "hosta:ncpus=10,mem=1000mb,swp=150mb,tmp=1000mb",
		"--mom", "qat25:ncpus=4,mem=1000mb", "--mom", "qat24:ncpus=4,mem=1000mb", "--mom", "qat26:ncpus=4,mem=1000mb")
	cases(t, c, "reserving/*.txtar", "PBS_GATEWAY="+followersGateway(t, c))
	if err := checkLogs(c); err != nil {
		t.Error(err)
	}
}
