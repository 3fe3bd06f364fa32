// Package disk makes what was done in a folder survive the loss of power. It owns no file, starts nothing, and is safe for
// concurrent use, for it keeps no state.
package disk

import (
	"errors"
	"os"
)

// SyncDir returns when the disk has which files the folder holds: those that were made, renamed or removed in it before. What is in
// a file is its own to sync.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
