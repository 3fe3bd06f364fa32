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

// A JobTable is qstat's default table; rows are written as they come.
type JobTable struct {
	w       io.Writer
	wide    bool
	long    bool
	percent bool
}

// Long identifiers make the columns of identifiers wider by these.
const longBlanks, longDashes = "     ", "-----"

// JobColumns are the attributes that a row needs; to ask for no others keeps a listing of 100,000
// jobs small.
var JobColumns = []string{"Job_Name", "Job_Owner", "resources_used", "job_state", "queue"}

// NewJobTable returns a table on w, with the wider columns of -w if wide.
func NewJobTable(w io.Writer, wide bool) *JobTable { return &JobTable{w: w, wide: wide} }

// Percent makes it the table of -p: how much of the time asked for is used up.
func (t *JobTable) Percent() *JobTable {
	t.percent = true
	return t
}

// LongIDs makes room for the identifiers of a server with a max_job_sequence_id of more digits than usual. The wide table has it.
func (t *JobTable) LongIDs() { t.long = true }

// Columns returns the attributes that a row needs.
func (t *JobTable) Columns() []string {
	if t.percent {
		return append([]string{"Resource_List.walltime", "Resource_List.cput", "array_state_count"}, JobColumns...)
	}
	return JobColumns
}

// Head writes the two lines above the rows.
func (t *JobTable) Head() {
	time := "Time Use"
	if t.percent {
		time = " % done "
	}
	if t.wide {
		io.WriteString(t.w, "Job id                         Name            User             "+time+" S Queue\n"+
			"-----------------------------  --------------- ---------------  -------- - ---------------\n")
		return
	}
	blanks, dashes := "", ""
	if t.long {
		blanks, dashes = longBlanks, longDashes
	}
	io.WriteString(t.w, "Job id            "+blanks+"Name             User              "+time+" S Queue\n"+
		"----------------"+dashes+"  ---------------- ----------------  -------- - -----\n")
}

// Row writes one job.
func (t *JobTable) Row(o *api.Object) {
	name, owner, used, state, queue := jobCells(o)
	if t.percent {
		used = percentDone(newCells(o)) + " "
	}
	if t.wide {
		fmt.Fprintf(t.w, "%-30s %-15s %-15s  %8s %1s %-15s\n",
			short(o.Name, 30), short(name, 15), cut(owner, 15), used, state, cut(queue, 15))
		return
	}
	width := 16
	if t.long {
		width += len(longBlanks)
	}
	fmt.Fprintf(t.w, "%-*s  %-16s %-16s  %8s %1s %-16s\n",
		width, short(o.Name, width), short(name, 16), cut(owner, 16), used, state, cut(queue, 16))
}

func jobCells(o *api.Object) (name, owner, used, state, queue string) {
	used = "0"
	for _, a := range o.Attributes {
		switch {
		case a.Name == "Job_Name":
			name = a.Value
		case a.Name == "Job_Owner":
			owner = beforeAt(a.Value)
		case a.Name == "resources_used" && a.Resource == "cput":
			used = a.Value
		case a.Name == "job_state":
			state = a.Value
		case a.Name == "queue":
			queue = a.Value
		}
	}
	return name, owner, used, state, queue
}

// percentDone compares the time used with the time asked for, if one was; of an array it counts
// the subjobs that are over.
func percentDone(c cells) string {
	if n := counts(c.get("array_state_count", "")); len(n) > 0 {
		over, all := number(n["Expired"]), 0
		for _, word := range n {
			all += int(number(word))
		}
		return strconv.Itoa(int(over) * 100 / max(all, 1))
	}
	switch state := c.get("job_state", ""); {
	case state == "X":
		return "100"
	case !strings.Contains("RSUEF", cmp.Or(state, " ")):
		return "--"
	}
	done := int64(-1)
	for _, kind := range []string{"walltime", "cput"} {
		used, err1 := resource.Parse(resource.Time, cmp.Or(c.get("resources_used", kind), "0"))
		asked, err2 := resource.Parse(resource.Time, cmp.Or(c.get("Resource_List", kind), "0"))
		if err1 == nil && err2 == nil && asked.Int() > 0 {
			done = max(done, used.Int()*100/asked.Int())
		}
	}
	if done < 0 {
		return "--"
	}
	return strconv.FormatInt(done, 10)
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // what is no number counts nothing
	return n
}

