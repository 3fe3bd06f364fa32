package pbs

import (
	"strings"

	"rampart/fsm/pbs"
)

// numbered returns an identifier without its server, which has more names than one.
func numbered(id pbs.JobID) string {
	number, _, _ := strings.Cut(string(id), ".")
	return number
}

// distinct leaves out of the identifiers of a command line what was named before, as PBS does:
// the same job, the same subjobs, subjobs of an array that was named as a whole. What is no
// identifier stays.
func distinct(operands []string) []string {
	named, subjobs := map[string]bool{}, map[string][]pbs.Indices{}
	var all []string
	for _, operand := range operands {
		bare, at, _ := strings.Cut(operand, "@")
		id, err := pbs.ParseJobID(bare, "")
		if err != nil {
			all = append(all, operand)
			continue
		}
		key, array := numbered(id)+"@"+at, numbered(id.Parent())+"@"+at
		if named[key] || named[array] {
			continue
		}
		set, ranged := id.Indices()
		if !ranged {
			named[key] = true
			all = append(all, operand)
			continue
		}
		left := set
		for _, before := range subjobs[array] {
			left = left.Minus(before)
		}
		subjobs[array] = append(subjobs[array], left)
		if left.Count() == set.Count() {
			all = append(all, operand)
		} else if left.Count() > 0 {
			number, _, _ := strings.Cut(bare, "[")
			_, rest, _ := strings.Cut(operand, "]")
			all = append(all, number+"["+left.String()+"]"+rest)
		}
	}
	return all
}
