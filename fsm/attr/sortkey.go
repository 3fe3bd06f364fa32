package attr

import (
	"strconv"
	"strings"

	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// A SortKey is one entry of job_sort_key or node_sort_key: NAME HIGH|LOW, and for vnodes
// which amount of the resource is meant.
type SortKey struct {
	Name   string
	Low    bool
	Amount string // total, unused or assigned; empty: total
}

// maxSortKeys is how many keys PBS takes.
const maxSortKeys = 20

// SortKeys returns the entries of a value that the attribute's parser took.
func SortKeys(text string) []SortKey {
	var all []SortKey
	for entry := range strings.SplitSeq(text, ",") {
		words := strings.Fields(strings.Trim(entry, ` "`))
		if len(words) < 2 {
			continue
		}
		k := SortKey{Name: words[0], Low: words[1] == "LOW"}
		if len(words) > 2 {
			k.Amount = words[2]
		}
		all = append(all, k)
	}
	return all
}

// parseSortKeys takes entries NAME HIGH|LOW [total|unused|assigned], separated by commas.
func parseSortKeys(text string) (string, bool) {
	var all []string
	for entry := range strings.SplitSeq(text, ",") {
		words := strings.Fields(strings.Trim(entry, ` "`))
		if len(words) < 2 || len(words) > 3 || !resource.ValidName(words[0]) {
			return "", false
		}
		words[1] = strings.ToUpper(words[1])
		if words[1] != "HIGH" && words[1] != "LOW" {
			return "", false
		}
		if len(words) == 3 {
			if _, ok := oneOf("total", "unused", "assigned")(words[2]); !ok {
				return "", false
			}
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, ", "), len(all) <= maxSortKeys
}

func parseFormula(text string) (string, bool) {
	text = strings.Trim(text, " ")
	_, err := spec.ParseFormula(text)
	return text, err == nil
}

func parseFloat(text string) (string, bool) {
	n, err := strconv.ParseFloat(strings.Trim(text, " "), 64)
	if err != nil || n-n != 0 { // no infinity, and no NaN
		return "", false
	}
	return strconv.FormatFloat(n, 'f', -1, 64), true
}
