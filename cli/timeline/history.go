package timeline

import (
	"time"
)

// Read makes a job's history from its records, in their order. What is no record, and what a
// later version may have added, is passed over.
func Read(id string, lines [][]byte, zone *time.Location, now time.Time) *Job {
	j := &Job{ID: id, Runs: []Run{}, Now: now.In(zone)}
	var last time.Time
	for _, line := range lines {
		r, ok := parse(line, zone)
		if !ok {
			continue
		}
		if r.at.Before(last) { // an hour that came twice, or a zone that was changed
			r.at = last
		}
		last = r.at
		j.take(r)
	}
	if j.Now.Before(last) {
		j.Now = last
	}
	return j
}

func (j *Job) take(r record) {
	if user := r.fields["user"]; user != "" {
		j.User, j.Name, j.Queue = user, r.fields["jobname"], r.fields["queue"]
	}
	switch r.letter {
	case 'Q':
		j.Queued, j.Left = r.at, time.Time{}
	case 'S':
		j.start(r, "started")
	case 'T':
		j.start(r, "restarted")
	case 's':
		j.phase(r, "adjusted")
	case 'c':
		j.phase(r, "released")
	case 'u', 'e':
		run := j.running(r)
		run.close(r.at, r.used())
	case 'E':
		j.end(r, ended+r.fields["Exit_status"])
	case 'R':
		j.end(r, "queued again")
	case 'C':
		j.end(r, "checkpointed and held")
	case 'z':
		run := j.running(r)
		run.Suspended = append(run.Suspended, Halt{Span{Start: r.at}, r.fields["load_stop"]})
	case 'r':
		run := j.running(r)
		run.resume(r.at)
	case 'D':
		j.Events = append(j.Events, Event{r.at, "deletion requested by " + r.fields["requestor"]})
		if n := len(j.Runs); n == 0 || !j.Runs[n-1].End.IsZero() {
			j.Left = r.at
		}
	case 'A':
		j.Events = append(j.Events, Event{r.at, "aborted: " + r.text})
		j.Left = r.at
	case 'M':
		j.Events = append(j.Events, Event{r.at, "moved to " + r.fields["destination"]})
		j.Left = r.at
	}
}

func (j *Job) start(r record, began string) {
	if n := len(j.Runs); n > 0 && j.Runs[n-1].End.IsZero() {
		j.Runs[n-1].finish(r.at, "gone, without a record of its end")
	}
	number := 1
	if n := len(j.Runs); n > 0 {
		number = j.Runs[n-1].Number + 1
	}
	j.Runs = append(j.Runs, Run{Number: number, Start: r.at, Ending: "runs", Phases: []Phase{newPhase(r, began)}})
}

// running returns the run that a record belongs to; one whose beginning is in no record
// begins with this one.
func (j *Job) running(r record) *Run {
	if n := len(j.Runs); n == 0 || !j.Runs[n-1].End.IsZero() {
		from := r
		if start := count(r.fields["start"]); start > 0 && start < r.at.Unix() {
			from.at = time.Unix(start, 0).In(r.at.Location())
		}
		j.start(from, "started")
	}
	run := &j.Runs[len(j.Runs)-1]
	if n := count(r.fields["run_count"]); n > 0 {
		run.Number = int(n)
	}
	return run
}

func newPhase(r record, began string) Phase {
	return Phase{Span: Span{Start: r.at}, Began: began, Vnodes: shares(r.fields["exec_vnode"])}
}

// phase begins another one. One that did not last and in which nothing is known to have been used
// is what the job was to begin with, and was not.
func (j *Job) phase(r record, began string) {
	run := j.running(r)
	run.close(r.at, nil)
	next := newPhase(r, began)
	if last := &run.Phases[len(run.Phases)-1]; last.Start.Equal(r.at) && last.Used == nil {
		next.Began = last.Began
		*last = next
		return
	}
	run.Phases = append(run.Phases, next)
}

// close ends the last phase.
func (run *Run) close(at time.Time, used map[string]string) {
	last := &run.Phases[len(run.Phases)-1]
	if last.End.IsZero() {
		last.End = at
	}
	if used != nil {
		last.Used = used
	}
}

func (run *Run) resume(at time.Time) {
	if n := len(run.Suspended); n > 0 && run.Suspended[n-1].End.IsZero() {
		run.Suspended[n-1].End = at
	}
}

func (run *Run) finish(at time.Time, ending string) {
	run.close(at, nil)
	run.resume(at)
	run.End, run.Ending = at, ending
}

func (j *Job) end(r record, ending string) {
	run := j.running(r)
	run.finish(r.at, ending)
	run.Used = r.used()
	if len(run.Phases) == 1 && run.Phases[0].Used == nil {
		run.Phases[0].Used = run.Used
	}
}
