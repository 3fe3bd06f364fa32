package lsf

import (
	"slices"
	"strings"

	"rampart/fsm/resource"
)

// An Alternative is one of several things that a job may get: chunks, and what it holds of resources that belong to no host.
type Alternative struct {
	Select string
	Wide   resource.List
}

// Separators of alternatives; no select and no amount has a blank.
const (
	between = " || " // the first is preferred
	below   = " < "  // the last is: each has more slots than the one before
)

// PrintAlternatives returns the attribute lsf_alternatives of shapes, the preferred one first; nothing of one alone.
func PrintAlternatives(all []Shape) string { return printAlternatives(all, between) }

// PrintSizes returns the attribute lsf_alternatives of the shapes that Sizes has made.
func PrintSizes(all []Shape) string { return printAlternatives(all, below) }

// Rising reports whether lsf_alternatives are one requirement for ever more slots: all that there is room for is
// preferred, and what has no room for the first has none for any.
func Rising(text string) bool { return strings.Contains(text, below) }

func printAlternatives(all []Shape, sign string) string {
	if len(all) < 2 {
		return ""
	}
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = s.Select.String()
		for _, it := range s.Wide {
			words[i] += " " + it.Name + "=" + it.Value
		}
	}
	return strings.Join(words, sign)
}

// ReadAlternatives reads what PrintAlternatives or PrintSizes has printed.
func ReadAlternatives(text string) (all []Alternative) {
	if text == "" {
		return nil
	}
	sign := between
	if Rising(text) {
		sign = below
	}
	for one := range strings.SplitSeq(text, sign) {
		words := strings.Fields(one)
		if len(words) == 0 {
			continue
		}
		a := Alternative{Select: words[0]}
		for _, word := range words[1:] {
			if name, value, ok := strings.Cut(word, "="); ok {
				a.Wide = a.Wide.Set(name, value)
			}
		}
		all = append(all, a)
	}
	return all
}

// Instead returns resources of a job with another of its alternatives in the place of the one that they are of: what that has of
// resources that belong to no host, and the other one not, is gone.
func Instead(of resource.List, all []Alternative, choice int) resource.List {
	if choice < 0 || choice >= len(all) {
		return of
	}
	next := slices.Clone(of)
	for _, a := range all {
		for _, it := range a.Wide {
			next = next.Unset(it.Name)
		}
	}
	for _, it := range all[choice].Wide {
		next = next.Set(it.Name, it.Value)
	}
	return next.Set("select", all[choice].Select)
}
