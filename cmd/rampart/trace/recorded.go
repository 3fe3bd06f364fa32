package trace

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// gone drops a job that was never run; an array goes with its subjobs that were not.
func (r *records) gone(id, why string) {
	drop := func(one *recorded) {
		if !one.dropped && !one.whole && one.runs == 0 {
			if one.dropped = true; one.displaced {
				delete(r.of, one.job.Name)
			}
			r.troubles.add(r.in.name, r.in.line, why, ": job "+one.job.Name, true)
		}
	}
	if one := r.of[id]; one != nil {
		drop(one)
	}
	if !pbs.JobID(id).IsArray() {
		return
	}
	for _, one := range r.window {
		if sub := pbs.JobID(one.job.Name); sub.Sub() > 0 && sub.Parent() == pbs.JobID(id) {
			drop(one)
		}
	}
}

// queued takes a Q record: it makes a job, or one for each subjob of an array.
func (r *records) queued(id string, written time.Time, f map[string]string, bad func(kind, detail string)) {
	second, err := strconv.ParseInt(cmp.Or(f["qtime"], f["ctime"]), 10, 64)
	if err != nil {
		bad("no qtime", "")
		return
	}
	r.clock(written, second)
	at := r.stamp(second, false)
	if one := r.of[id]; one != nil { // moved, or its queue has routed it
		one.job.Queue = cmp.Or(f["queue"], one.job.Queue)
		return
	}
	text := f["array_indices"]
	if text == "" {
		r.add(id, at, f)
		return
	}
	indices, err := pbs.ParseIndices(text)
	if err != nil {
		bad("array_indices cannot be read", ": "+text)
		return
	}
	n := 0
	for index := range indices.From(0) {
		if n++; n > mostSubjobs {
			break
		}
		if sub := string(pbs.JobID(id).Subjob(index)); r.of[sub] == nil {
			r.add(sub, at, f)
		}
	}
}

// mostSubjobs bounds what an array stands for.
const mostSubjobs = 1 << 20

func (r *records) add(id string, at pbs.Time, f map[string]string) *recorded {
	// What is kept must not keep its line.
	one := &recorded{job: &Job{
		Name: id, File: r.in.name, Line: r.in.line, Submit: at,
		User: strings.Clone(f["user"]), Group: strings.Clone(f["group"]), Account: strings.Clone(f["account"]), Queue: strings.Clone(f["queue"]),
	}}
	if p := f["project"]; p != noProject {
		one.job.Project = strings.Clone(p)
	}
	r.of[id] = one
	r.put(one)
	return one
}

// put puts a job among those that are to be yielded.
func (r *records) put(one *recorded) {
	i, _ := slices.BinarySearchFunc(r.window, one.job.Submit+1, func(w *recorded, t pbs.Time) int { return cmp.Compare(w.job.Submit, t) })
	r.window = slices.Insert(r.window, i, one)
}

// noProject is what PBS writes for none.
const noProject = "_pbs_project_default"

// known returns the job of a record; one that was queued before the records begin is made of it.
func (r *records) known(id string, f map[string]string, bad func(kind, detail string)) *recorded {
	one := r.of[id]
	if one == nil {
		if pbs.JobID(id).IsArray() {
			return nil // it is nothing by itself
		}
		second, err := strconv.ParseInt(cmp.Or(f["ctime"], f["qtime"]), 10, 64)
		if err != nil {
			bad("no ctime", "")
			return nil
		}
		one = r.add(id, pbs.Time(second)*pbs.Time(time.Second), f)
		r.troubles.add(r.in.name, r.in.line, "its queueing is not recorded", ": job "+id+" is taken to have been queued at its ctime", false)
	}
	j := one.job
	if j.User = cmp.Or(j.User, strings.Clone(f["user"])); j.User == "" {
		j.User = nobodys
		r.troubles.add(r.in.name, r.in.line, "no user", ": it is counted as "+nobodys+"'s", false)
	}
	if j.Select == "" {
		r.request(j, f)
	}
	if at, err := strconv.ParseInt(f["etime"], 10, 64); err == nil && one.runs == 0 {
		j.Eligible = pbs.Time(at) * pbs.Time(time.Second)
	}
	return one
}

// clock notes how far the clock of the records is ahead of UTC: it is told by one that says when it was.
func (r *records) clock(written time.Time, second int64) {
	const quarter = 15 * 60
	if ahead := written.Unix() - second; ahead > -24*3600 && ahead < 24*3600 {
		r.ahead = int64(math.Round(float64(ahead)/quarter)) * quarter
	}
}

// started takes an S record.
func (r *records) started(id string, written time.Time, f map[string]string, bad func(kind, detail string)) {
	one := r.known(id, f, bad)
	if one == nil {
		return
	}
	second, err := strconv.ParseInt(f["start"], 10, 64)
	if err != nil || second <= 0 {
		return
	}
	r.clock(written, second)
	one.began, one.suspended = r.stamp(second, true), false
	if one.runs++; one.runs == 1 {
		one.job.Began = pbs.Time(second) * pbs.Time(time.Second)
	}
	if one.displaced {
		one.displaced = false
		r.troubles.add(one.job.File, one.job.Line, "it has waited behind very many", ": job "+id+" is taken to have been queued when it began", false)
		one.job.Submit, one.job.Eligible = one.began, 0
		r.put(one)
	}
}

