package spool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
)

// A Refusal is the answer to an order that was not accepted.
type Refusal struct {
	Code    uint16 `json:"code"`
	Message string `json:"message"`
}

// ErrNewEpoch is returned for orders of an epoch that the mom has not registered in.
var ErrNewEpoch = errors.New("orders of another epoch: the mom must register first")

// ErrOldTerm is returned for orders of a leader that has been succeeded.
var ErrOldTerm = errors.New("orders of an earlier term")

// Epoch returns the epoch that the mom obeys, 0 before its first registration.
func (s *Spool) Epoch() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory.Epoch
}

// EnterEpoch is called when the mom has reported all its tasks to a cluster of the
// given epoch. A new one makes all earlier answers and numbers void.
func (s *Spool) EnterEpoch(epoch uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if epoch == s.memory.Epoch {
		return nil
	}
	next := memory{Version: version, ID: s.memory.ID, Epoch: epoch}
	if err := s.disk.putJSON(s.memoryPath(), next); err != nil {
		return fmt.Errorf("save the epoch: %w", err)
	}
	s.memory = next
	return nil
}

// Orders begins a delivery: it checks epoch and term and forgets the answers below
// lowestOpen, for ever. On a full disk it does so in memory at least, for then nothing
// but refusals is answered.
func (s *Spool) Orders(epoch, term, lowestOpen uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case epoch != s.memory.Epoch:
		return ErrNewEpoch
	case term < s.memory.Term:
		return ErrOldTerm
	case term == s.memory.Term && lowestOpen <= s.memory.LowestOpen:
		return nil
	}
	next := s.memory
	next.Term = term
	if lowestOpen > next.LowestOpen {
		next.LowestOpen = lowestOpen
		next.Answers = maps.Clone(next.Answers)
		maps.DeleteFunc(next.Answers, func(order uint64, _ *Refusal) bool { return order < lowestOpen })
	}
	err := s.rememberLocked(next)
	s.memory = next
	return err
}

// Answered returns the answer that was given to an order; void tells that there is
// none and must not be one: the order is below the lowest open one, or below one that
// was answered. Deliveries carry the oldest open orders and are answered in their
// order, so what was passed over was not open any more: a delivery has been overtaken,
// and the run that it would start was given up (L2).
func (s *Spool) Answered(order uint64) (answer *Refusal, answered, void bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if order < s.memory.LowestOpen {
		return nil, false, true
	}
	answer, answered = s.memory.Answers[order]
	return answer, answered, !answered && order < s.memory.Highest
}

// NoneOpen is the undone order of a delivery that was carried out whole.
const NoneOpen uint64 = math.MaxUint64

// Answer remembers the answers to orders of the epoch, in one write. The undone order and those above it that have
// no answer are not passed over: they come again. When the disk does not take the answers the refusals are remembered
// while the mom lives, so that they may be given all the same: a full disk must be able to say so.
func (s *Spool) Answer(epoch uint64, answers map[uint64]*Refusal, undone uint64) error {
	if len(answers) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if epoch != s.memory.Epoch {
		return ErrNewEpoch
	}
	next := s.memory
	next.Answers = make(map[uint64]*Refusal, len(s.memory.Answers)+len(answers))
	maps.Copy(next.Answers, s.memory.Answers)
	maps.Copy(next.Answers, answers)
	for order := range answers {
		if order < undone {
			next.Highest = max(next.Highest, order)
		}
	}
	err := s.rememberLocked(next)
	if err != nil {
		next.Highest = s.memory.Highest // what was accepted below comes again
		maps.DeleteFunc(next.Answers, func(order uint64, refusal *Refusal) bool {
			_, fresh := answers[order]
			return fresh && refusal == nil
		})
		s.memory = next
	}
	return err
}

// rememberLocked saves what has become of orders. It outlives the mom and need not outlive the
// host: no delivery of before its boot can come any more, what is accepted is durable by
// itself, and the registration tells which orders are open.
func (s *Spool) rememberLocked(next memory) error {
	line, err := formatLine(next)
	if err == nil {
		err = s.disk.unsynced().put(s.recentPath(), line, 0o600)
	}
	if err != nil {
		return fmt.Errorf("save answers to orders: %w", err)
	}
	s.memory = next
	return nil
}

// recall reads what rememberLocked has saved. A file that a crash of the host has torn, and one
// of another epoch or spool, says nothing.
func (s *Spool) recall() {
	text, err := os.ReadFile(s.recentPath())
	if err != nil {
		return
	}
	data, whole := checkLine(bytes.TrimSuffix(text, []byte("\n")))
	var m memory
	if whole && json.Unmarshal(data, &m) == nil && m.Version == version && m.ID == s.memory.ID && m.Epoch == s.memory.Epoch {
		s.memory = m
	}
}

func (s *Spool) recentPath() string { return filepath.Join(s.home, "mom_priv", "orders.log") }