func beforeAt(s string) string {
	for i := range len(s) {
		if s[i] == '@' {
			return s[:i]
		}
	}
	return s
}

// Queues writes the table of qstat -Q.
func Queues(w io.Writer, queues []*api.Object) {
	if len(queues) == 0 {
		return
	}
	io.WriteString(w, "Queue              Max   Tot Ena Str   Que   Run   Hld   Wat   Trn   Ext Type\n"+
		"---------------- ----- ----- --- --- ----- ----- ----- ----- ----- ----- ----\n")
	for _, q := range queues {
		n := counts(Find(q, "state_count", ""))
		fmt.Fprintf(w, "%-16s %5s %5s %3s %3s %5s %5s %5s %5s %5s %5s %-4s\n", short(q.Name, 16),
			cmp.Or(Find(q, "max_running", ""), "0"), cmp.Or(Find(q, "total_jobs", ""), "0"),
			yes(Find(q, "enabled", "")), yes(Find(q, "started", "")),
			n["Queued"], n["Running"], n["Held"], n["Waiting"], n["Transit"], n["Exiting"],
			short(Find(q, "queue_type", ""), 4))
	}
}

func yes(value string) string {
	if value == "True" {
		return "yes"
	}
	return "no"
}

// QueueLimits writes the table of qstat -q.
func (t *Alternative) QueueLimits(w io.Writer, server string, queues []*api.Object) {
	fmt.Fprintf(w, "\nserver: %s\n\n"+
		"Queue            Memory CPU Time Walltime Node   Run   Que   Lm  State\n"+
		"---------------- ------ -------- -------- ---- ----- ----- ----  -----\n", server)
	running, waiting := int64(0), int64(0)
	for _, q := range queues {
		n := counts(Find(q, "state_count", ""))
		run, que := number(n["Running"]), number(n["Queued"])+number(n["Held"])+number(n["Waiting"])
		running, waiting = running+run, waiting+que
		limit := func(resource string) string { return Find(q, "resources_max", resource) }
		fmt.Fprintf(w, "%-16s %6s %8s %8s %4s %5d %5d %4s   %c %c\n", short(q.Name, 16),
			cmp.Or(t.memory(limit("mem")), "--  "), cmp.Or(limit("cput"), "--   "), cmp.Or(limit("walltime"), "--   "),
			cmp.Or(limit("nodect"), "-- "), run, que, cmp.Or(Find(q, "max_running", ""), "--"),
			letter(Find(q, "enabled", ""), 'E', 'D'), letter(Find(q, "started", ""), 'R', 'S'))
	}
	fmt.Fprintf(w, "%52s %s\n%52d %5d\n", "-----", "-----", running, waiting)
}

func letter(value string, yes, no rune) rune {
	if value == "True" {
		return yes
	}
	return no
}

// Servers writes the table of qstat -B.
func Servers(w io.Writer, servers []*api.Object) {
	io.WriteString(w, "Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext Status\n"+
		"---------------- ----- ----- ----- ----- ----- ----- ----- ----- -----------\n")
	for _, s := range servers {
		n := counts(Find(s, "state_count", ""))
		fmt.Fprintf(w, "%-16s %5s %5s %5s %5s %5s %5s %5s %5s %-10s\n", short(s.Name, 16),
			cmp.Or(Find(s, "max_running", ""), "0"), cmp.Or(Find(s, "total_jobs", ""), "0"),
			n["Queued"], n["Running"], n["Held"], n["Waiting"], n["Transit"], n["Exiting"],
			Find(s, "server_state", ""))
	}
}
