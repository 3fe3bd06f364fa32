package server

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rampart/cluster/ledger"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
	"rampart/transport/daylog"
)

// threeDays is a state in which a job was queued on each of three days, and the folder of its
// accounting.
func threeDays(t *testing.T) (v *state.View, accounting string) {
	t.Helper()
	store, accounting := state.NewStore(), t.TempDir()
	l := ledger.New(ledger.Options{
		Dir: accounting, Log: daylog.New(t.TempDir(), "Server@s1", daylog.Options{}), View: store.View, Logger: slog.New(slog.DiscardHandler),
	})
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	index := uint64(0)
	run := func(at time.Time, c command.Command) {
		index++
		out, events := command.Run(store, index, 1, command.Entry{
			Time: pbs.Time(at.UnixNano()), Proposals: []command.Proposal{{Commands: []command.Command{c}}},
		})
		if out[0].Err() != nil {
			t.Fatal(out[0].Err())
		}
		l.OnEvents(store.Publish(), events)
	}
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	run(noon, &command.InitCluster{ID: "c", Name: "srv", Epoch: 7, Server: attr.List{}.Set("timezone", "", "UTC")})
	for day := range 3 {
		at := noon.AddDate(0, 0, day)
		run(at, &command.TermStarted{Leader: "s1", Clocks: []pbs.Time{pbs.Time(at.UnixNano())}})
		run(at, &command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Queue: "workq"})
	}
	v = store.View()
	if err := l.WaitSynced(t.Context(), v.Cluster().LastRecord); err != nil {
		t.Fatal(err)
	}
	end()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return v, accounting
}

// Damage to the backup before does not get into the next one, nor is it in its way.
func TestBackup_IsMadeBesideADamagedOne(t *testing.T) {
	v, accounting := threeDays(t)
	take := func(context.Context) (io.ReadCloser, error) {
		var b bytes.Buffer
		err := snapshot.Write(&b, v)
		return io.NopCloser(&b), err
	}
	dir, now := t.TempDir(), time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	first, err := makeBackup(t.Context(), dir, accounting, take, now)
	if err != nil {
		t.Fatal(err)
	}
	day := filepath.Join(first, backupAccounting, "20261121")
	text, err := os.ReadFile(day)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(day, text, 0o640); err != nil {
		t.Fatal(err)
	}
	second, err := makeBackup(t.Context(), dir, accounting, take, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if _, records, err := VerifyBackup(t.Context(), second); err != nil || records != v.Cluster().LastRecord {
		t.Errorf("the second one has records up to %d, %v", records, err)
	}
}

// Files of finished days are shared with the backup before; the last one, which is written
// on, must not be.
func TestBackup_SharesFinishedDaysOnly(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	names := []string{"20261119", ".20261119.index", "20261120", ".20261120.index", ".lost"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(from, name), []byte(name), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := linkDays(from, to); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		old, err1 := os.Stat(filepath.Join(from, name))
		now, err2 := os.Stat(filepath.Join(to, name))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if shared, want := os.SameFile(old, now), i != 2 && i != 3; shared != want {
			t.Errorf("%s is shared: %v, want %v", name, shared, want)
		}
	}
}

// Only whole backups count, the latest are kept, and nothing else is touched.
func TestBackup_Rotates(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"backup-20261119T000000Z", "backup-20261121T000000Z", "backup-20261120T000000Z", ".making", "mine", "backup-by-hand",
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := rotate(dir, 2); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if len(left) != 5 || left[1] != "backup-20261120T000000Z" || left[2] != "backup-20261121T000000Z" {
		t.Errorf("left: %q", left)
	}
}
