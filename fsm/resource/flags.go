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

// ParseFlags reads letters in any order; commas between them are allowed. Whether
// they go together is Def.Check's to say.
func ParseFlags(text string) (Flags, error) {
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

// Check refuses flags that contradict each other or the type, in PBS's words and in
// the order in which it looks: a resource is hidden or read-only, what is consumed at
// vnodes is a property of hosts, at all of a chunk or at the first, and only numbers
// are consumed.
func (d Def) Check() error {
	consumed := d.Flags & (PerVnode | FirstHost)
	switch {
	case d.Flags&Invisible != 0 && d.Flags&ReadOnly != 0:
		return erroneous("flag 'i' and 'r' on resource %s.", d.Name)
	case d.Flags&AtHost == 0 && consumed&PerVnode != 0:
		return erroneous("flag 'n' without 'h' on resource %s.", d.Name)
	case d.Flags&AtHost == 0 && consumed != 0:
		return erroneous("flag 'f' without 'h' on resource %s.", d.Name)
	case consumed == PerVnode|FirstHost:
		return erroneous("flag 'n' and 'f' on resource %s.", d.Name)
	case !d.Type.Numeric() && (consumed != 0 || d.Flags&PerQueue != 0):
		return erroneous("flag 'n', 'f', or 'q' on resource %s which is type string, string_array, or boolean.", d.Name)
	}
	return nil
}

func erroneous(format, name string) error {
	return pbs.Errorf(pbs.BadAttributeValue, "Erroneous to have "+format, name)
}

func flagOf(letter byte) Flags {
	for _, l := range flagLetters {
		if l.letter == letter {
			return l.flag
		}
	}
	return 0
}
