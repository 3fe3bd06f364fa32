package attr

import (
	"strconv"
	"strings"

	"rampart/fsm/spec"
)

// A ShareLine is an entry of resource_group: a user or group and its part of what its parent has.
type ShareLine struct {
	Name, Parent string
	ID, Shares   int64
}

// RootShares is the parent of all, and UnknownShares the group of those that are not named.
const (
	RootShares    = "root"
	UnknownShares = "unknown"
)

// UnknownID is the number of UnknownShares, as groups of resource_group have theirs.
const UnknownID = 1

// ShareLines returns the entries of a value that the attribute's parser took. A parent
// comes before what is below it.
func ShareLines(text string) []ShareLine {
	var all []ShareLine
	for entry := range strings.SplitSeq(text, ",") {
		words := strings.Fields(entry)
		if len(words) != 4 {
			continue
		}
		l := ShareLine{Name: words[0], Parent: words[2]}
		l.ID, _ = strconv.ParseInt(words[1], 10, 64)
		l.Shares, _ = strconv.ParseInt(words[3], 10, 64)
		all = append(all, l)
	}
	return all
}

// parseShares takes entries NAME ID PARENT SHARES, as the lines of PBS's resource_group are:
// no name and no id twice, and each parent known before.
func parseShares(text string) (string, bool) {
	names, ids := map[string]bool{RootShares: true, UnknownShares: true}, map[int64]bool{0: true, UnknownID: true}
	var all []string
	for entry := range strings.SplitSeq(text, ",") {
		words := strings.Fields(entry)
		if len(words) != 4 {
			return "", false
		}
		id, err := strconv.ParseInt(words[1], 10, 32)
		shares, err2 := strconv.ParseInt(words[3], 10, 32)
		if words[2] == "TREEROOT" {
			words[2] = RootShares
		}
		if err != nil || err2 != nil || shares < 0 || names[words[0]] || ids[id] || !names[words[2]] || words[2] == UnknownShares {
			return "", false
		}
		names[words[0]], ids[id] = true, true
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, ","), len(text) <= maxValue
}

// parseUsage takes the name of a resource, or a formula that all machines compute alike: usage
// is counted on every replica by itself (L4).
func parseUsage(text string) (string, bool) {
	text = strings.Trim(text, " ")
	f, err := spec.ParseFormula(text)
	return text, err == nil && f.Exact()
}

// parseFraction takes a number from 0 to 1.
func parseFraction(text string) (string, bool) {
	text, ok := parseFloat(text)
	n, _ := strconv.ParseFloat(text, 64)
	return text, ok && n >= 0 && n <= 1
}
