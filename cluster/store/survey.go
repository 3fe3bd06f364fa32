package store

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/hashicorp/raft"
)

// damaged adds to an error about a damaged store what to do about it.
func damaged(err error, dir string) error {
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w. Move %s away and start again: this replica then joins as an empty disk and is sent the state", err, dir)
}

// survey reads what Raft will build on, before Raft does: the newest snapshot that
// is whole, and every entry after it. It returns the latest members. What it cannot
// read it refuses: Raft would panic, or begin without it.
func survey(log raft.LogStore, snapshots raft.SnapshotStore, logger *slog.Logger) (raft.Configuration, error) {
	var members raft.Configuration
	base, err := newestWhole(snapshots, logger)
	if err != nil {
		return members, err
	}
	next := uint64(1)
	if base != nil {
		members, next = base.Configuration, base.Index+1
	}
	last, err := log.LastIndex()
	if err != nil {
		return members, err
	}
	for ; next <= last; next++ {
		var l raft.Log
		if err := log.GetLog(next, &l); err != nil {
			return members, fmt.Errorf("%w: entry %d of a log that ends at %d: %w", ErrDamaged, next, last, err)
		}
		if l.Type == raft.LogConfiguration {
			members = raft.DecodeConfiguration(l.Data)
		}
	}
	return members, nil
}

// newestWhole returns the snapshot that Raft will restore, nil if there is none.
func newestWhole(snapshots raft.SnapshotStore, logger *slog.Logger) (*raft.SnapshotMeta, error) {
	all, err := snapshots.List()
	if err != nil {
		return nil, err
	}
	var first error
	for _, m := range all {
		meta, content, err := snapshots.Open(m.ID)
		if err == nil {
			return meta, content.Close()
		}
		logger.Error("a snapshot is damaged; an older one is taken if the log reaches back to it", "snapshot", m.ID, "err", err)
		if first == nil {
			first = err
		}
	}
	return nil, first
}
