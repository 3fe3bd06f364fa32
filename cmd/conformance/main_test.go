package conformance

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"rampart/cmd/devrun"
)

// shared is the cluster of the scripts, bin the folder of the programs, scratch a folder
// that everybody may enter.
var (
	bin     string
	scratch string
	shared  *devrun.Cluster
)

// Folders of the programs of each version; those that are not given are built.
var (
	built      = flag.String("bin", "", "`folder` of the present programs")
	builtOlder = flag.String("older", "", "`folder` of the present ones with the feature level lowered by one")
)

// complexP3 is the complex of the specification's cases, a large host for jobs that are in nobody's way, and hosts that a script
// has whole, drains or suspends for maintenance.
var complexP3 = []string{
	"--mom", "hosta/hosta[0]:ncpus=1,mem=1gb/hosta[1]:ncpus=1,mem=1gb/hosta[2]:ncpus=1,mem=1gb/hosta[3]:ncpus=1,mem=1gb",
	"--mom", "hostb:ncpus=1,mem=1gb/hostb[0]:ncpus=1,mem=1gb/hostb[1]:ncpus=1,mem=1gb/hostb[2]:ncpus=1,mem=1gb/hostb[3]:ncpus=1,mem=1gb",
	"--mom", "hostc:ncpus=2,mem=2gb",
	"--mom", "big:ncpus=64,mem=256gb",
	"--mom", "excl:ncpus=4,mem=8gb",
	"--mom", "small:ncpus=1,mem=1gb",
	"--mom", "alone:ncpus=4,mem=8gb",
}

func TestMain(m *testing.M) {
	flag.Parse()
	atOnce()
	status, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// atOnce lets more tests run at once than there are processors, unless -parallel says
// otherwise: most of them wait for time to pass, and three at once leave two processors idle for
// two thirds of it.
func atOnce() {
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = flag.Set(f.Name, strconv.Itoa(4+runtime.GOMAXPROCS(0)))
	}
}

func run(m *testing.M) (status int, err error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "rc-") // short: paths of sockets are below it
	if err != nil {
		return 1, err
	}
	defer func() {
		if status != 0 {
			fmt.Fprintln(os.Stderr, "the folder of the shared cluster is kept:", dir)
			return
		}
		_ = os.RemoveAll(dir)
	}()
	if err := os.Chmod(dir, 0o755); err != nil { // job owners must get through
		return 1, err
	}
	bin, scratch = filepath.Join(dir, "bin"), filepath.Join(dir, "scripts")
	if err := os.Mkdir(scratch, 0o755); err != nil {
		return 1, err
	}
	if *built != "" {
		bin = *built
	} else if err := devrun.Build(ctx, "../..", bin); err != nil {
		return 1, err
	}
	if shared, err = devrun.Start(ctx, bin, filepath.Join(dir, "p3"), complexP3...); err != nil {
		return 1, err
	}
	defer shared.Stop()
	return m.Run(), nil
}

// newCluster starts a cluster for one test.
func newCluster(t *testing.T, args ...string) *devrun.Cluster {
	t.Helper()
	return clusterOf(t, bin, args...)
}

// clusterOf starts a cluster of these programs.
func clusterOf(t *testing.T, bin string, args ...string) *devrun.Cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "rc-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := devrun.Start(t.Context(), bin, dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Stop()
		if t.Failed() {
			t.Logf("the cluster's folder is kept: %s", dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return c
}
