package ledger

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func fill(t *testing.T, l *Ledger, first, last uint64) {
	t.Helper()
	for n := first; n <= last; n++ {
		l.Append(entry(n, n))
	}
	if err := l.WaitSynced(t.Context(), last); err != nil {
		t.Fatal(err)
	}
}

func daysIn(t *testing.T, dir string) []string {
	t.Helper()
	days, err := sidecars(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(days)
	return days
}

// Twelve records are written a day. What is old goes, with its sidecar, and nobody looks for
// it again: neither after a restart, nor when the log gives it once more.
func TestKeep_OldFilesGoAndStayAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, there, log := t.TempDir(), t.TempDir(), &memLog{}
		all, stopAll := start(t, there, &memLog{})
		fill(t, all, 1, 100)
		stopAll()
		everything := daysIn(t, there)

		l, stop := startKeeping(t, dir, 2, log, &other{dir: there})
		fill(t, l, 1, 100)
		recent := everything[len(everything)-3:]
		eventually(t, "only recent days are left", func() bool { return slices.Equal(daysIn(t, dir), recent) })
		stop()
		l, stop = startKeeping(t, dir, 2, log, &other{dir: there})
		for n := uint64(1); n <= 100; n++ {
			l.Append(entry(n, n)) // replayed
		}
		fill(t, l, 101, 101)
		time.Sleep(time.Hour)
		stop()
		if got := daysIn(t, dir); !slices.Equal(got, recent) {
			t.Errorf("after a restart the days are %v, want %v", got, recent)
		}
		for name, content := range dayFiles(t, dir) {
			if validDay(name) && name != recent[2] && content != dayFiles(t, there)[name] {
				t.Errorf("%s is not what it was", name)
			}
		}
		if len(log.alarms) > 0 {
			t.Errorf("alarms: %q", log.alarms)
		}
	})
}

// remover is a peer that has removed what is old.
type remover struct{ *Ledger }

func (r remover) Name() string { return "s2" }
func (r remover) Records(_ context.Context, first, last uint64, yield func(Record) error) (kept uint64, err error) {
	for rec, err := range read(r.opts.Dir, first, last, func(string) {}) {
		if err == nil {
			err = yield(rec)
		}
		if err != nil {
			return r.Kept(), err
		}
	}
	return r.Kept(), nil
}

// A replica that joins is sent what there is, at once, and nothing is said to be lost.
func TestKeep_JoinerGoesOnWithWhatIsKept(t *testing.T) {
	for _, snapshot := range []uint64{100, 20} { // the second is all gone elsewhere
		synctest.Test(t, func(t *testing.T) {
			dir, there, log := t.TempDir(), t.TempDir(), &memLog{}
			old, stopOld := startKeeping(t, there, 2, &memLog{})
			fill(t, old, 1, 100)
			eventually(t, "old days are gone", func() bool { return old.Kept() > 20 })
			began := time.Now()
			l, stop := start(t, dir, log, remover{old})
			l.Expect(snapshot)
			if err := l.WaitSynced(t.Context(), snapshot); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("it waited %s", took)
			}
			time.Sleep(time.Hour)
			stop()
			stopOld()
			if want := daysIn(t, there); snapshot == 100 && !slices.Equal(daysIn(t, dir), want) {
				t.Errorf("it has %v, the other %v", daysIn(t, dir), want)
			}
			if len(log.alarms) > 0 {
				t.Errorf("alarms: %q", log.alarms)
			}
		})
	}
}

func TestKeep_NothingIsRemovedUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l, stop := start(t, dir, &memLog{})
		fill(t, l, 1, 100)
		time.Sleep(time.Minute)
		stop()
		if n := len(daysIn(t, dir)); n != 9 || l.Kept() != 1 {
			t.Errorf("%d days are left, from record %d", n, l.Kept())
		}
	})
}

func TestExpired_OverlappingDaysStay(t *testing.T) {
	all := []span{{"20260101", 1, 50, 9}, {"20260102", 10, 20, 9}, {"20260103", 45, 60, 9}, {"20260104", 61, 70, 9}}
	gone, kept := expired(all, "20260104", 1)
	if !slices.Equal(gone, []string{"20260102"}) && len(gone) > 0 {
		t.Errorf("%v go", gone)
	}
	if kept > 45 {
		t.Errorf("records below %d are not missed, and 45 stays", kept)
	}
	gone, kept = expired(all[2:], "20260109", 1)
	if !slices.Equal(gone, []string{"20260103"}) || kept != 61 {
		t.Errorf("%v go, %d stays", gone, kept)
	}
}
