package cluster

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// A Beginning is a snapshot that a new cluster begins with.
type Beginning struct {
	// Open opens the snapshot file.
	Open func() (io.ReadCloser, error)
	// Epoch is random, and not that of the founding; LastRecord is the number up to which
	// accounting was brought along.
	Epoch, LastRecord uint64
}

// A founding makes a new cluster, and puts in what it begins with.
type founding struct {
	init      *command.InitCluster // nil: this replica founds none
	beginning *Beginning           // nil: it begins with nothing
	level     uint32               // that this build knows
	machine   viewer
	propose   func(command.Entry, ...command.Command) error
	logger    *slog.Logger
}

// found makes the cluster, before its first term starts: so nobody sees it without the state
// that it begins with. What was done before a crash is not done again.
func (f *founding) found(at pbs.Time) error {
	if f.init != nil && f.machine.View().Cluster().ID == "" {
		if err := refusedIsDone(f.propose(command.Entry{Time: at}, f.init)); err != nil {
			return err
		}
	}
	if b := f.beginning; b != nil && !f.begun() {
		f.logger.Info("beginning with the state of a snapshot")
		if err := f.begin(*b, at); err != nil {
			return fmt.Errorf("begin with the state of a snapshot: %w", err)
		}
	}
	return nil
}

// begun reports whether the cluster has left the epoch of its founding: by its beginning, and
// maybe by later ones. The process that founded it may live, and lead, for years.
func (f *founding) begun() bool {
	return f.init == nil || f.machine.View().Cluster().Epoch != f.init.Epoch
}

// refusedIsDone drops a refusal: it was in the log already, not yet in the view.
func refusedIsDone(err error) error {
	if pbs.CodeOf(err) == pbs.InvalidRequest {
		return nil
	}
	return err
}

// begin raises the level, at which states can be put back, and puts this one in.
func (f *founding) begin(b Beginning, at pbs.Time) (err error) {
	level := &command.RaiseLevel{Level: f.level}
	if err := refusedIsDone(f.propose(command.Entry{Time: at}, level)); err != nil {
		return err
	}
	if f.begun() { // it was in the log already, not yet in the view
		return nil
	}
	file, err := b.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	parts := uint32(0)
	for buf := make([]byte, command.MaxPart); ; parts++ {
		n, err := io.ReadFull(file, buf)
		if n == 0 && errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		part := &command.StagePart{Key: beginning, Number: parts, Data: buf[:n]}
		if err := f.propose(command.Entry{Time: at}, part); err != nil {
			return err
		}
	}
	restore := &command.Restore{Key: beginning, Parts: parts, Epoch: b.Epoch, Founding: true, LastRecord: b.LastRecord}
	return f.propose(command.Entry{Time: at}, restore)
}

// beginning is the key of the pieces of the file that a cluster begins with.
const beginning = "beginning"
