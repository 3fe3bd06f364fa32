package trace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A records reads the accounting files of a PBS. A job is there as a whole when its end was read, so those that were queued after
// it wait until then.
type records struct {
	in       *input
	troubles *Troubles
	window   []*recorded // by the time at which they were queued
	of       map[string]*recorded
	begin    pbs.Time
	held     *Job
	ended    bool     // all is read
	yielded  pbs.Time // when the last one was queued that was yielded
	latest   pbs.Time // the last record
	starting bool     // it is of a start
}

// A recorded is a job of which not everything was read yet.
type recorded struct {
	job       *Job
	began     pbs.Time // its last start; 0: it has none
	suspended bool
	runs      int
	whole     bool
	dropped   bool // it cannot be replayed
}

// Times are recorded in seconds, but in the order in which things happened: records of the same second follow each other. What starts
// was planned a moment after whatever came before it.
const (
	follows = pbs.Time(time.Millisecond)
	behind  = pbs.Time(10 * time.Millisecond) // of what comes when something has started: it was not planned with it
)

var dayFile = regexp.MustCompile(`^[0-9]{8}(\.gz)?$`)

// openRecords opens accounting files; a folder stands for its files of days.
func openRecords(names []string, troubles *Troubles) (*records, error) {
	in, err := openInput(names)
	if err != nil {
		return nil, err
	}
	r := &records{in: in, troubles: troubles, of: map[string]*recorded{}}
	if r.held, err = r.next(); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, in.close())
	}
	if r.held != nil {
		r.begin = r.held.Submit
	}
	return r, nil
}

// expand replaces folders by their files of days, in their order.
func expand(names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			all = append(all, name)
			continue
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, e := range entries {
			if dayFile.MatchString(e.Name()) && !e.IsDir() {
				all = append(all, filepath.Join(name, e.Name()))
			}
		}
		if len(all) == before {
			return nil, fmt.Errorf("%s is a folder without files YYYYMMDD", name)
		}
	}
	return all, nil
}

func (r *records) Begin() pbs.Time { return r.begin }
func (r *records) Read() float64   { return r.in.part() }
func (r *records) Close() error    { return r.in.close() }

func (r *records) Next() (*Job, error) {
	if j := r.held; j != nil {
		r.held = nil
		return j, nil
	}
	return r.next()
}

func (r *records) next() (*Job, error) {
	for {
		for len(r.window) > 0 && (r.window[0].whole || r.window[0].dropped || r.ended) {
			one := r.window[0]
			r.window[0] = nil
			r.window = r.window[1:]
			delete(r.of, one.job.Name)
			if j := r.yield(one); j != nil {
				return j, nil
			}
		}
		if r.ended {
			return nil, io.EOF
		}
		line, err := r.in.next()
		switch {
		case errors.Is(err, io.EOF):
			r.ended = true
		case err != nil:
			return nil, err
		default:
			r.record(line)
		}
	}
}

// yield returns the job of what was recorded, nil if it cannot be replayed.
func (r *records) yield(one *recorded) *Job {
	j := one.job
	amended := func(kind, detail string) { r.troubles.add(j.File, j.Line, kind, detail, false) }
	switch {
	case one.dropped:
		return nil
	case !one.whole && one.began == 0:
		r.troubles.add(j.File, j.Line, "it has never begun", ": job "+j.Name, true)
		return nil
	case !one.whole:
		amended("its end is not recorded", ": job "+j.Name+" is taken to run until its walltime, or the last record")
		j.Runs = max(j.Limit, time.Duration(r.latest-one.began), 0)
	case one.runs > 1:
		amended("it has run several times", ": job "+j.Name+" is replayed with its last run")
	}
	if j.Submit < r.yielded {
		amended("it was queued before others that were recorded before it", ": job "+j.Name)
		j.Submit = r.yielded
	}
	r.yielded = j.Submit
	if j.Eligible < j.Submit+pbs.Time(time.Second) {
		j.Eligible = 0
	}
	return j
}

