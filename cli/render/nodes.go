package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rampart/fsm/resource"
	"rampart/transport/api"
)

// Node writes a vnode or host as pbsnodes does.
func Node(w io.Writer, o *api.Object, zone *time.Location) {
	fmt.Fprintln(w, o.Name)
	for _, a := range o.Attributes {
		fmt.Fprintf(w, "     %s = %s\n", label(a), moment(a, zone))
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

// Summed is what pbsnodes -a makes of a host in JSON: each job once and without
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

// NothingAssigned tells whether a is an assigned resource of which nothing is in
// use; pbsnodes -a leaves these out of its JSON.
func NothingAssigned(a *api.Attribute) bool {
	return a.Name == "resources_assigned" && (a.Value == "0" || a.Value == "0kb" || a.Value == "0b")
}

// Unavailable writes the line of pbsnodes -l, and tells whether there was one to
// write: the node is offline or down.
func Unavailable(w io.Writer, o *api.Object) bool {
	state := Find(o, "state", "")
	for _, word := range []string{"offline", "down", "stale", "state-unknown", "maintenance"} {
		if strings.Contains(state, word) {
			fmt.Fprintf(w, "%-20s %s %s\n", o.Name, state, Find(o, "comment", ""))
			return true
		}
	}
	return false
}

// NodeSummary writes the table of pbsnodes -S; with long nothing is cut.
func NodeSummary(w io.Writer, nodes []*api.Object, long bool) {
	io.WriteString(w, "vnode           state           OS       hardware host            queue        mem     ncpus   nmics   ngpus  comment\n"+
		"--------------- --------------- -------- -------- --------------- ---------- -------- ------- ------- ------- ---------\n")
	for _, o := range nodes {
		have := func(resource string) string { return Find(o, "resources_available", resource) }
		fmt.Fprintf(w, "%-15s %-15s %-8s %-8s %-15s %-10s %8s %7s %7s %7s %s\n", within(o.Name, 15, long),
			within(Find(o, "state", ""), 15, long), within(orElse(have("OS"), "--"), 8, long),
			within(orElse(have("hardware"), "--"), 8, long), within(orElse(have("host"), "--"), 15, long),
			within(orElse(Find(o, "queue", ""), "--"), 10, long), orElse(size(have("mem")), "--"), orElse(have("ncpus"), "0"),
			orElse(have("nmics"), "0"), orElse(have("ngpus"), "0"), orElse(Find(o, "comment", ""), "--"))
	}
}

func within(text string, n int, long bool) string {
	if long {
		return text
	}
	return short(text, n)
}

func size(text string) string { return new(Alternative).memory(text) }

// NodeJobs writes the table of pbsnodes -Sj: what each node has left, and its jobs.
func NodeJobs(w io.Writer, nodes []*api.Object, long bool) {
	io.WriteString(w, "                                                        mem       ncpus   nmics   ngpus\n"+
		"vnode           state           njobs   run   susp      f/t        f/t     f/t     f/t   jobs\n"+
		"--------------- --------------- ------ ----- ------ ------------ ------- ------- ------- -------\n")
	for _, o := range nodes {
		var jobs []string
		for _, id := range jobsOf(Find(o, "jobs", "")) {
			number, _, _ := strings.Cut(id, ".")
			jobs = append(jobs, number)
		}
		fmt.Fprintf(w, "%-15s %-15s %6d %5d %6d %12s %7s %7s %7s %s\n", within(o.Name, 15, long),
			within(Find(o, "state", ""), 15, long), len(jobs), len(jobs), 0, freeOf(o, "mem", resource.Size),
			freeOf(o, "ncpus", resource.Long), freeOf(o, "nmics", resource.Long), freeOf(o, "ngpus", resource.Long),
			orElse(strings.Join(jobs, ","), "--"))
	}
}

// freeOf writes what is left of a resource and all there is.
func freeOf(o *api.Object, name string, t resource.Type) string {
	all, err1 := resource.Parse(t, orElse(Find(o, "resources_available", name), "0"))
	used, err2 := resource.Parse(t, orElse(Find(o, "resources_assigned", name), "0"))
	if err1 != nil || err2 != nil {
		return "--"
	}
	left := max(all.Int()-used.Int(), 0)
	if t == resource.Size {
		return scaled(left) + "/" + scaled(all.Int())
	}
	return fmt.Sprintf("%d/%d", left, all.Int())
}
