package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rampart/transport/api"
)

// Node writes a vnode or host as pbsnodes does.
func Node(w io.Writer, o *api.Object, zone *time.Location) {
	fmt.Fprintln(w, o.Name)
	for _, a := range o.Attributes {
		fmt.Fprintf(w, "     %s = %s\n", label(a), Printable(moment(a, zone)))
	}
	fmt.Fprintln(w)
}

// Plain is the value function of pbsnodes' JSON and DSV: moments stay numbers,
// job lists lose their blanks.
func Plain(a *api.Attribute) string {
	if a.Name == "jobs" {
		return strings.ReplaceAll(a.Value, ", ", ",")
	}
	return a.Value
}

// Summed returns what pbsnodes -a makes of a host in JSON: each job once and without
// its place. NothingAssigned goes with it.
func Summed(o *api.Object) *api.Object {
	sum := &api.Object{Name: o.Name}
	for _, a := range o.Attributes {
		if a.Name == "jobs" {
			a = &api.Attribute{Name: a.Name, Value: strings.Join(jobsOf(a.Value), ",")}
		}
		sum.Attributes = append(sum.Attributes, a)
	}
	return sum
}

func jobsOf(value string) []string {
	if value == "" {
		return nil
	}
	var ids []string
	for item := range strings.SplitSeq(value, ",") {
		id, _, _ := strings.Cut(strings.TrimSpace(item), "/")
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// NothingAssigned reports whether a is an assigned resource of which nothing is in
// use; pbsnodes -a leaves these out of its JSON.
func NothingAssigned(a *api.Attribute) bool {
	return a.Name == "resources_assigned" && (a.Value == "0" || a.Value == "0kb" || a.Value == "0b")
}

// Unavailable writes the line of pbsnodes -l, and reports whether there was one to
// write: the node is offline or down.
func Unavailable(w io.Writer, o *api.Object) bool {
	state := Find(o, "state", "")
	for _, word := range []string{"offline", "down", "Stale", "state-unknown", "maintenance"} {
		if strings.Contains(state, word) {
			fmt.Fprintf(w, "%-20s %s %s\n", o.Name, state, Printable(Find(o, "comment", "")))
			return true
		}
	}
	return false
}
