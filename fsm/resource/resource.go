// Package resource owns resource definitions and quantities: their types and
// flags, parsing and printing as PBS does, and the arithmetic on lists of them. It
// does not know what a list is for (a request, an assignment, an offer), nor the
// languages that carry resources (fsm/spec). Everything is an immutable value, so
// any number of goroutines may use it; nothing is started, so nothing stops.
package resource

import (
	"rampart/fsm/pbs"
)

// A Type says what a resource's values look like.
type Type uint8

// The types. The numbers are in every log and snapshot: append only.
const (
	Long Type = iota + 1
	Float
	Size
	Time
	String
	StringArray
	Boolean
)

var typeNames = [...]string{
	Long: "long", Float: "float", Size: "size", Time: "time",
	String: "string", StringArray: "string_array", Boolean: "boolean",
}

// String returns PBS's name of the type.
func (t Type) String() string {
	if t == 0 || int(t) >= len(typeNames) {
		return "?"
	}
	return typeNames[t]
}

// Numeric reports whether values of the type can be added.
func (t Type) Numeric() bool { return t >= Long && t <= Time }

// ParseType reads PBS's name of a type.
func ParseType(name string) (Type, error) {
	for t := Long; int(t) < len(typeNames); t++ {
		if typeNames[t] == name {
			return t, nil
		}
	}
	return 0, pbs.Refuse(pbs.BadAttributeValue)
}

// A Def defines a resource.
type Def struct {
	Name    string `cbor:"1,keyasint"`
	Type    Type   `cbor:"2,keyasint"`
	Flags   Flags  `cbor:"3,keyasint,omitempty"`
	Builtin bool   `cbor:"4,keyasint,omitempty"`
}

// Consumable reports whether what one job uses of the resource is gone for others,
// so that it is summed and charged.
func (d Def) Consumable() bool {
	return d.Type.Numeric() && d.Flags&(PerVnode|FirstHost|PerQueue) != 0
}

// AtVnodes reports whether the resource is consumed at vnodes, so that it stands in
// exec_vnode.
func (d Def) AtVnodes() bool {
	return d.Type.Numeric() && d.Flags&(PerVnode|FirstHost) != 0
}

// layout reports whether the resource says how a chunk is used, not what its host
// must have.
func (d Def) layout() bool {
	return d.Builtin && (d.Name == "mpiprocs" || d.Name == "ompthreads")
}

// AtHost reports whether the resource may stand in a chunk of a select.
func (d Def) AtHost() bool { return d.Flags&AtHost != 0 }

// Parse reads a value of the resource. What is consumed at vnodes cannot be negative (L3), nor what is
// built in.
func (d Def) Parse(text string) (Quantity, error) {
	q, err := Parse(d.Type, text)
	if err == nil && q.num < 0 && (d.AtVnodes() || d.Builtin && d.Consumable()) {
		return Quantity{}, pbs.Refuse(pbs.BadAttributeValue)
	}
	return q, err
}

// A Table knows the definitions of resources.
type Table interface {
	Resource(name string) (Def, bool)
}

// maxName bounds the name of a custom resource.
const maxName = 255

// ValidName reports whether a custom resource may have the name: a letter, then
// letters, digits, hyphens and underscores.
func ValidName(name string) bool {
	if name == "" || len(name) > maxName || !isLetter(name[0]) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !isLetter(c) && !isDigit(c) && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
