package pbs

import "strings"

// Holds is the set of hold types on a job.
type Holds uint8

// The hold types: user, operator, system, bad password.
const (
	HoldUser Holds = 1 << iota
	HoldOperator
	HoldSystem
	HoldPassword
)

var holdLetters = []struct {
	hold   Holds
	letter byte
}{{HoldUser, 'u'}, {HoldOperator, 'o'}, {HoldSystem, 's'}, {HoldPassword, 'p'}}

// String returns the letters of the holds in PBS's order, "n" for none.
func (h Holds) String() string {
	var b strings.Builder
	for _, l := range holdLetters {
		if h&l.hold != 0 {
			b.WriteByte(l.letter)
		}
	}
	if b.Len() == 0 {
		return "n"
	}
	return b.String()
}

// ParseHolds reads a list of hold letters such as "u" or "uo"; "n" is none and
// stands alone. Anything else is refused with BadAttributeValue.
func ParseHolds(s string) (Holds, error) {
	if s == "n" {
		return 0, nil
	}
	var h Holds
	for i := range len(s) {
		known := false
		for _, l := range holdLetters {
			if s[i] == l.letter {
				h, known = h|l.hold, true
			}
		}
		if !known {
			return 0, Attribute(BadAttributeValue, "Hold_Types")
		}
	}
	if h == 0 {
		return 0, Attribute(BadAttributeValue, "Hold_Types")
	}
	return h, nil
}
