package spool

import (
	"fmt"
	"slices"

	"rampart/fsm/pbs"
)

// A Fact is something that happened to a task. It is kept until a commit has
// acknowledged it.
type Fact struct {
	Version int     `json:"version"`
	Seq     uint64  `json:"seq"`
	Task    TaskKey `json:"task"`

	Started *Started `json:"started,omitempty"`
	Ended   *Ended   `json:"ended,omitempty"`
	Exiting *Exiting `json:"exiting,omitempty"`

	NotCheckpointed *NotCheckpointed `json:"not_checkpointed,omitempty"`
	CheckpointMade  *CheckpointMade  `json:"checkpoint_made,omitempty"`

	Hook *Hook `json:"hook,omitempty"`
}

// Exiting says that the program has ended and that its files are on their way, or that hooks of
// execjob_end run.
type Exiting struct {
	Hooks bool `json:"hooks,omitempty"`
}

// Started says that a job's first process runs.
type Started struct {
	Session int    `json:"session"`
	JobDir  string `json:"jobdir"`
	At      int64  `json:"at"` // nanoseconds of the mom's clock
}

// Ended says how a run ended.
type Ended struct {
	ExitStatus   int    `json:"exit_status"`
	Used         []Used `json:"used"`
	Comment      string `json:"comment,omitempty"`
	NeverStarted bool   `json:"never_started,omitempty"`
	Lost         bool   `json:"lost,omitempty"`
	StageOut     int    `json:"stageout_status,omitempty"`
	// StageInFailed says that the program was never started since its files did not come.
	StageInFailed bool `json:"stagein_failed,omitempty"`
	Checkpointed  bool `json:"checkpointed,omitempty"` // it goes on from what the host keeps
	// Keepers are the other hosts that keep parts of that.
	Keepers []pbs.HostName `json:"keepers,omitempty"`
	// Fault is the host whose fault it is that the program was never started; empty: none's.
	Fault pbs.HostName `json:"fault,omitempty"`
	// Present is what the hosts have used that kept vnodes to the end, if others were released.
	Present []Used `json:"present,omitempty"`
}

// Used is one value of resources_used.
type Used struct {
	Resource string `json:"resource"`
	Value    string `json:"value"`
	Type     string `json:"type,omitempty"` // of the resource, where a hook has set it
}

// Append saves a fact under the next number and returns when it is synced; facts that
// come together share one sync. The same fact of the same task that still waits is not
// saved again, so that a task may repeat itself after a crash.
func (s *Spool) Append(f Fact) error {
	s.mu.Lock()
	if s.knownLocked(f) {
		s.mu.Unlock()
		return nil
	}
	w := waiting{f, make(chan error, 1)}
	s.queue = append(s.queue, w)
	if !s.writing { // else whoever writes takes it along
		s.writing = true
		for len(s.queue) > 0 {
			s.writeQueueLocked()
		}
		s.writing = false
	}
	s.mu.Unlock()
	return <-w.done
}

// A waiting fact has no number yet.
type waiting struct {
	fact Fact
	done chan error
}

// repeats reports whether there may be several such facts of a task.
func (f Fact) repeats() bool {
	return f.Hook != nil || f.NotCheckpointed != nil || f.CheckpointMade != nil
}

func (s *Spool) knownLocked(f Fact) bool {
	if f.repeats() {
		return false // each run of a hook is another, and each attempt at a checkpoint
	}
	return slices.ContainsFunc(s.facts, func(old Fact) bool {
		return !old.repeats() && old.Task == f.Task && (old.Started != nil) == (f.Started != nil) && (old.Ended != nil) == (f.Ended != nil) &&
			(old.Exiting != nil) == (f.Exiting != nil) && (f.Exiting == nil || *old.Exiting == *f.Exiting)
	})
}

// writeQueueLocked gives up the lock while it writes.
func (s *Spool) writeQueueLocked() {
	batch := s.queue
	s.queue = nil
	facts := make([]Fact, len(batch))
	for i, w := range batch {
		facts[i] = w.fact
		facts[i].Version, facts[i].Seq = version, s.lastSeq+1+uint64(i)
	}
	s.mu.Unlock()
	err := s.journal.append(facts)
	s.mu.Lock()
	if err == nil {
		s.lastSeq += uint64(len(facts))
		s.facts = append(s.facts, facts...)
		close(s.changed)
		s.changed = make(chan struct{})
	} else {
		err = fmt.Errorf("save fact of %s: %w", batch[0].fact.Task, err)
	}
	for _, w := range batch {
		w.done <- err
	}
}

// Depth returns how many facts are not acknowledged.
func (s *Spool) Depth() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.facts)
}

// Pending returns the oldest facts that are not acknowledged, at most limit, and a
// channel that is closed when another is appended.
func (s *Spool) Pending(limit int) ([]Fact, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	facts := slices.Clone(s.facts[:min(limit, len(s.facts))])
	return facts, s.changed
}

// Told returns the number of the last fact that was acknowledged, and the tasks whose end
// still waits to be.
func (s *Spool) Told() (seq uint64, untold map[TaskKey]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seq, untold = s.lastSeq, make(map[TaskKey]bool)
	if len(s.facts) > 0 {
		seq = s.facts[0].Seq - 1
	}
	for _, f := range s.facts {
		if f.Ended != nil {
			untold[f.Task] = true
		}
	}
	return seq, untold
}

// Acknowledge forgets the facts up to seq, which a commit has. It returns an error
// when the cluster knows more facts of this spool than there are: the disk is an old
// copy, and what it numbers from now on would be taken for repeats.
func (s *Spool) Acknowledge(seq uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq > s.lastSeq {
		return fmt.Errorf("acknowledge fact %d: this spool has only written %d: it is an old copy", seq, s.lastSeq)
	}
	for len(s.facts) > 0 && s.facts[0].Seq <= seq {
		s.facts = s.facts[1:]
	}
	if len(s.facts) > 0 || s.writing {
		return nil
	}
	return s.journal.shrink(s.lastSeq + 1)
}
