package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Fact is something that happened to a task. It is kept until a commit has
// acknowledged it.
type Fact struct {
	Version int     `json:"version"`
	Seq     uint64  `json:"seq"`
	Task    TaskKey `json:"task"`

	Started *Started `json:"started,omitempty"`
	Ended   *Ended   `json:"ended,omitempty"`
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
}

// Used is one value of resources_used.
type Used struct {
	Resource string `json:"resource"`
	Value    string `json:"value"`
}

// openFacts reads the reports. A temporary file is what a crash left; what it was to
// say was acknowledged to nobody.
func (s *Spool) openFacts() error {
	entries, err := os.ReadDir(s.reports())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		var f Fact
		if _, err := readJSON(filepath.Join(s.reports(), e.Name()), &f); err != nil {
			return err
		}
		if f.Version != version || e.Name() != factName(f.Seq) {
			return fmt.Errorf("%s: not a fact of version %d", e.Name(), version)
		}
		s.facts = append(s.facts, f)
		s.lastSeq = max(s.lastSeq, f.Seq)
	}
	slices.SortFunc(s.facts, func(a, b Fact) int { return int(int64(a.Seq) - int64(b.Seq)) })
	return nil
}

func (s *Spool) reports() string { return filepath.Join(s.home, "mom_priv", "reports") }

func factName(seq uint64) string {
	n := strconv.FormatUint(seq, 10)
	return strings.Repeat("0", max(0, 20-len(n))) + n + ".json"
}

// Append saves a fact under the next number. The same fact of the same task that still
// waits is not saved again, so that a task may repeat itself after a crash.
func (s *Spool) Append(f Fact) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, old := range s.facts {
		if old.Task == f.Task && (old.Started != nil) == (f.Started != nil) && (old.Ended != nil) == (f.Ended != nil) {
			return nil
		}
	}
	f.Version, f.Seq = version, s.lastSeq+1
	if err := s.disk.putJSON(filepath.Join(s.reports(), factName(f.Seq)), f); err != nil {
		return fmt.Errorf("save fact %d of %s: %w", f.Seq, f.Task, err)
	}
	s.lastSeq = f.Seq
	s.facts = append(s.facts, f)
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// Pending returns the oldest facts that are not acknowledged, at most limit, and a
// channel that is closed when another is appended.
func (s *Spool) Pending(limit int) ([]Fact, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.facts[:min(limit, len(s.facts))]), s.changed
}

// Acknowledge forgets the facts up to seq, which a commit has. It returns an error
// when the cluster knows more facts of this spool than there are: the disk is an old
// copy, and what it numbers from now on would be taken for repeats.
func (s *Spool) Acknowledge(seq uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq > s.lastSeq && s.lastSeq > 0 {
		return fmt.Errorf("acknowledge fact %d: this spool has only written %d: it is an old copy", seq, s.lastSeq)
	}
	s.lastSeq = max(s.lastSeq, seq)
	var errs []error
	for len(s.facts) > 0 && s.facts[0].Seq <= seq {
		old := s.facts[0].Seq
		s.facts = s.facts[1:]
		if s.kept > 0 {
			errs = append(errs, s.disk.remove(filepath.Join(s.reports(), factName(s.kept))))
		}
		s.kept = old // until there is a later one: the next number follows from it
	}
	return errors.Join(errs...)
}
