package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rampart/transport/daylog"
	"rampart/transport/disk"
)

// keptName is the file that holds the lowest number of which the record is kept: those below
// were removed since they were old enough, and are not missed.
const keptName = ".kept"

// readKept returns the lowest number that is kept, 1 if nothing was removed.
func readKept(dir string) (uint64, error) {
	text, err := os.ReadFile(filepath.Join(dir, keptName))
	if errors.Is(err, fs.ErrNotExist) {
		return 1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the lowest record that is kept: %w", err)
	}
	kept, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 1, nil // cut off while it was written: nothing has been removed on its word
	}
	return max(kept, 1), nil
}

func writeKept(dir string, kept uint64) error {
	path := filepath.Join(dir, keptName)
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, kept)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	return errors.Join(err, disk.SyncDir(dir))
}

// prune removes the day files that have been kept for long enough, once for each day that
// is written. It runs in the writer's goroutine.
func (w *writer) prune() error {
	keep := w.ledger.opts.KeepDays
	if keep <= 0 || w.book == nil || w.book.open == nil || w.book.open.day == w.pruned {
		return nil
	}
	today := w.book.open.day
	all, err := spans(w.ledger.opts.Dir)
	if err != nil {
		return err
	}
	gone, kept := expired(all, today, keep)
	if len(gone) > 0 {
		w.replay.close()
		if err := w.ledger.remove(gone, kept); err != nil {
			return fmt.Errorf("remove old accounting files: %w", err)
		}
		w.kept = max(w.kept, kept)
		w.ledger.suspect("") // the mender looks what is left
	}
	w.pruned = today
	return nil
}

// expired chooses what goes, and tells the lowest number that stays: a file stays as long as
// a record in it is above one that does (days overlap where the time zone was changed).
func expired(all []span, today string, keep int) (gone []string, kept uint64) {
	var days []string
	for _, s := range all {
		days = append(days, s.day)
	}
	old := daylog.Expired(days, today, keep)
	stays := func(s span) bool { return !slices.Contains(old, s.day) }
	for again := true; again; {
		again, kept = false, 0
		for _, s := range all {
			if stays(s) && (kept == 0 || s.first < kept) {
				kept = s.first
			}
		}
		for _, s := range all {
			if !stays(s) && s.last >= kept {
				old = slices.DeleteFunc(old, func(day string) bool { return day == s.day })
				again = true
			}
		}
	}
	return old, kept
}

// remove notes first what is not missed any more: a crash leaves files that go the next day.
func (l *Ledger) remove(days []string, kept uint64) error {
	before, err := readKept(l.opts.Dir)
	if err != nil {
		return err
	}
	if err := writeKept(l.opts.Dir, max(before, kept)); err != nil {
		return err
	}
	for _, day := range days {
		for _, name := range []string{day, indexName(day)} {
			if err := os.Remove(filepath.Join(l.opts.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	l.opts.Logger.Info("removed old accounting files", "days", days, "kept", kept)
	return disk.SyncDir(l.opts.Dir)
}

// Kept returns the number of the lowest record that is kept here: a peer need not look for
// those below.
func (l *Ledger) Kept() uint64 {
	kept, err := readKept(l.opts.Dir)
	if err != nil {
		return 1
	}
	return kept
}

// oldElsewhere returns the numbers that a peer has removed.
func (l *Ledger) oldElsewhere() numbers {
	if below := l.removedBelow(); below > 1 {
		return numbers{{1, below - 1}}
	}
	return nil
}

// removedBelow returns the number below which a peer has removed records.
func (l *Ledger) removedBelow() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.removed
}
