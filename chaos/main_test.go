package chaos

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage wait: a schedule's is gone with it, and collecting it while it
// is played would cost a quarter of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
	os.Exit(m.Run())
}
