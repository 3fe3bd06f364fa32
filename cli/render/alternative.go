package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/resource"
	"rampart/transport/api"
)

// An Alternative is qstat's second family of tables, that of -a, -i, -n, -r, -s, -u, -H,
// -T, -G and -M. Rows are written as they come.
type Alternative struct {
	Wide    bool           // -w
	LongIDs bool           // the server's max_job_sequence_id has more digits than usual; the wide table has room for them
	Nodes   bool           // -n
	Comment bool           // -s
	OneLine bool           // -1: what -n and -s add stays on the row
	Start   bool           // -T: the estimated start instead of the elapsed time
	Zone    *time.Location // in which the start is told
	Unit    Unit
}

// A Unit is the unit of the memory column.
type Unit byte

// The units that qstat knows; the zero value keeps the one that the job has.
const (
	Gigabytes Unit = 'g' // -G
	Megawords Unit = 'w' // -M
)

// The texts above the rows. The server's name comes first.
const (
	narrowHead = "                                                            Req'd  Req'd   %s\n" +
		"Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time\n" +
		"--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----\n"
	wideHead = "                                                                                                   Req'd  Req'd   %s\n" +
		"Job ID                         Username        Queue           Jobname         SessID   NDS  TSK   Memory Time  S Time\n" +
		"------------------------------ --------------- --------------- --------------- -------- ---- ----- ------ ----- - -----\n"
	narrowRow = "%-15s %-8s %-8s %-10s %6s %3s %3s %6s %5s %1s %5s"
	longRow   = "%-20s %-8s %-8s %-10s %6s %3s %3s %6s %5s %1s %5s"
	wideRow   = "%-30s %-15s %-15s %-15s %8s %4s %5s %6s %5s %1s %5s"
	// The column of the words "Est Start", which take two lines.
	narrowEstimate, wideEstimate = 75, 114
)

// none stands where there is nothing to show.
const none = " -- "

// Columns returns the attributes that a row needs.
func (t *Alternative) Columns() []string {
	columns := []string{
		"Job_Name", "Job_Owner", "job_state", "queue", "session_id", "Resource_List.nodect", "Resource_List.ncpus",
		"Resource_List.mem", "Resource_List.cput", "Resource_List.walltime", "resources_used.cput", "resources_used.walltime",
	}
	if t.Nodes {
		columns = append(columns, "exec_host")
	}
	if t.Comment {
		columns = append(columns, "comment")
	}
	if t.Start {
		columns = append(columns, "estimated")
	}
	return columns
}

// Head writes what stands above the rows.
func (t *Alternative) Head(w io.Writer, server string) {
	head, word, column := narrowHead, "Elap", narrowEstimate
	if t.Wide {
		head, column = wideHead, wideEstimate
	}
	if t.LongIDs && !t.Wide {
		lines := strings.SplitAfter(head, "\n")
		head = longBlanks + lines[0] + strings.Replace(lines[1], "ID", "ID"+longBlanks, 1) + longDashes + lines[2]
		column += len(longBlanks)
	}
	fmt.Fprintf(w, "\n%s: \n", server)
	if t.Start {
		fmt.Fprintf(w, "%*sEst\n", column, "")
		word = "Start"
	}
	fmt.Fprintf(w, head, word)
}

// Row writes one job.
func (t *Alternative) Row(w io.Writer, o *api.Object) {
	c := newCells(o)
	format, id, user, queue, name := narrowRow, 15, 8, 8, 10
	if t.Wide {
		format, id, user, queue, name = wideRow, 30, 15, 15, 15
	}
	if t.LongIDs && !t.Wide {
		format, id = longRow, id+len(longBlanks)
	}
	asked, elapsed := c.times()
	if t.Start {
		elapsed = cmp.Or(clock(c.get("estimated", "start_time"), t.Zone), "--")
	}
	fmt.Fprintf(w, format, short(o.Name, id), short(beforeAt(c.get("Job_Owner", "")), user), short(c.get("queue", ""), queue),
		short(c.get("Job_Name", ""), name), cmp.Or(c.get("session_id", ""), none), cmp.Or(c.get("Resource_List", "nodect"), none),
		cmp.Or(c.get("Resource_List", "ncpus"), "--"), cmp.Or(t.memory(c.get("Resource_List", "mem")), none), asked,
		c.get("job_state", ""), elapsed)
	t.more(w, c)
	io.WriteString(w, "\n")
}

