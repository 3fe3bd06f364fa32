package render

import (
	"fmt"
	"io"

	"rampart/transport/api"
)

// A JobTable is qstat's default table; rows are written as they come.
type JobTable struct {
	w    io.Writer
	wide bool
}

// The attributes a row needs; to ask for no others keeps a listing of 100,000
// jobs small.
var JobColumns = []string{"Job_Name", "Job_Owner", "resources_used", "job_state", "queue"}

// NewJobTable returns a table on w, with the wider columns of -w if wide.
func NewJobTable(w io.Writer, wide bool) *JobTable { return &JobTable{w, wide} }

// Head writes the two lines above the rows.
func (t *JobTable) Head() {
	if t.wide {
		io.WriteString(t.w, "Job id                         Name            User             Time Use S Queue\n"+
			"-----------------------------  --------------- ---------------  -------- - ---------------\n")
		return
	}
	io.WriteString(t.w, "Job id            Name             User              Time Use S Queue\n"+
		"----------------  ---------------- ----------------  -------- - -----\n")
}

// Row writes one job.
func (t *JobTable) Row(o *api.Object) {
	name, owner, used, state, queue := jobCells(o)
	if t.wide {
		fmt.Fprintf(t.w, "%-30s %-15s %-15s  %8s %1s %-15s\n",
			short(o.Name, 30), short(name, 15), cut(owner, 15), used, state, cut(queue, 15))
		return
	}
	fmt.Fprintf(t.w, "%-17s %-16s %-16s  %8s %1s %-16s\n",
		short(o.Name, 16), short(name, 16), cut(owner, 16), used, state, cut(queue, 16))
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
			orElse(Find(q, "max_running", ""), "0"), orElse(Find(q, "total_jobs", ""), "0"),
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

// Servers writes the table of qstat -B.
func Servers(w io.Writer, servers []*api.Object) {
	io.WriteString(w, "Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext Status\n"+
		"---------------- ----- ----- ----- ----- ----- ----- ----- ----- -----------\n")
	for _, s := range servers {
		n := counts(Find(s, "state_count", ""))
		fmt.Fprintf(w, "%-16s %5s %5s %5s %5s %5s %5s %5s %5s %-10s\n", short(s.Name, 16),
			orElse(Find(s, "max_running", ""), "0"), orElse(Find(s, "total_jobs", ""), "0"),
			n["Queued"], n["Running"], n["Held"], n["Waiting"], n["Transit"], n["Exiting"],
			Find(s, "server_state", ""))
	}
}