// requeued takes an R record.
func (r *records) requeued(one *recorded, f map[string]string, bad func(kind, detail string)) {
	if one.began == 0 || one.whole || one.dropped {
		return
	}
	start, err1 := strconv.ParseInt(f["start"], 10, 64)
	end, err2 := strconv.ParseInt(f["end"], 10, 64)
	if err1 != nil || err2 != nil || end < start {
		bad("no start, or no end", ": job "+one.job.Name)
		return
	}
	one.job.Requeued = append(one.job.Requeued, one.ran(r.stamp(end, false), start, end, f))
	one.began, one.suspended = 0, false
}

// ran returns how long a run has taken that has ended.
func (o *recorded) ran(ended pbs.Time, start, end int64, f map[string]string) time.Duration {
	if q, err := resource.Parse(resource.Time, f["resources_used.walltime"]); err == nil && o.suspended {
		return time.Duration(min(q.Int(), int64(longestRun/time.Second))) * time.Second
	}
	if o.began != 0 {
		return max(0, time.Duration(ended-o.began))
	}
	return time.Duration(end-start) * time.Second
}

// lastRequeue makes the run that was requeued last the last one.
func (o *recorded) lastRequeue() {
	if n := len(o.job.Requeued); n > 0 {
		o.job.Runs, o.job.Requeued = o.job.Requeued[n-1], o.job.Requeued[:n-1]
	}
}

// altered takes an a record. Before its first start a job is replayed with what it asks for then, and its priority alone is altered.
func (r *records) altered(one *recorded, second int64, text string) {
	j := one.job
	at := pbs.Time(second) * pbs.Time(time.Second)
	a := Alteration{Runs: one.runs, Running: one.began != 0, At: at}
	if a.Running {
		a.After = max(0, time.Duration(at-one.began))
	}
	f := fieldsOf(text)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		attribute, res, _ := strings.Cut(name, ".")
		change := set(strings.Clone(attribute), strings.Clone(res), strings.Clone(f[name]))
		if f[name] == unset {
			change.Op, change.Entry.Value = command.OpUnset, ""
		}
		switch {
		case attribute == "Priority", attribute == "Resource_List" && one.runs > 0 && res != "":
			a.Changes = append(a.Changes, change)
		case attribute == "Resource_List":
			r.troubles.add(r.in.name, r.in.line, "it was altered before it began", ": job "+j.Name+" is replayed with what it asked for when it began", false)
		}
	}
	if len(a.Changes) > 0 && len(j.Altered) < mostAltered {
		j.Altered = append(j.Altered, a)
	}
}

// unset is what an a record says of what was removed.
const unset = "UNSET"

// mostAltered bounds the alterations of a job that are replayed.
const mostAltered = 1000

// request takes what a job has asked for.
func (r *records) request(j *Job, f map[string]string) {
	for name, value := range f {
		res, ok := strings.CutPrefix(name, "Resource_List.")
		if !ok {
			continue
		}
		switch res {
		case "select":
			j.Select = strings.Clone(value)
		case "walltime":
			if q, err := resource.Parse(resource.Time, value); err == nil {
				j.Limit = time.Duration(min(q.Int(), int64(longestRun/time.Second))) * time.Second
			}
		case "ncpus":
			j.CPUs, _ = strconv.ParseInt(value, 10, 64)
			fallthrough
		default:
			j.Others = j.Others.Set(strings.Clone(res), strings.Clone(value))
		}
	}
	if j.Select == "" && j.CPUs == 0 {
		j.CPUs = 1
	}
}

// over takes an E record.
func (r *records) over(id string, f map[string]string, bad func(kind, detail string)) {
	if pbs.JobID(id).IsArray() {
		r.gone(id, "it has never begun")
		return
	}
	one := r.known(id, f, bad)
	if one == nil {
		return
	}
	start, err1 := strconv.ParseInt(f["start"], 10, 64)
	end, err2 := strconv.ParseInt(f["end"], 10, 64)
	switch {
	case err1 != nil || err2 != nil || start <= 0:
		one.dropped = true
		bad("no start, or no end", ": job "+id)
		return
	case end < start:
		one.dropped = true
		bad("negative run time", fmt.Sprintf(": job %s, %d", id, end-start))
		return
	}
	j, ended := one.job, r.stamp(end, false)
	if j.Began == 0 {
		j.Began = pbs.Time(start) * pbs.Time(time.Second)
	}
	j.Runs = one.ran(ended, start, end, f)
	if status, err := strconv.ParseInt(f["Exit_status"], 10, 32); err == nil && status >= 0 {
		j.Exit = int32(status)
	}
	one.whole = true
}

// fieldsOf takes the text of a record apart: name=value, a value in quotes if it has blanks.
func fieldsOf(text string) map[string]string {
	all := map[string]string{}
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		name, rest, ok := strings.Cut(text, "=")
		if !ok || strings.Contains(name, " ") {
			_, text, _ = strings.Cut(text, " ") // a word that is no field
			continue
		}
		value := ""
		if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
			if inner, after, closed := strings.Cut(rest[1:], rest[:1]); closed {
				all[name], text = inner, after
				continue
			}
		}
		value, text, _ = strings.Cut(rest, " ")
		all[name] = value
	}
	return all
}
