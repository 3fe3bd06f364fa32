package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"rampart/fsm/pbs"
)

// NotCheckpointed says that a checkpoint failed, and that the job runs on.
type NotCheckpointed struct {
	Reason string `json:"reason"`
}

// CheckpointMade says that a checkpoint was made of a job that runs on.
type CheckpointMade struct{}

// Checkpoint returns the folder of a job's checkpoint, by PBS's name for it.
func (s *Spool) Checkpoint(job pbs.JobID) string {
	return filepath.Join(s.checkpoints, string(job)+".CK")
}

// NewCheckpoint makes the folder for a new checkpoint. The function that it returns, which is
// to be called in any case, drops the older one, or the new one if it is not good.
func (s *Spool) NewCheckpoint(job pbs.JobID) (settle func(good bool) error, err error) {
	dir := s.Checkpoint(job)
	old := s.OlderCheckpoint(job)
	begun := false
	settle = func(good bool) error {
		switch {
		case good:
			return s.KeepCheckpoint(job)
		case !begun:
			return restoreOld(dir, old)
		}
		return errors.Join(os.RemoveAll(dir), restoreOld(dir, old))
	}
	if err := restoreOld(dir, old); err != nil { // of an attempt that a crash has cut off
		return settle, fmt.Errorf("make a checkpoint of %s: %w", job, err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return settle, fmt.Errorf("make a checkpoint of %s: %w", job, err)
	}
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return settle, fmt.Errorf("make a checkpoint of %s: %w", job, err)
	}
	begun = true
	if err := os.Mkdir(dir, 0o700); err != nil {
		return settle, fmt.Errorf("make a checkpoint of %s: %w", job, err)
	}
	return settle, nil
}

// SettleCheckpoint leaves the older checkpoint of a job where an attempt at a newer one was cut off.
func (s *Spool) SettleCheckpoint(job pbs.JobID) error {
	dir := s.Checkpoint(job)
	if err := restoreOld(dir, dir+".old"); err != nil {
		return fmt.Errorf("settle the checkpoint of %s: %w", job, err)
	}
	return nil
}

// OlderCheckpoint returns the folder that a job's older checkpoint is in while a newer one is made.
func (s *Spool) OlderCheckpoint(job pbs.JobID) string { return s.Checkpoint(job) + ".old" }

// KeepCheckpoint makes the newer checkpoint of a job the one that counts. The older one is put out of
// the way before it is removed: what a crash leaves of it must not be taken for one.
func (s *Spool) KeepCheckpoint(job pbs.JobID) error {
	gone := s.Checkpoint(job) + ".gone"
	if err := os.RemoveAll(gone); err != nil {
		return fmt.Errorf("keep the checkpoint of %s: %w", job, err)
	}
	if err := os.Rename(s.OlderCheckpoint(job), gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the checkpoint of %s: %w", job, err)
	}
	if err := os.RemoveAll(gone); err != nil {
		return fmt.Errorf("keep the checkpoint of %s: %w", job, err)
	}
	return nil
}

// SealCheckpoint writes the record of a checkpoint beside what scripts have saved, and returns when
// it is synced.
func (s *Spool) SealCheckpoint(job pbs.JobID, name string, record []byte) error {
	dir := s.Checkpoint(job)
	if err := s.disk.put(filepath.Join(dir, name), record, 0o600); err != nil {
		return fmt.Errorf("seal the checkpoint of %s: %w", job, err)
	}
	if err := s.disk.syncDir(filepath.Dir(dir)); err != nil {
		return fmt.Errorf("seal the checkpoint of %s: %w", job, err)
	}
	return nil
}

// restoreOld puts an older checkpoint back into its place, if there is one aside.
func restoreOld(dir, old string) error {
	if _, err := os.Lstat(old); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(old, dir)
}

// DropCheckpoint removes what is kept of a job's checkpoints.
func (s *Spool) DropCheckpoint(job pbs.JobID) error {
	dir := s.Checkpoint(job)
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+".old"), os.RemoveAll(dir+".gone")); err != nil {
		return fmt.Errorf("drop the checkpoint of %s: %w", job, err)
	}
	return nil
}
