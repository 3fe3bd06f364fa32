package daylog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const dayForm = "20060102"

// Expired returns which of the days (YYYYMMDD), as of today, were over more than keep days
// ago, the oldest first; 0 keeps all. It leaves keep of them in any case: a clock that was
// ahead for a moment must not empty a folder.
func Expired(days []string, today string, keep int) []string {
	now, err := time.Parse(dayForm, today)
	if err != nil || keep <= 0 {
		return nil
	}
	oldest := now.AddDate(0, 0, -keep).Format(dayForm)
	all := slices.Sorted(slices.Values(days))
	all = all[:max(0, len(all)-keep)]
	i, _ := slices.BinarySearch(all, oldest)
	return all[:i]
}

// IsDay reports whether a file name is the name of a day.
func IsDay(name string) bool {
	return len(name) == len(dayForm) && strings.Trim(name, "0123456789") == ""
}

// SetKeep changes how many days files are kept, 0 for ever. It takes effect with the next
// file that is begun.
func (l *Log) SetKeep(days int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opts.KeepDays = days
}

// dropExpired removes the files that have been kept for long enough.
func (l *Log) dropExpiredLocked() error {
	if l.opts.KeepDays <= 0 || l.opts.File != "" {
		return nil
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return fmt.Errorf("list old logs: %w", err)
	}
	var days []string
	for _, e := range entries {
		if IsDay(e.Name()) && e.Type().IsRegular() {
			days = append(days, e.Name())
		}
	}
	var errs []error
	for _, day := range Expired(days, l.day, l.opts.KeepDays) {
		errs = append(errs, os.Remove(filepath.Join(l.dir, day)))
	}
	return errors.Join(errs...)
}
