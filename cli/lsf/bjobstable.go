package lsf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The table: a row takes what is in its column, and no more unless -w wants all of it.
const (
	jobsHead = "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n"
	hostsAt  = 45 // where EXEC_HOST begins
)

func (v *jobsView) row(j job) {
	if v.count == 1 && v.header {
		head := jobsHead
		if v.ending != nil {
			head = strings.TrimSuffix(head, "\n") + "     " + strings.ToUpper(v.ending.name) + "\n"
		}
		v.out.WriteString(head)
	}
	submitted := j.moment("ctime", v.env.Zone).Format("Jan _2 15:04")
	hosts := j.shares()
	if !j.pending() && len(hosts) == 0 {
		hosts = []share{{"-", 1}}
	}
	id, _, _ := strings.Cut(j.id, "[")
	if v.wide {
		if v.ending != nil {
			submitted += "    " + cmp.Or(v.ending.of(v, j), "-")
		}
		fmt.Fprintf(v.out, "%-7s %-7s %-5s %-10s %-11s %-11s %-10s %s\n",
			id, j.user, j.state, j.get("queue"), j.get("Submit_Host"), shownOr(hosts, ":"), j.name(), submitted)
	} else {
		first := ""
		if len(hosts) > 0 {
			first = hosts[0].String()
		}
		fmt.Fprintf(v.out, "%-7s %-7.7s %-5.5s %-10.10s %-11.11s %-11.11s %-10s %s\n",
			id, j.user, j.state, j.get("queue"), j.get("Submit_Host"), first, tail(j.name(), 10), submitted)
		for _, h := range hosts[min(1, len(hosts)):] {
			fmt.Fprintf(v.out, "%*s%.11s\n", hostsAt, "", h)
		}
	}
	if v.reasons && j.pending() {
		for _, reason := range v.pendingReasons(j) {
			fmt.Fprintf(v.out, " %s\n", reason)
		}
	}
	if v.halts && j.suspended() {
		fmt.Fprintf(v.out, " %s\n", j.suspendingReason())
	}
}

func shownOr(hosts []share, sign string) string {
	if len(hosts) == 0 {
		return "-"
	}
	return shown(hosts, sign)
}

// tail keeps the end of a name that is too long, behind a star.
func tail(name string, width int) string {
	if len(name) <= width {
		return name
	}
	return "*" + name[len(name)-width+1:]
}

// usageRow is a row of -W: the job, and what it has used.
func (v *jobsView) usageRow(j job) {
	if v.count == 1 && v.header {
		v.out.WriteString(strings.TrimSuffix(jobsHead, "\n") + "     PROJ_NAME  CPU_USED      MEM    SWAP   PIDS   START_TIME     FINISH_TIME\n")
	}
	const moment = "01/02-15:04:05"
	at := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.Format(moment)
	}
	var finish time.Time
	if j.finished() {
		finish = v.finishedAt(j)
	}
	memory := func(name string) int64 {
		m, _ := megabytes(amount(j.Object, "resources_used", name))
		return m
	}
	id, _, _ := strings.Cut(j.id, "[")
	cpu := secondsOf(amount(j.Object, "resources_used", "cput"))
	fmt.Fprintf(v.out, "%-7s %-7s %-5s %-10s %-11s %-11s %-10s %-14s %-10s %03d:%02d:%02d.00 %-6d %-6d %-6s %-14s %s\n",
		id, j.user, j.state, j.get("queue"), j.get("Submit_Host"), shownOr(j.shares(), ":"), j.name(), at(j.moment("ctime", v.env.Zone)),
		projectOf(j), cpu/3600, cpu/60%60, cpu%60, memory("mem"), memory("vmem"), cmp.Or(j.get("session_id"), "-"), at(j.moment("stime", v.env.Zone)), at(finish))
}

// endings are the columns of -WF, -WL and -WP, by name.
var endings = map[string]field{
	"finish_time": {name: "finish_time", of: func(v *jobsView, j job) string {
		limit := secondsOf(amount(j.Object, "Resource_List", "walltime"))
		switch {
		case j.finished():
			return v.finishTime(j)
		case limit <= 0 || j.pending():
			return ""
		}
		left := max(limit-secondsOf(amount(j.Object, "resources_used", "walltime")), 0)
		return shortTime(v.env.Now().Add(time.Duration(left)*time.Second).In(v.env.Zone)) + " L"
	}},
	"time_left": fieldNamed("time_left"),
	"%complete": fieldNamed("%complete"),
}

// fieldNamed returns a field of bjobs -o.
func fieldNamed(name string) field {
	return moreFields[slices.IndexFunc(moreFields, func(f field) bool { return f.name == name })]
}