// more writes what -n and -s add.
func (t *Alternative) more(w io.Writer, c cells) {
	if t.Nodes {
		t.addition(w, cmp.Or(c.get("exec_host", ""), none), "")
	}
	if t.Comment {
		t.addition(w, cmp.Or(t.shortened(Printable(c.get("comment", ""))), none), "   ")
	}
}

func (t *Alternative) addition(w io.Writer, text, indent string) {
	if t.OneLine {
		fmt.Fprintf(w, " %s%s", indent, text)
		return
	}
	fmt.Fprintf(w, "\n   %s", text)
}

// The longest comments that -s leaves whole, as PBS has them.
const (
	commentWidth     = 73
	wideCommentWidth = 103
)

func (t *Alternative) shortened(comment string) string {
	comment = strings.ReplaceAll(comment, "\n", " ")
	width := commentWidth
	if t.Wide {
		width = wideCommentWidth
	}
	if len(comment) <= width {
		return comment
	}
	return cut(comment, width-len("...")) + "..."
}

// cells are the attributes of a row by name.
type cells map[string]string

func newCells(o *api.Object) cells {
	c := make(cells, len(o.Attributes))
	for _, a := range o.Attributes {
		c[label(a)] = a.Value
	}
	return c
}

func (c cells) get(name, resource string) string {
	if resource != "" {
		name += "." + resource
	}
	return c[name]
}

// times returns the requested and the elapsed time: of the cpus if they were asked for,
// else on the wall. Of a job that waits nothing has elapsed.
func (c cells) times() (asked, elapsed string) {
	kind := "walltime"
	if c.get("Resource_List", "cput") != "" {
		kind = "cput"
	}
	asked = cmp.Or(hoursMinutes(c.get("Resource_List", kind)), none)
	elapsed = none
	if strings.Contains("RSUEF", cmp.Or(c.get("job_state", ""), " ")) {
		elapsed = cmp.Or(hoursMinutes(c.get("resources_used", kind)), none)
	}
	return asked, elapsed
}

// hoursMinutes drops the seconds of HH:MM:SS.
func hoursMinutes(text string) string {
	if i := strings.LastIndexByte(text, ':'); i > 0 {
		return text[:i]
	}
	return text
}

// clock returns the hour and the minute of a moment, which the server tells in seconds of the epoch; empty for
// what is none.
func clock(text string, zone *time.Location) string {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return ""
	}
	return time.Unix(seconds, 0).In(zone).Format("15:04")
}

// memory writes a size in at most six columns.
func (t *Alternative) memory(text string) string {
	q, err := resource.Parse(resource.Size, text)
	if err != nil || text == "" {
		return text
	}
	kb := q.Int()
	switch t.Unit {
	case Gigabytes:
		return strconv.FormatInt((kb+1<<19)>>20, 10) + "gb"
	case Megawords:
		return strconv.FormatInt((kb+1<<12)>>13, 10) + "mw"
	}
	return scaled(kb)
}

// widestSize is the greatest number that leaves room for its unit.
const widestSize = 9999

// scaled writes kilobytes in the greatest unit that loses nothing, or in one that fits.
func scaled(kb int64) string {
	units := []string{"kb", "mb", "gb", "tb", "pb", "eb"}
	i := 0
	for i+1 < len(units) && kb != 0 && kb%1024 == 0 {
		kb, i = kb/1024, i+1
	}
	for i+1 < len(units) && kb > widestSize {
		kb, i = (kb+512)/1024, i+1
	}
	return strconv.FormatInt(kb, 10) + units[i]
}

// ByStart puts jobs in the order of -T: those that run, then the others by their
// estimated start, as far as one is known.
func ByStart(jobs []*api.Object) []*api.Object {
	key := func(o *api.Object) (int, string) {
		switch start := Find(o, "estimated", "start_time"); {
		case strings.Contains("RBSUE", cmp.Or(Find(o, "job_state", ""), " ")):
			return 0, ""
		case start != "":
			return 1, start
		}
		return 2, ""
	}
	slices.SortStableFunc(jobs, func(a, b *api.Object) int {
		m, s := key(a)
		n, t := key(b)
		return cmp.Or(cmp.Compare(m, n), cmp.Compare(len(s), len(t)), cmp.Compare(s, t))
	})
	return jobs
}
