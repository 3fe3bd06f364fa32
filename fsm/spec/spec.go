// Package spec owns the languages in which people and daemons say what a job
// wants and what it got: select, place, exec_vnode, exec_host; each with a parser,
// a printer, and parse(print(x)) = x. It does not own the attributes that carry them
// (fsm/attr), nor the choice of vnodes. Parsers take linear time and bounded input.
// All values are immutable once built; nothing is started, so nothing stops.
package spec

import (
	"strings"

	"rampart/fsm/pbs"
)

// Bounds of what is read, so that no request makes a replica work for long or grow.
const (
	maxText   = 16 << 20
	maxChunks = 1 << 17 // in all of a select: more than any site has vnodes
	maxItems  = 128     // of one chunk; the search for repeats is quadratic in it
)

// The attributes that refusals name.
const (
	selectAttribute = "Resource_List.select"
	placeAttribute  = "Resource_List.place"
)

func malformedSelect() error { return pbs.Attribute(pbs.BadAttributeValue, selectAttribute) }

func malformedPlace() error { return pbs.Attribute(pbs.BadAttributeValue, placeAttribute) }

// validWord reports whether s is a name in ASCII without the signs of the languages.
func validWord(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f || strings.IndexByte(`()+:=,'"*`, s[i]) >= 0 {
			return false
		}
	}
	return s != ""
}

// validResource reports whether s can be the name of a resource; a definition with
// this name need not exist.
func validResource(s string) bool {
	return validWord(s) && (s[0] < '0' || s[0] > '9')
}
