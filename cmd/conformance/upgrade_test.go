package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// An upgrade is a cluster whose programs are replaced under its running processes, as a
// package does it: what is started next is of the version that lies there then.
type upgrade struct {
	*devrun.Cluster
	bin      string
	old, new version
	jobs     []string // that were run to their end
}

// TestUpgrade_PresentLevelAndTheOneBelow: two builds of this tree, of which one knows a
// feature level less.
func TestUpgrade_PresentLevelAndTheOneBelow(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another version: see make test-long")
	}
	older := version{*builtOlder, present().level - 1}
	if older.dir == "" {
		older = buildAt(t, older.level)
	}
	upgradeOneByOne(t, older, present())
}

// upgradeOneByOne goes from one version to the next, one process after the other. At each
// step the mixed cluster does what it is for, under leaders of both versions, and outlives
// its leader; the way back is open up to the last replica (design section 4, L4).
func upgradeOneByOne(t *testing.T, older, newer version) {
	u := startUpgrade(t, older, newer, "--moms", "2")
	running := submitSteady(t, u.Cluster)
	running.runs(t, 1)

	u.install(t, u.new)
	u.again(t, "borg")
	u.works(t, "a new mom under old replicas")

	u.replace(t, "s3")
	u.worksUnderBoth(t, "one new replica, two old ones")
	u.saysWhomItWaitsFor(t, "s1", "s2")

	u.install(t, u.old)
	u.replace(t, "s3")
	u.works(t, "back to the old version")
	u.install(t, u.new)
	u.replace(t, "s3")

	u.replace(t, "s2")
	u.worksUnderBoth(t, "two new replicas, an old one")
	u.saysWhomItWaitsFor(t, "s1")

	u.replace(t, "s1")
	awaitLevel(t, u.Cluster, u.new.level)
	u.works(t, "an old mom under new replicas")
	u.again(t, "federer")
	u.works(t, "all new")

	kill(t, u.Cluster, "s2")
	refused(t, u.Cluster, filepath.Join(u.old.dir, "rampart"), u.Home("s2"), 76, "this build is too old for the cluster")
	restart(t, u.Cluster, "s2")
	running.ends(t, "QSE")
	for _, id := range u.jobs {
		if lines, err := recordsOf(u.Cluster, "s2", id); err != nil || types(lines) != "QSE" {
			t.Errorf("records of %s: %v, %v", id, lines, err)
		}
	}
}

// startUpgrade starts a cluster of the old version.
func startUpgrade(t *testing.T, older, newer version, args ...string) *upgrade {
	t.Helper()
	u := &upgrade{bin: buildFolder(t), old: older, new: newer}
	u.install(t, u.old)
	u.Cluster = clusterOf(t, u.bin, args...)
	awaitLevel(t, u.Cluster, u.old.level)
	return u
}

// install puts the programs of a version in the place of those that are there; who runs
// them goes on with what he has.
func (u *upgrade) install(t *testing.T, v version) {
	t.Helper()
	for _, program := range []string{"rampart", "pbs"} {
		if err := place(filepath.Join(v.dir, program), filepath.Join(u.bin, program)); err != nil {
			t.Fatal(err)
		}
	}
}

func place(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer dst.Close()
	if _, err := io.Copy(dst, src); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}

// replace restarts a replica, as an administrator does, and wants it level with the others.
func (u *upgrade) replace(t *testing.T, name string) {
	t.Helper()
	if err := u.Signal(name, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, u.Cluster, name)
	restart(t, u.Cluster, name)
}

// again restarts a mom under its jobs.
func (u *upgrade) again(t *testing.T, mom string) {
	t.Helper()
	kill(t, u.Cluster, mom)
	if err := u.Restart(t.Context(), mom); err != nil {
		t.Fatal(err)
	}
}

