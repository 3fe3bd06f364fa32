package task

import "fmt"

// A word is an input event of a machine, as far as the machine tells events apart.
type word string

// A move is a line of a machine's table: in state from, on leads to to.
type move[S machineState] struct {
	from S
	on   word
	to   S
}

// A machineState is an enum whose zero value, or the first from of the table, is where the machine begins.
type machineState interface {
	comparable
	fmt.Stringer
}

// A table is all that a machine does. Its states change by nothing else, and the pictures in DESIGN.md are
// drawn from it. A word that has no line for a state means nothing there.
type table[S machineState] []move[S]

// after returns the state that follows, and whether the word means anything in from.
func (m table[S]) after(from S, on word) (S, bool) {
	for _, line := range m {
		if line.from == from && line.on == on {
			return line.to, true
		}
	}
	return from, false
}

// nameOf returns the name of a state of an enum, of which names has one for each.
func nameOf[S ~uint8](names []string, s S) string {
	if int(s) < len(names) && names[s] != "" {
		return names[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}
