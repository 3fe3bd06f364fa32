package cluster_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"rampart/cluster"
	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/build"
)

// smallDisk mounts a real file system of so many MiB, for which it takes root.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// fill takes all the room there is.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := bytes.Repeat([]byte{1}, 1<<20); err == nil; {
		_, err = f.Write(chunk)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// TestDisk_RealFileSystemFullAndRoomAgain: the log is on a file system that fills up
// under it. The replica ends (L12), starts on the full disk, waits, and has lost nothing
// that was acknowledged when there is room again (L1).
func TestDisk_RealFileSystemFullAndRoomAgain(t *testing.T) {
	dir := smallDisk(t, "128m")
	filler := filepath.Join(dir, "filler")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0)
		m := w.add("s1")
		var stores store.Backend
		m.disk = func() (_ store.Backend, err error) {
			stores, err = store.OpenFiles(filepath.Join(dir, "raft"), quiet())
			return stores, err
		}
		m.open(true)
		m.run()
		w.until("a leader", 5*time.Second, func() bool { return w.leader() == m })
		fill(t, filler)
		// The room is looked at every two seconds; this is faster.
		var err error
		acknowledged := 0
		for err == nil && acknowledged < 10_000 {
			if _, err = m.replica.Propose(t.Context(), big(acknowledged)); err == nil {
				acknowledged++
			}
		}
		if !errors.Is(err, cluster.ErrOutcomeUnknown) {
			t.Fatalf("after %d: %v", acknowledged, err)
		}
		if err := m.ended(5 * time.Second); !errors.Is(err, store.ErrFailed) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Run: %v", err)
		}
		if err := stores.Close(); err != nil { // as the end of the process does
			t.Fatal(err)
		}
		m.restart()
		w.until("the word that it waits", 5*time.Second, func() bool { return alarm(m, member.AlarmFull) != nil })
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		w.until("a leader", 10*time.Second, func() bool { return w.leader() == m })
		for i := range acknowledged {
			mustSee(t, m, string(m.named(i)))
		}
		w.until("changes again", 10*time.Second, func() bool { return m.write("after") == nil })
	})
}

// big is a proposal that takes its room in the log.
func big(i int) command.Proposal {
	return command.Proposal{
		ID: request(), Asker: pbs.User{Name: "u", Host: "h"},
		Commands: []command.Command{&command.PutReplica{Replica: state.Replica{
			Name: (*server)(nil).named(i), Address: string(bytes.Repeat([]byte{'a'}, 100<<10)),
		}}},
	}
}

// aloneOn runs a replica alone in a world, which keeps its files in a folder, and waits until it leads.
func aloneOn(t *testing.T, dir string) (*world, *server) {
	w := newWorld(t, 0)
	m := w.add("s1")
	m.disk = func() (_ store.Backend, err error) { return store.OpenFiles(filepath.Join(dir, "raft"), quiet()) }
	m.open(true)
	m.run()
	w.until("a leader", 5*time.Second, func() bool { return w.leader() == m })
	return w, m
}

// TestDisk_LogLetsGoOfItsBytes: a disk of 160 MiB takes many times as much, since what stays behind
// a snapshot is bounded in bytes, and entries take the pages that are free in the file. With little
// room left changes are taken still, and jobs again soon after what took it is gone.
func TestDisk_LogLetsGoOfItsBytes(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("six hundred megabytes through one replica: short tests play it without the race detector")
	}
	dir := smallDisk(t, "160m")
	synctest.Test(t, func(t *testing.T) {
		w, m := aloneOn(t, dir)
		change := func(i int) {
			t.Helper()
			p := big(0) // always the same: the state stays small
			p.Commands[0].(*command.PutReplica).Replica.Address = string(bytes.Repeat([]byte{'a' + byte(i%26)}, 900<<10))
			if _, err := m.replica.Propose(t.Context(), p); err != nil {
				t.Fatalf("after %d: %v", i, err)
			}
			<-time.After(200 * time.Millisecond)
		}
		for i := range 500 {
			change(i)
		}
		filler := filepath.Join(dir, "filler")
		var s unix.Statfs_t
		if err := unix.Statfs(dir, &s); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filler, make([]byte, int64(s.Bavail)*s.Bsize-30<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		for i := range 100 { // from the pages of the file, with no room beside
			change(i)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		w.until("jobs are taken", 10*time.Second, func() bool {
			_, err := m.replica.Propose(t.Context(), command.Proposal{Commands: []command.Command{&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}}}})
			return !errors.Is(err, cluster.ErrNoRoom)
		})
	})
}

// TestDisk_DeletedJobsGiveTheirRoomBack: the scripts of jobs fill a small disk, so that the next snapshot finds no
// room beside the last. Deletes and what is administered are taken still, and seconds after the jobs are gone their room is there
// again, though the last snapshot is large.
func TestDisk_DeletedJobsGiveTheirRoomBack(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("a disk of scripts through one replica: short tests play it without the race detector")
	}
	dir := smallDisk(t, "192m")
	synctest.Test(t, func(t *testing.T) {
		w, m := aloneOn(t, dir)
		noise := rand.NewChaCha8([32]byte{19})
		var jobs []pbs.JobID
		submit := func() error {
			script := make([]byte, pbs.LargeScript-1)
			_, _ = noise.Read(script)
			p := command.Proposal{ID: request(), Asker: pbs.User{Name: "ann", Host: "h"}, Commands: []command.Command{
				&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Script: script},
			}}
			out, err := m.replica.Propose(t.Context(), p)
			if err == nil {
				jobs = append(jobs, out.Result.Job)
			}
			return err
		}
		var err error
		for err == nil && len(jobs) < 2_000 {
			if err = submit(); len(jobs)%20 == 0 { // in calms there are snapshots, too
				if saved, err := m.replica.Snapshot(t.Context()); err == nil {
					_ = saved.Close()
				}
			}
			<-time.After(20 * time.Millisecond)
		}
		if !errors.Is(err, cluster.ErrNoRoom) {
			t.Fatalf("after %d jobs: %v", len(jobs), err)
		}
		for i := range 5 { // it goes on like this for a while
			mustWrite(t, m, string(m.named(i)))
			<-time.After(5 * time.Second)
		}
		began := time.Now()
		for _, j := range jobs {
			p := command.Proposal{ID: request(), Asker: pbs.User{Name: "ann", Host: "h"}, Commands: []command.Command{&command.DeleteJob{Job: j}}}
			if _, err := m.replica.Propose(t.Context(), p); err != nil {
				t.Fatalf("delete %s: %v", j, err)
			}
		}
		w.until("a job is taken", 15*time.Second, func() bool { return submit() == nil })
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("it took %s from the first deletion on", took)
		}
		w.until("a large script is taken", 30*time.Second, func() bool { return m.replica.RoomFor(1<<20) == nil })
		w.until("no alarm", 10*time.Second, func() bool { return alarm(m, member.AlarmLow) == nil && alarm(m, member.AlarmSnapshot) == nil })
	})
}
