package chaos

import (
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage wait: a schedule's is gone with it, and collecting it while it
// is played would cost a quarter of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	files, err := filepath.Abs(filepath.Join("testdata", "lsf"))
	if err == nil {
		err = os.Setenv("LSF_ENVDIR", files) // of the replicas of all worlds; some take them over
	}
	if err != nil {
		panic(err)
	}
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
	os.Exit(m.Run())
}
