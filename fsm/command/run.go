package command

import (
	"errors"
	"fmt"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

const (
	// maxAhead is how far an ordinary entry may move the clock (design section 4, Time).
	maxAhead = pbs.Time(time.Hour)
	// Request ids are refused when they are older, or further ahead of the entry, than this.
	maxRequestAge   = pbs.Time(10 * time.Minute)
	maxRequestAhead = pbs.Time(2 * time.Minute)
	// maxFaults is how many panics the state remembers.
	maxFaults = 20
)

// Run applies an entry to the store and returns one outcome for each proposal and
// the events of those that took effect. The caller publishes the new view.
func Run(s *state.Store, index, term uint64, e Entry) ([]Outcome, []state.Event) {
	outcomes := make([]Outcome, len(e.Proposals))
	if err := checkTime(s.Clock(), e); err != nil {
		s.Begin(index, term, 0)
		for i := range outcomes {
			outcomes[i] = Outcome{Refusal: err}
		}
		return outcomes, nil
	}
	s.Begin(index, term, e.Time)
	var events []state.Event
	for i := range e.Proposals {
		m := Meta{At: s.Clock(), Index: index, Term: term, ID: e.Proposals[i].ID, Asker: e.Proposals[i].Asker}
		out, evs := runProposal(s, m, &e.Proposals[i])
		outcomes[i], events = out, append(events, evs...)
	}
	return outcomes, events
}

// checkTime keeps a leader with a mad clock from moving the log's time far ahead.
// The start of a term may: it carries the clocks of a majority.
func checkTime(clock pbs.Time, e Entry) *pbs.Error {
	if clock == 0 || e.Time <= clock+maxAhead || startsTerm(e) {
		return nil
	}
	return pbs.Errorf(pbs.SystemError, "entry time is %s ahead of the log's", time.Duration(e.Time-clock).Round(time.Second))
}

func startsTerm(e Entry) bool {
	if len(e.Proposals) != 1 || len(e.Proposals[0].Commands) != 1 {
		return false
	}
	_, ok := e.Proposals[0].Commands[0].(*TermStarted)
	return ok
}

func runProposal(s *state.Store, m Meta, p *Proposal) (Outcome, []state.Event) {
	if p.ID == "" {
		return runCommands(s, m, p)
	}
	if r, ok := s.Remembered(Requester(p.Asker), p.ID); ok {
		return Repeated(r, p.body), nil
	}
	if err := checkAge(p.ID, m.At, s.RequestFloor()); err != nil {
		return Outcome{Refusal: err}, nil
	}
	out, events := runCommands(s, m, p)
	tx := s.Tx()
	tx.Remember(&state.Request{Asker: Requester(p.Asker), ID: p.ID, Body: p.body, Result: out.Result, Refusal: out.Refusal})
	s.Commit(tx)
	return out, events
}

// Requester returns whom a request is remembered by: the user's name. The host whose
// daemon vouches is left out, for a command that has lost its daemon asks again through
// that of another host (L8); nobody of the same name can guess an id.
func Requester(u pbs.User) pbs.User { return pbs.User{Name: u.Name} }

// Repeated returns the answer to a request that is remembered: the first one's, or
// a refusal if something else was asked under its id (L8).
func Repeated(r *state.Request, body uint64) Outcome {
	if r.Body != body {
		return Outcome{Refusal: pbs.Refuse(pbs.ReusedRequest)}
	}
	return Outcome{Result: r.Result, Refusal: r.Refusal, Repeated: true}
}

// checkAge refuses ids whose outcome may have been forgotten already (those from before
// floor had to go early), and ids from the future, which would be remembered for too
// short a time.
func checkAge(id pbs.RequestID, now, floor pbs.Time) *pbs.Error {
	made, ok := id.Made()
	switch {
	case !ok:
		return pbs.Errorf(pbs.InvalidRequest, "request id %q is not a UUID of version 7", id)
	case made < now-maxRequestAge || made < floor || made > now+maxRequestAhead:
		return pbs.Refuse(pbs.ExpiredRequest)
	}
	return nil
}

func runCommands(s *state.Store, m Meta, p *Proposal) (Outcome, []state.Event) {
	var out Outcome
	tx := s.Tx()
	for _, c := range p.Commands {
		err := applyOne(tx, m, c, &out.Result)
		if err == nil {
			continue
		}
		if f, ok := errors.AsType[*panicError](err); ok {
			noteFault(s, m, f)
		}
		return Outcome{Refusal: refusal(err)}, nil
	}
	followReservations(tx)
	if stirs(tx, p.Commands) {
		s.Stir()
	}
	return out, s.Commit(tx)
}

// panicError is a panic in a command's Apply: the same on every replica, since
// Apply sees the same everywhere.
type panicError struct{ text string }

func (e *panicError) Error() string { return e.text }

func applyOne(tx *state.Tx, m Meta, c Command, res *state.Result) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{fmt.Sprintf("%T: %v", c, r)}
		}
	}()
	return c.Apply(tx, m, res)
}

func noteFault(s *state.Store, m Meta, f *panicError) {
	tx := s.Tx()
	c := tx.EditCluster()
	faults := append([]state.Fault{{Index: m.Index, Text: f.text}}, c.Faults...)
	c.Faults = faults[:min(len(faults), maxFaults)]
	s.Commit(tx)
}

// refusal returns what the asker is told: a command's own words, never the text of
// a panic.
func refusal(err error) *pbs.Error {
	if e, ok := errors.AsType[*pbs.Error](err); ok {
		return e
	}
	return pbs.Refuse(pbs.SystemError)
}
