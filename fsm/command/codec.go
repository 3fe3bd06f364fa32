package command

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/cespare/xxhash/v2"
	"github.com/fxamacker/cbor/v2"

	"rampart/fsm/pbs"
)

// The wire forms of an entry. The numbers and orders are on disk in every cluster.
type (
	wireEntry struct {
		Time      pbs.Time       `cbor:"1,keyasint"`
		Proposals []wireProposal `cbor:"2,keyasint"`
	}
	wireProposal struct {
		ID       pbs.RequestID `cbor:"1,keyasint,omitempty"`
		Asker    pbs.User      `cbor:"2,keyasint,omitempty"`
		Commands []wireCommand `cbor:"3,keyasint"`
		Body     uint64        `cbor:"4,keyasint,omitempty"`
	}
	wireCommand struct {
		_    struct{} `cbor:",toarray"`
		Kind Kind
		Body cbor.RawMessage
	}
)

var (
	encMode = must(cbor.CoreDetEncOptions().EncMode())
	// decMode refuses what this build does not know: to skip a field is to drift (L4).
	decMode = must(cbor.DecOptions{
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		MaxNestedLevels:   16,
		MaxArrayElements:  1 << 20,
		MaxMapPairs:       1 << 16,
	}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Encoded is a proposal in the form in which an entry carries it.
type Encoded struct {
	wire     wireProposal
	commands int
	bytes    int
}

// Commands returns the number of commands.
func (e Encoded) Commands() int { return e.commands }

// Bytes returns about how much of an entry the proposal takes.
func (e Encoded) Bytes() int { return e.bytes }

// EncodeProposal prepares a proposal for an entry. It fails for a command of a
// kind that is not in the vocabulary.
func EncodeProposal(p Proposal) (Encoded, error) {
	e := Encoded{wire: wireProposal{ID: p.ID, Asker: p.Asker, Body: p.Body}, commands: len(p.Commands), bytes: 64}
	for _, c := range p.Commands {
		kind, ok := numbers[reflect.TypeOf(c)]
		if !ok {
			return Encoded{}, fmt.Errorf("encode proposal: %T is no kind of command", c)
		}
		body, err := encMode.Marshal(c)
		if err != nil {
			return Encoded{}, fmt.Errorf("encode %T: %w", c, err)
		}
		e.wire.Commands = append(e.wire.Commands, wireCommand{Kind: kind, Body: body})
		e.bytes += len(body) + 8
	}
	return e, nil
}

// EncodeEntry writes the proposals as one log entry.
func EncodeEntry(at pbs.Time, proposals []Encoded) ([]byte, error) {
	w := wireEntry{Time: at, Proposals: make([]wireProposal, len(proposals))}
	for i, p := range proposals {
		w.Proposals[i] = p.wire
	}
	b, err := encMode.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode entry: %w", err)
	}
	return b, nil
}

// Encode writes an entry as the log carries it.
func Encode(e Entry) ([]byte, error) {
	proposals := make([]Encoded, len(e.Proposals))
	for i, p := range e.Proposals {
		var err error
		if proposals[i], err = EncodeProposal(p); err != nil {
			return nil, err
		}
	}
	return EncodeEntry(e.Time, proposals)
}

// Decode reads an entry. An unknown kind or field is an error: a replica that
// does not know it must stop (L4).
func Decode(b []byte) (Entry, error) {
	var w wireEntry
	if err := decMode.Unmarshal(b, &w); err != nil {
		return Entry{}, fmt.Errorf("decode entry: %w", unknown(err))
	}
	e := Entry{Time: w.Time, Proposals: make([]Proposal, len(w.Proposals))}
	for i, wp := range w.Proposals {
		p := Proposal{ID: wp.ID, Asker: wp.Asker, Commands: make([]Command, len(wp.Commands)), Body: wp.Body, body: wp.Body}
		if p.body == 0 {
			p.body = bodyHash(wp.Commands)
		}
		for k, wc := range wp.Commands {
			c, err := decodeCommand(wc)
			if err != nil {
				return Entry{}, err
			}
			p.Commands[k] = c
		}
		e.Proposals[i] = p
	}
	return e, nil
}

func decodeCommand(wc wireCommand) (Command, error) {
	make, ok := kinds[wc.Kind]
	if !ok {
		return nil, fmt.Errorf("decode entry: %w: command of unknown kind %d", ErrTooOld, wc.Kind)
	}
	c := make()
	if err := decMode.Unmarshal(wc.Body, c); err != nil {
		return nil, fmt.Errorf("decode %T: %w", c, unknown(err))
	}
	return c, nil
}

// unknown tells a field that this build does not know from other faults.
func unknown(err error) error {
	if _, ok := errors.AsType[*cbor.UnknownFieldError](err); ok {
		return fmt.Errorf("%w: %w", ErrTooOld, err)
	}
	return err
}

// bodyHash tells apart requests with the same id whose asker did not say what was
// asked.
func bodyHash(commands []wireCommand) uint64 {
	h := xxhash.New()
	for _, c := range commands {
		_, _ = h.Write([]byte{byte(c.Kind >> 8), byte(c.Kind)})
		_, _ = h.Write(c.Body)
	}
	return h.Sum64()
}
