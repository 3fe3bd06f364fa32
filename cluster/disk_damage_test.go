package cluster_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"rampart/cluster/store"
	"rampart/transport/build"
)

// written is how many names the disk of writtenDisk holds, in its log and snapshots.
const written = 300

// writtenDisk returns the folder of a replica that has stopped: a log, and two
// snapshots that it reaches back to.
func writtenDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		m := fileWorld(t, dir, true)
		m.run()
		m.w.until("a leader", 5*time.Second, func() bool { return m.w.leader() == m })
		for i := range written {
			mustWrite(t, m, fmt.Sprintf("n%d", i))
			if i == written/3 || i == written/2 {
				saved, err := m.replica.Snapshot(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				_ = saved.Close()
			}
		}
		if err := m.stop(nil); err != nil {
			t.Fatal(err)
		}
	})
	return dir
}

// fileWorld opens a replica that is alone, on files; nil if it is refused.
func fileWorld(t *testing.T, dir string, first bool) *server {
	w := newWorld(t, 0)
	m := w.add("s1")
	m.disk = func() (store.Backend, error) { return store.OpenFiles(dir, quiet()) }
	m.open(first)
	return m
}

// verdictOn starts a replica on the folder and returns why it refused, or nil when it
// serves all that was written.
func verdictOn(t *testing.T, dir string) (refusal error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		m := w.add("s1")
		m.disk = func() (store.Backend, error) { return store.OpenFiles(dir, quiet()) }
		if refusal = m.tryOpen(false); refusal != nil {
			return
		}
		m.run()
		w.until("a leader or an end", 10*time.Second, func() bool { return w.leader() == m || len(m.done) > 0 })
		if len(m.done) > 0 {
			refusal = <-m.done
			m.done <- nil
			return
		}
		for i := range written {
			if _, ok := m.machine.View().Replica(m.named(i)); !ok {
				t.Errorf("it serves a state without n%d", i)
			}
		}
	})
	return refusal
}

func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestDamage_NothingIsServedThatWasNotWritten flips bits in files of a stopped
// replica: it starts with all that was written, or refuses and says which file and
// what to do. It never panics.
func TestDamage_NothingIsServedThatWasNotWritten(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("one replica starts two dozen times: short tests play it without the race detector")
	}
	dir := writtenDisk(t)
	var files []string
	for _, pattern := range []string{"log.db", "snapshots/*/*"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		files = append(files, found...)
	}
	if len(files) != 5 {
		t.Fatalf("files %v", files)
	}
	random := rand.New(rand.NewPCG(1, 2))
	runs := 200
	if testing.Short() {
		runs = 24
	}
	refused, served := 0, 0
	for range runs {
		path, _ := filepath.Rel(dir, files[random.IntN(len(files))])
		if random.IntN(2) == 0 {
			path = "log.db"
		}
		broken := copyDir(t, dir)
		b, err := os.ReadFile(filepath.Join(broken, path))
		if err != nil {
			t.Fatal(err)
		}
		at, bit := random.IntN(len(b)), random.IntN(8)
		b[at] ^= 1 << bit
		if err := os.WriteFile(filepath.Join(broken, path), b, 0o600); err != nil {
			t.Fatal(err)
		}
		refusal := verdictOn(t, broken)
		switch {
		case refusal == nil:
			served++
		case !errors.Is(refusal, store.ErrDamaged) || !strings.Contains(refusal.Error(), broken):
			t.Errorf("bit %d of byte %d of %s: %v", bit, at, path, refusal)
		default:
			refused++
		}
	}
	if refused == 0 || served == 0 {
		t.Errorf("%d refused, %d served: nothing is shown", refused, served)
	}
}

// TestDamage_ByHand: what a flipped bit brings about only now and then.
func TestDamage_ByHand(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	dir := writtenDisk(t)
	logBucket, values := []byte("logs"), []byte("conf")
	cases := []struct {
		name   string
		damage func(t *testing.T, dir string)
		serves bool
	}{
		{"nothing", func(*testing.T, string) {}, true},
		{"the last entry is gone", inBolt(func(tx *bbolt.Tx) error {
			c := tx.Bucket(logBucket).Cursor()
			c.Last()
			c.Prev() // the mark is the last one
			return c.Delete()
		}), false},
		{"an entry in the middle is gone", inBolt(func(tx *bbolt.Tx) error {
			c := tx.Bucket(logBucket).Cursor()
			for i, k := 0, []byte(nil); i < written-20; i++ {
				if k == nil {
					c.First()
				}
				k, _ = c.Next()
			}
			return c.Delete()
		}), false},
		{"the log is empty", inBolt(func(tx *bbolt.Tx) error {
			if err := tx.DeleteBucket(logBucket); err != nil {
				return err
			}
			_, err := tx.CreateBucket(logBucket)
			return err
		}), false},
		{"terms, votes and identity are gone", inBolt(func(tx *bbolt.Tx) error {
			if err := tx.DeleteBucket(values); err != nil {
				return err
			}
			_, err := tx.CreateBucket(values)
			return err
		}), false},
		{"the last write is not the latest", func(t *testing.T, dir string) { spoilMeta(t, dir) }, false},
		{"the log file is gone, the snapshots are not", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "log.db")); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"the newest snapshot is damaged", func(t *testing.T, dir string) { spoil(t, dir, "state.bin", 1) }, true},
		{"the newest snapshot is of another index", func(t *testing.T, dir string) { reindex(t, dir) }, true},
		{"all snapshots are damaged", func(t *testing.T, dir string) { spoil(t, dir, "state.bin", 2) }, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			broken := copyDir(t, dir)
			c.damage(t, broken)
			refusal := verdictOn(t, broken)
			if c.serves != (refusal == nil) || refusal != nil && !errors.Is(refusal, store.ErrDamaged) {
				t.Errorf("verdict: %v", refusal)
			}
			if refusal != nil && !strings.Contains(refusal.Error(), "Move "+broken+" away") {
				t.Errorf("it does not say what to do: %v", refusal)
			}
		})
	}
}

func inBolt(change func(*bbolt.Tx) error) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		db, err := bbolt.Open(filepath.Join(dir, "log.db"), 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Update(change), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// spoilMeta breaks the meta page of the last write, so that bolt takes the one before.
func spoilMeta(t *testing.T, dir string) {
	path := filepath.Join(dir, "log.db")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	tx := func(i int) byte { return b[i*page+16+48] } // the low byte is enough: they are one apart
	newest := 0
	if tx(1) == tx(0)+1 {
		newest = 1
	}
	b[newest*page+16+40] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// spoil changes a byte in the file of that name of the n newest snapshots.
func spoil(t *testing.T, dir, name string, n int) {
	all, _ := filepath.Glob(filepath.Join(dir, "snapshots", "*", name))
	for _, path := range all[len(all)-n:] {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 4
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// reindex lets the newest snapshot pass for one of a later index.
func reindex(t *testing.T, dir string) {
	all, _ := filepath.Glob(filepath.Join(dir, "snapshots", "*", "meta.json"))
	path := all[len(all)-1]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(b), `"Index":1`, `"Index":2`, 1)
	if text == string(b) {
		t.Fatalf("no index in %s", b)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
