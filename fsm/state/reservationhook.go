package state

import (
	"fmt"
	"strconv"
	"strings"

	"rampart/fsm/attr"
)

// ReservationForHooks returns the attributes of a reservation as hooks see them: the state as a number, and what is shown to
// nobody else (specification: advance-reservations section 16).
func (t *tables) ReservationForHooks(r *Reservation) attr.List {
	out := t.ReservationAttributes(r)
	for i, e := range out {
		if e.Name == "reserve_state" {
			out[i].Value = strconv.Itoa(int(r.State))
		}
	}
	add := func(name, value string) { out = appendValue(out, name, value) }
	add("schedselect", r.Select)
	if now, _ := r.Resources.Get("select"); now != r.First {
		add("schedselect_orig", r.First)
	}
	add("euser", r.Owner.Name)
	if a, ok := t.Account(r.Owner.Name); ok && len(a.Groups) > 0 {
		add("egroup", a.Groups[0])
	}
	if r.Rule != "" {
		add("reserve_standing", "1")
		add("reserve_timezone", r.Zone)
		add("reserve_execvnodes", nodesOfAll(r.Occurrences))
	}
	return out
}

// nodesOfAll writes the vnodes of all occurrences, each assignment with the indices of those that have it, from 0 on:
// 3#(hosta:ncpus=1){0-1}(hostb:ncpus=1){2}. It is empty before they have any.
func nodesOfAll(all []Occurrence) string {
	var order []string
	of := map[string][]int{}
	text := ""
	for i, o := range all {
		if i == 0 || !o.Nodes.Equal(all[i-1].Nodes) {
			text = o.Nodes.String()
		}
		if text == "" {
			continue
		}
		if _, known := of[text]; !known {
			order = append(order, text)
		}
		of[text] = append(of[text], i)
	}
	if len(order) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d#", len(all))
	for _, nodes := range order {
		out.WriteString(nodes + "{" + rangesOf(of[nodes]) + "}")
	}
	return out.String()
}

// rangesOf writes indices in their order, those in a row as a range.
func rangesOf(all []int) string {
	var words []string
	for i := 0; i < len(all); {
		last := i
		for last+1 < len(all) && all[last+1] == all[last]+1 {
			last++
		}
		word := strconv.Itoa(all[i])
		if last > i {
			word += "-" + strconv.Itoa(all[last])
		}
		words = append(words, word)
		i = last + 1
	}
	return strings.Join(words, ",")
}
