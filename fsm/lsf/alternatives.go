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

const between = " || " // alternatives, of which no select and no amount has a blank

// PrintAlternatives returns the attribute lsf_alternatives of shapes, the preferred one first; nothing of one alone.
func PrintAlternatives(all []Shape) string {
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
	return strings.Join(words, between)
}

// ReadAlternatives reads what PrintAlternatives has printed.
func ReadAlternatives(text string) (all []Alternative) {
	if text == "" {
		return nil
	}
	for one := range strings.SplitSeq(text, between) {
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