// stamp is when something has happened that is recorded in a second.
func (r *records) stamp(second int64, starts bool) pbs.Time {
	at := pbs.Time(second) * pbs.Time(time.Second)
	since := at - r.latest
	switch {
	case since <= -pbs.Time(time.Second):
		return at // it was recorded late
	case starts && r.starting && since <= 0:
		at = r.latest // in the same cycle
	case starts && since <= pbs.Time(time.Second):
		at = r.latest + coalesce
	case r.starting:
		at = max(at, r.latest+behind)
	default:
		at = max(at, r.latest+follows)
	}
	r.latest, r.starting = at, starts
	return at
}

// record takes a line.
func (r *records) record(line []byte) {
	bad := func(kind, detail string) { r.troubles.add(r.in.name, r.in.line, kind, detail, true) }
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	parts := strings.SplitN(string(line), ";", 4)
	if len(parts) != 4 || len(parts[1]) != 1 || parts[2] == "" {
		bad("no record: want MM/DD/YYYY HH:MM:SS;TYPE;ID;TEXT", "")
		return
	}
	id := parts[2]
	switch parts[1] {
	case "Q":
		r.queued(id, fieldsOf(parts[3]), bad)
	case "S":
		f := fieldsOf(parts[3])
		if one := r.known(id, f, bad); one != nil {
			if second, err := strconv.ParseInt(f["start"], 10, 64); err == nil && second > 0 {
				one.began = r.stamp(second, true)
				one.runs++
			}
		}
	case "z":
		if one := r.of[id]; one != nil {
			one.suspended = true
		}
	case "E":
		r.over(id, fieldsOf(parts[3]), bad)
	case "A":
		r.gone(id, "aborted by the server")
	case "D":
		if one := r.of[id]; one != nil && one.began == 0 {
			r.gone(id, "deleted before it began")
		}
	}
}

// gone drops a job that was never run; an array goes with its subjobs that were not.
func (r *records) gone(id, why string) {
	drop := func(one *recorded) {
		if !one.dropped && !one.whole && one.began == 0 {
			one.dropped = true
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
func (r *records) queued(id string, f map[string]string, bad func(kind, detail string)) {
	second, err := strconv.ParseInt(cmp.Or(f["qtime"], f["ctime"]), 10, 64)
	if err != nil {
		bad("no qtime", "")
		return
	}
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
	one := &recorded{job: &Job{
		Name: id, File: r.in.name, Line: r.in.line, Submit: at, User: f["user"], Group: f["group"], Account: f["account"], Queue: f["queue"],
	}}
	if p := f["project"]; p != noProject {
		one.job.Project = p
	}
	i, _ := slices.BinarySearchFunc(r.window, at+1, func(w *recorded, t pbs.Time) int { return int(w.job.Submit - t) })
	r.window = slices.Insert(r.window, i, one)
	r.of[id] = one
	return one
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
	if j.User = cmp.Or(f["user"], j.User); j.User == "" {
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

// request takes what a job has asked for.
func (r *records) request(j *Job, f map[string]string) {
	for name, value := range f {
		res, ok := strings.CutPrefix(name, "Resource_List.")
		if !ok {
			continue
		}
		switch res {
		case "select":
			j.Select = value
		case "walltime":
			if q, err := resource.Parse(resource.Time, value); err == nil {
				j.Limit = time.Duration(min(q.Int(), int64(longestRun/time.Second))) * time.Second
			}
		case "ncpus":
			j.CPUs, _ = strconv.ParseInt(value, 10, 64)
			fallthrough
		default:
			j.Others = j.Others.Set(res, value)
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
	j.Runs, j.Began = time.Duration(end-start)*time.Second, pbs.Time(start)*pbs.Time(time.Second)
	if one.began != 0 {
		j.Runs = max(0, time.Duration(ended-one.began))
	}
	if q, err := resource.Parse(resource.Time, f["resources_used.walltime"]); err == nil && one.suspended {
		j.Runs = time.Duration(q.Int()) * time.Second
	}
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
