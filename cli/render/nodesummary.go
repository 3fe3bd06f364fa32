package render

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"rampart/fsm/resource"
	"rampart/transport/api"
)

// A Summary is what pbsnodes -S shows of one vnode or host: a row of a table, or the members of
// an object, under names that scripts know.
type Summary struct {
	Name   string
	fields []field
}

// A field has a value for the eye; in JSON it may be a number, or a list.
type field struct {
	name, value string
	number      bool
	list        []string // nil: it is none
}

// Summarise returns what pbsnodes -S shows.
func Summarise(o *api.Object) Summary {
	have := func(resource, none string) string { return cmp.Or(Find(o, "resources_available", resource), none) }
	return Summary{o.Name, []field{
		{name: "State", value: Find(o, "state", "")},
		{name: "OS", value: have("OS", "--")},
		{name: "hardware", value: have("hardware", "--")},
		{name: "host", value: have("host", "--")},
		{name: "queue", value: cmp.Or(Find(o, "queue", ""), "--")},
		{name: "Memory", value: cmp.Or(size(have("mem", "")), "--")},
		{name: "ncpus", value: have("ncpus", "0"), number: true},
		{name: "nmics", value: have("nmics", "0"), number: true},
		{name: "ngpus", value: have("ngpus", "0"), number: true},
		{name: "comment", value: cmp.Or(Printable(Find(o, "comment", "")), "--")},
	}}
}

// SummariseJobs returns what pbsnodes -Sj shows: what a node has left, and its jobs.
func SummariseJobs(o *api.Object) Summary {
	jobs := []string{}
	for _, id := range jobsOf(Find(o, "jobs", "")) {
		number, _, _ := strings.Cut(id, ".")
		jobs = append(jobs, number)
	}
	count := strconv.Itoa(len(jobs))
	return Summary{o.Name, []field{
		{name: "State", value: Find(o, "state", "")},
		{name: "Total Jobs", value: count, number: true},
		{name: "Running Jobs", value: count, number: true},
		{name: "Suspended Jobs", value: "0", number: true}, // a suspended job has left its vnodes
		{name: "mem f/t", value: freeOf(o, "mem", resource.Size)},
		{name: "ncpus f/t", value: freeOf(o, "ncpus", resource.Long)},
		{name: "nmics f/t", value: freeOf(o, "nmics", resource.Long)},
		{name: "ngpus f/t", value: freeOf(o, "ngpus", resource.Long)},
		{name: "jobs", value: cmp.Or(strings.Join(jobs, ","), "--"), list: jobs},
	}}
}

// The heads of the tables, and the forms of their rows.
const (
	summaryHead = "vnode           state           OS       hardware host            queue        mem     ncpus   nmics   ngpus  comment\n" +
		"--------------- --------------- -------- -------- --------------- ---------- -------- ------- ------- ------- ---------\n"
	summaryRow = "%-15s %-15s %-8s %-8s %-15s %-10s %8s %7s %7s %7s %s\n"
	jobsHead   = "                                                        mem       ncpus   nmics   ngpus\n" +
		"vnode           state           njobs   run   susp      f/t        f/t     f/t     f/t   jobs\n" +
		"--------------- --------------- ------ ----- ------ ------------ ------- ------- ------- -------\n"
	jobsRow = "%-15s %-15s %6s %5s %6s %12s %7s %7s %7s %s\n"
)

// NodeSummary writes the table of pbsnodes -S; with long nothing is cut.
func NodeSummary(w io.Writer, nodes []*api.Object, long bool) {
	io.WriteString(w, summaryHead)
	for _, o := range nodes {
		Summarise(o).row(w, summaryRow, long, 15, 8, 8, 15, 10)
	}
}

// NodeJobs writes the table of pbsnodes -Sj; with long nothing is cut.
func NodeJobs(w io.Writer, nodes []*api.Object, long bool) {
	io.WriteString(w, jobsHead)
	for _, o := range nodes {
		SummariseJobs(o).row(w, jobsRow, long, 15)
	}
}

// row writes a row of a table; the first fields are cut to the widths unless it is a long one.
func (s Summary) row(w io.Writer, form string, long bool, widths ...int) {
	columns := []any{within(s.Name, 15, long)}
	for i, f := range s.fields {
		if i < len(widths) {
			f.value = within(f.value, widths[i], long)
		}
		columns = append(columns, f.value)
	}
	fmt.Fprintf(w, form, columns...)
}

// Wide writes the summary as a line of pbsnodes -F dsv.
func (s Summary) Wide(w io.Writer, delimiter string) {
	var b strings.Builder
	b.WriteString("Name=" + s.Name)
	for _, f := range s.fields {
		b.WriteString(delimiter + f.name + "=" + escape(f.value, delimiter))
	}
	b.WriteByte('\n')
	io.WriteString(w, b.String())
}

// Summary adds the summary of a node.
func (j *JSON) Summary(s Summary) {
	j.begin(s.Name)
	for i, f := range s.fields {
		if i > 0 {
			j.w.WriteByte(',')
		}
		fmt.Fprintf(j.w, "\n\t\t\t%s:\t", quote(f.name))
		switch {
		case f.list != nil:
			j.list(f.list)
		case f.number:
			j.w.WriteString(literal(f.value))
		default:
			j.w.WriteString(quote(f.value))
		}
	}
	j.w.WriteString("\n\t\t}")
}

func within(text string, n int, long bool) string {
	if long {
		return text
	}
	return short(text, n)
}

func size(text string) string { return new(Alternative).memory(text) }

// freeOf writes what is left of a resource and all there is.
func freeOf(o *api.Object, name string, t resource.Type) string {
	all, err1 := resource.Parse(t, cmp.Or(Find(o, "resources_available", name), "0"))
	used, err2 := resource.Parse(t, cmp.Or(Find(o, "resources_assigned", name), "0"))
	if err1 != nil || err2 != nil {
		return "--"
	}
	left := max(all.Int()-used.Int(), 0)
	if t == resource.Size {
		return scaled(left) + "/" + scaled(all.Int())
	}
	return fmt.Sprintf("%d/%d", left, all.Int())
}
