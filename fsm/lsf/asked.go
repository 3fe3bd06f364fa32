package lsf

import (
	"strconv"
	"strings"

	"rampart/fsm/resreq"
)

// WhereText returns the attribute lsf_select of a shape, with a selection for each term where there are several; empty: no host is asked for
// anything.
func (s Shape) WhereText() string {
	if len(s.Where.Terms) == 1 {
		return s.Where.Terms[0].Select.String()
	}
	return printTerms(s.Where)
}

// OrderText returns the attribute lsf_order of a shape, as WhereText does.
func (s Shape) OrderText() string {
	if len(s.Order.Terms) == 1 {
		return resreq.PrintOrder(s.Order.Terms[0].Order)
	}
	return printTerms(s.Order)
}

// LayoutText returns the attribute lsf_layout of a shape: also where it says no more than which chunks are of the terms that others name.
func (s Shape) LayoutText() string {
	if !s.Layout.Given() && len(s.Where.Terms) < 2 && len(s.Order.Terms) < 2 {
		return ""
	}
	return s.Layout.String()
}

func printTerms(r resreq.Requirement) string {
	if len(r.Terms) == 0 {
		return ""
	}
	return r.String()
}

// ReadWhere reads what WhereText has printed: a selection for all terms, or one for each. It is false where that names what is there no more.
func ReadWhere(text string, site resreq.Site) (all []resreq.Select, ok bool) {
	r, ok := readTerms("select", text, site)
	for _, t := range r.Terms {
		all = append(all, t.Select)
	}
	return all, ok
}

// ReadOrder reads what OrderText has printed, as ReadWhere does.
func ReadOrder(text string, site resreq.Site) (all [][]resreq.Key, ok bool) {
	r, ok := readTerms("order", text, site)
	for _, t := range r.Terms {
		all = append(all, t.Order)
	}
	return all, ok
}

func readTerms(section, text string, site resreq.Site) (resreq.Requirement, bool) {
	if text == "" {
		return resreq.Requirement{}, true
	}
	// No selection, and no key, begins as a term does.
	slots, _, several := strings.Cut(text, "*{")
	if _, err := strconv.Atoi(slots); err != nil || !several {
		text = section + "[" + text + "]"
	}
	r, err := resreq.Parse(text, site)
	return r, err == nil
}