// must runs a command that has to succeed.
func (u *upgrade) must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := u.Output(t.Context(), name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// works runs a job on every host, holds and releases one, and deletes one that runs.
func (u *upgrade) works(t *testing.T, when string) {
	t.Helper()
	t.Log(when)
	for _, host := range []string{"borg", "federer"} {
		u.jobs = append(u.jobs, u.must(t, "qsub", "-j", "oe", "-o", "/dev/null", "-l", "select=1:ncpus=1:host="+host, "--", "/bin/true"))
	}
	held := u.must(t, "qsub", "-h", "-j", "oe", "-o", "/dev/null", "--", "/bin/true")
	u.must(t, "qrls", held)
	u.jobs = append(u.jobs, held)
	long := u.must(t, "qsub", "-j", "oe", "-o", "/dev/null", "--", "/bin/sleep", "1000")
	u.await(t, when, long, "QS")
	u.must(t, "qdel", long)
	for _, id := range u.jobs[len(u.jobs)-3:] {
		u.await(t, when, id, "QSE")
	}
	waitFor(t, patience, when+": replicas that agree", func() error { return agree(t.Context(), u.Cluster) })
}

func (u *upgrade) await(t *testing.T, when, id, records string) {
	t.Helper()
	waitFor(t, patience, when+": the records "+records+" of "+id, func() error {
		for _, r := range replicas {
			lines, err := recordsOf(u.Cluster, r, id)
			if err != nil {
				return err
			}
			if types(lines) != records {
				return fmt.Errorf("%s has %v", r, lines)
			}
		}
		return nil
	})
}

// worksUnderBoth works under a leader of each version, and kills it.
func (u *upgrade) worksUnderBoth(t *testing.T, when string) {
	t.Helper()
	levels := make(map[uint32]string)
	for _, r := range u.versions(t).Replicas {
		levels[r.Level] = r.Name
	}
	if len(levels) != 2 {
		t.Fatalf("%s: replicas by level: %v", when, levels)
	}
	for level, name := range levels {
		waitFor(t, patience, name+" to lead", func() error {
			_, err := u.Output(t.Context(), "rampart", "cluster", "transfer", name)
			if leader, unknown := u.Leader(t.Context()); leader != name {
				err = fmt.Errorf("%q leads: %w, %w", leader, err, unknown)
			}
			return err
		})
		u.works(t, fmt.Sprintf("%s; the leader knows level %d", when, level))
		if got := u.versions(t).Level; got != u.old.level {
			t.Fatalf("%s: the cluster is at level %d, want %d", when, got, u.old.level)
		}
		u.dies(t, name)
	}
}

// dies kills a replica under running programs, and starts it again in its own version.
func (u *upgrade) dies(t *testing.T, name string) {
	t.Helper()
	for _, r := range u.versions(t).Replicas {
		if r.Name != name {
			continue
		}
		u.install(t, u.of(r.Level))
	}
	defer u.install(t, u.new)
	kill(t, u.Cluster, name)
	u.must(t, "qsub", "-h", "--", "/bin/true")
	restart(t, u.Cluster, name)
}

func (u *upgrade) of(level uint32) version {
	if level == u.old.level {
		return u.old
	}
	return u.new
}

// versions is the status of a cluster as far as versions go.
type versions struct {
	Level    uint32 `json:"feature_level"`
	Replicas []struct {
		Name  string `json:"name"`
		Level uint32 `json:"feature_level"`
	} `json:"replicas"`
	Moms []struct {
		Name  string `json:"name"`
		Level uint32 `json:"feature_level"`
	} `json:"moms"`
}

func versionsOf(t *testing.T, c *devrun.Cluster) (s versions, err error) {
	t.Helper()
	out, err := c.Output(t.Context(), "rampart", "cluster", "status", "--json")
	if out == "" {
		return s, err
	}
	return s, json.Unmarshal([]byte(out), &s)
}

func (u *upgrade) versions(t *testing.T) versions {
	t.Helper()
	s, err := versionsOf(t, u.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func awaitLevel(t *testing.T, c *devrun.Cluster, level uint32) {
	t.Helper()
	waitFor(t, patience, fmt.Sprintf("feature level %d", level), func() error {
		s, err := versionsOf(t, c)
		if err == nil && s.Level != level {
			err = fmt.Errorf("it is %d", s.Level)
		}
		return err
	})
}

// saysWhomItWaitsFor: the status names those that hold the level down.
func (u *upgrade) saysWhomItWaitsFor(t *testing.T, names ...string) {
	t.Helper()
	out, err := u.Output(t.Context(), "rampart", "cluster", "status")
	if want := "feature level " + fmt.Sprint(u.old.level) + ": it rises when these answer and are upgraded, too: " + strings.Join(names, ", "); !strings.Contains(out, want) {
		t.Errorf("%q is not in the status (%v):\n%s", want, err, out)
	}
}
