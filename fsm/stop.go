package fsm

import (
	"fmt"

	"rampart/fsm/command"
	"rampart/fsm/state"
)

// marksKept is how many marks of digests a replica keeps: a comparison asks for the
// latest but one at most.
const marksKept = 8

// Stopped returns a channel that is closed when the machine will apply nothing more:
// it met what it must not skip, or has drifted. Err then says what.
func (f *FSM) Stopped() <-chan struct{} { return f.stopped }

// Err returns why the machine stopped, nil if it did not. It wraps command.ErrTooOld
// or command.ErrDiffers, or tells of an entry that cannot be read.
func (f *FSM) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// stop ends all applying: the state stays as it is, and the replica has to end.
func (f *FSM) stop(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
		close(f.stopped)
	}
	return f.err
}

// checkLevel stops the machine if the state wants a newer build.
func (f *FSM) checkLevel(v *state.View) error {
	if level := v.Cluster().FeatureLevel; level > f.opts.FeatureLevel {
		return f.stop(fmt.Errorf("%w: it is at feature level %d, this build knows %d", command.ErrTooOld, level, f.opts.FeatureLevel))
	}
	return nil
}

// checkKinds stops a machine that passes for an older build at what that would not know.
func (f *FSM) checkKinds(index uint64, e command.Entry) error {
	if f.opts.FeatureLevel >= command.FeatureLevel {
		return nil // Decode has read it
	}
	if level := e.Level(); level > f.opts.FeatureLevel {
		return f.stop(fmt.Errorf("log entry %d: %w: it holds a command of feature level %d, this build knows %d", index, command.ErrTooOld, level, f.opts.FeatureLevel))
	}
	return nil
}

// compare notes the digest at a CompareDigests, and stops the machine if a majority
// had another one at an earlier one.
func (f *FSM) compare(c *command.CompareDigests, v *state.View) {
	f.mu.Lock()
	f.marks = append(f.marks, command.Mark{Index: v.Index(), Digest: v.Digest()})
	f.marks = f.marks[max(0, len(f.marks)-marksKept):]
	marks := f.marks
	f.mu.Unlock()
	for _, m := range marks {
		if m.Index == c.Index && m.Digest != c.Digest {
			_ = f.stop(fmt.Errorf("%w: at index %d the digest is %016x here and %016x there", command.ErrDiffers, m.Index, m.Digest, c.Digest))
		}
	}
}

// Marks returns the latest digests noted, the oldest first.
func (f *FSM) Marks() []command.Mark {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]command.Mark(nil), f.marks...)
}
