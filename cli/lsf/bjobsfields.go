package lsf

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/spec"
)

// moreFields are further fields of bjobs -o, which no table shows and scripts of LSF ask for.
var moreFields = []field{
	{"application", "app", 13, func(_ *jobsView, j job) string { return j.get(lsf.JobApplication) }},
	{"slots", "", 5, func(_ *jobsView, j job) string {
		n := 0
		for _, s := range j.shares() {
			n += s.slots
		}
		if n == 0 {
			n = j.slots()
		}
		return strconv.Itoa(n)
	}},
	{"min_req_proc", "", 12, func(_ *jobsView, j job) string {
		least, _ := j.wanted()
		return strconv.Itoa(least)
	}},
	{"max_req_proc", "", 12, func(_ *jobsView, j job) string {
		_, most := j.wanted()
		return strconv.Itoa(most)
	}},
	{"ask_hosts", "", 30, func(_ *jobsView, j job) string { return strings.Join(specifiedHosts(j), " ") }},
	{"exclusive", "", 13, func(_ *jobsView, j job) string {
		if p, err := spec.ParsePlace(amount(j.Object, "Resource_List", "place")); err == nil && p.Sharing == spec.ExclusiveHost {
			return "Y"
		}
		return "N"
	}},
	{"effective_resreq", "eresreq", 17, func(v *jobsView, j job) string {
		if j.pending() {
			return ""
		}
		return v.site.site.combined(j.effective())
	}},
	{"specified_start_time", "", 20, func(v *jobsView, j job) string { return shortTime(j.moment("Execution_Time", v.env.Zone)) }},
	{"pend_time", "", 12, func(v *jobsView, j job) string { return v.seconds(int64(v.waited(j)/time.Second), "%d") }},
	{"time_left", "", 11, func(_ *jobsView, j job) string {
		limit := secondsOf(amount(j.Object, "Resource_List", "walltime"))
		if limit <= 0 || j.pending() || j.finished() {
			return ""
		}
		left := max(limit-secondsOf(amount(j.Object, "resources_used", "walltime")), 0) / 60
		return fmt.Sprintf("%d:%02d L", left/60, left%60)
	}},
	{"%complete", "", 11, func(_ *jobsView, j job) string {
		limit := secondsOf(amount(j.Object, "Resource_List", "walltime"))
		if limit <= 0 || j.pending() || j.finished() {
			return ""
		}
		return fmt.Sprintf("%.2f%% L", min(float64(secondsOf(amount(j.Object, "resources_used", "walltime")))*100/float64(limit), 100))
	}},
	{"idle_factor", "", 11, func(_ *jobsView, j job) string {
		run := secondsOf(amount(j.Object, "resources_used", "walltime"))
		if run <= 0 {
			return ""
		}
		return fmt.Sprintf("%.2f", float64(secondsOf(amount(j.Object, "resources_used", "cput")))/float64(run))
	}},
	{"max_mem", "", 10, func(_ *jobsView, j job) string { return shownMemory(amount(j.Object, "resources_used", "mem")) }},
	{"swap", "", 10, func(_ *jobsView, j job) string { return shownMemory(amount(j.Object, "resources_used", "vmem")) }},
	{"sub_cwd", "", 10, func(_ *jobsView, j job) string {
		folder, _ := attr.Variable(j.get("Variable_List"), "PBS_O_WORKDIR")
		return folder
	}},
}

// unusedFields returns the fields of features that do not exist here, with LSF's widths. They show a dash, as in LSF for a job without the feature.
func unusedFields() (all []field) {
	nothing := func(*jobsView, job) string { return "" }
	for _, x := range []field{
		{name: "user_group", alias: "ugroup", width: 15},
		{name: "service_class", alias: "sla", width: 13},
		{name: "job_group", alias: "group", width: 10},
		{name: "job_description", alias: "description", width: 17},
		{name: "pre_exec_command", alias: "pre_cmd", width: 16},
		{name: "post_exec_command", alias: "post_cmd", width: 17},
		{name: "resize_notification_command", alias: "resize_cmd", width: 27},
		{name: "warning_action", alias: "warn_act", width: 15},
		{name: "action_warning_time", alias: "warn_time", width: 19},
		{name: "forward_cluster", alias: "fwd_cluster", width: 15},
		{name: "forward_time", alias: "fwd_time", width: 15},
	} {
		x.of = nothing
		all = append(all, x)
	}
	return all
}

// waited returns for how long a job has waited, or did until it was started.
func (v *jobsView) waited(j job) time.Duration {
	until := j.moment("stime", v.env.Zone)
	switch {
	case !until.IsZero():
	case j.finished():
		until = v.finishedAt(j)
	default:
		until = v.env.Now()
	}
	return max(until.Sub(j.moment("ctime", v.env.Zone)), 0)
}
