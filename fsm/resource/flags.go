package resource

import (
	"strings"

	"rampart/fsm/pbs"
)

// Flags say where a resource counts and who may see or set it.
type Flags uint16

// The flags, by PBS's letters. The numbers are in every log and snapshot.
const (
	PerVnode  Flags = 1 << iota // n: consumed at the vnodes of each chunk
	AtHost                      // h: a property of hosts, may stand in a chunk
	FirstHost                   // f: consumed at the first host only
	PerQueue                    // q: consumed at server and queue
	Invisible                   // i: users see nothing of it
	ReadOnly                    // r: users see it, and cannot ask for it
	ToMoms                      // m: sent to the moms
)

// flagLetters is in the order in which PBS prints them: "hn" for "nh".
var flagLetters = [...]struct {
	flag   Flags
	letter byte
}{{AtHost, 'h'}, {PerVnode, 'n'}, {FirstHost, 'f'}, {PerQueue, 'q'}, {Invisible, 'i'}, {ReadOnly, 'r'}, {ToMoms, 'm'}}

// String returns the letters in PBS's order.
func (f Flags) String() string {
	var b strings.Builder
	for _, l := range flagLetters {
		if f&l.flag != 0 {
			b.WriteByte(l.letter)
		}
	}
	return b.String()
}

// ParseFlags reads letters in any order; commas between them are allowed. What is
// consumed at vnodes must be a property of hosts, and at all of them or at the
// first, not both.
func ParseFlags(text string) (Flags, error) {
	f, err := ReadFlags(text)
	if err != nil {
		return 0, err
	}
	switch vnode := f & (PerVnode | FirstHost); {
	case vnode == PerVnode|FirstHost:
		return 0, pbs.Errorf(pbs.BadAttributeValue, "Erroneous to have flag 'n' and 'f'.")
	case vnode != 0 && f&AtHost == 0:
		return 0, pbs.Errorf(pbs.BadAttributeValue, "Erroneous to have flag 'n' or 'f' without 'h'.")
	}
	return f, nil
}

// ReadFlags is ParseFlags for letters that may not go together.
func ReadFlags(text string) (Flags, error) {
	var f Flags
	for i := range len(text) {
		flag := flagOf(text[i])
		if flag == 0 && text[i] != ',' {
			return 0, pbs.Refuse(pbs.BadAttributeValue)
		}
		f |= flag
	}
	return f, nil
}

func flagOf(letter byte) Flags {
	for _, l := range flagLetters {
		if l.letter == letter {
			return l.flag
		}
	}
	return 0
}
