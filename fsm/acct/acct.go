// Package acct says which event becomes which accounting record, and with which
// fields (specification: accounting). It is pure: the same event gives the same
// line on every replica (L10). Writing the lines to files is cluster/ledger's.
package acct

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A Record is one line of the accounting log.
type Record struct {
	Number uint64 // L10: records are numbered without gaps
	Day    string // YYYYMMDD of the file that it goes to
	Line   string // with its newline
}

// types gives the one-letter type of each kind of event that is accounted.
var types = map[state.EventKind]string{
	state.JobQueued: "Q", state.JobStarted: "S", state.JobEnded: "E", state.JobRequeued: "R",
	state.JobDeleteAsked: "D", state.JobAborted: "A", state.JobAltered: "a", state.JobMoved: "M",
	state.JobPhaseEnded: "u", state.JobPhaseBegan: "c", state.JobPhasesOver: "e",
	state.JobCounted: "S", state.JobAdjusted: "s",
	state.LicensesCounted: "L", state.JobSuspended: "z", state.JobResumed: "r",
	state.JobCheckpointed: "C", state.JobRestarted: "T",
	state.ReservationAsked: "U", state.ReservationConfirmed: "Y", state.ReservationBegan: "B",
	state.ReservationRemoved: "K", // k, where its owner has done it
}

// Of returns the record of an event, in the time zone of the server attribute; it
// reports false for events that are not accounted.
func Of(e state.Event, zone *time.Location) (Record, bool) {
	letter, ok := types[e.Kind]
	id := e.Object
	switch {
	case e.Job != nil:
		id = string(e.Job.ID)
	case e.Reservation != nil:
		id = string(e.Reservation.ID)
	}
	if e.Kind == state.ReservationRemoved && e.By == e.Reservation.Owner {
		letter = "k"
	}
	if !ok || e.Unrecorded || e.Job == nil && e.Reservation == nil && e.Kind != state.LicensesCounted {
		return Record{}, false
	}
	at := time.Unix(0, int64(e.At)).In(zone)
	line := at.Format("01/02/2006 15:04:05") + ";" + letter + ";" + id + ";" + text(e) + "\n"
	return Record{Number: e.Record, Day: at.Format("20060102"), Line: line}, true
}

func text(e state.Event) string {
	var f fields
	switch e.Kind {
	case state.JobQueued:
		f.common(e.Job, false)
	case state.JobStarted, state.JobRestarted, state.JobCounted:
		f.common(e.Job, true)
		f.assignment(e.Job)
		f.list("resource_assigned", e.Job.LastRun().Assigned)
	case state.JobEnded:
		f.common(e.Job, true)
		f.assignment(original(e.Job))
		f.end(e.Job)
	case state.JobRequeued, state.JobCheckpointed:
		f.common(e.Job, true)
		f.assignment(e.Job)
		f.end(e.Job)
	case state.JobPhaseEnded, state.JobPhasesOver:
		f.common(e.Job, true)
		f.assignment(e.Job)
		f.phase(e.Job, e.Used)
	case state.JobPhaseBegan, state.JobAdjusted:
		f.common(e.Job, true)
		f.assignment(e.Job)
		f.list("resource_assigned", e.Job.LastRun().Assigned)
		f.int("session", e.Job.LastRun().Session)
		f.int("run_count", e.Job.Runs())
	case state.JobDeleteAsked:
		f.add("requestor", e.By.String())
	case state.JobAltered:
		for _, c := range e.Changes {
			f.add(c.Name, c.Value)
		}
	case state.JobSuspended:
		f.list("resources_used", e.Job.LastRun().Used)
		if e.Text != "" {
			f.add("resources_released", e.Text)
		}
		if s := e.Job.LastRun().StoppedByLoad(); s != nil {
			f.add("load_stop", pbs.ShortHost(string(s.Host))+":"+strings.Join(s.Indices, "+"))
		}
	case state.JobMoved:
		f.add("destination", e.Text)
	case state.ReservationAsked, state.ReservationConfirmed, state.ReservationBegan, state.ReservationRemoved:
		f.reservation(e)
	case state.JobAborted, state.LicensesCounted:
		return oneLine(e.Text)
	}
	return f.String()
}

// fields collects name=value pairs.
type fields struct{ strings.Builder }

func (f *fields) add(name, value string) {
	if f.Len() > 0 {
		f.WriteByte(' ')
	}
	f.WriteString(name)
	f.WriteByte('=')
	f.WriteString(quote(value))
}

// always adds a value in double quotes, whatever it holds.
func (f *fields) always(name, value string) {
	f.add(name, "")
	f.WriteString(`"` + oneLine(value) + `"`)
}

func (f *fields) int(name string, n int64) { f.add(name, strconv.FormatInt(n, 10)) }

func (f *fields) list(name string, items resource.List) {
	for _, it := range items {
		f.add(name+"."+it.Name, it.Value)
	}
}

// common writes the fields that most records begin with.
func (f *fields) common(j *state.Job, withStart bool) {
	f.add("user", cmp.Or(attribute(j, "euser"), j.Owner.Name))
	f.add("group", attribute(j, "egroup"))
	if account := attribute(j, "Account_Name"); account != "" {
		f.always("account", account)
	}
	f.add("project", cmp.Or(attribute(j, "project"), "_pbs_project_default"))
	if id := attribute(j, "accounting_id"); id != "" {
		f.always("accounting_id", id)
	}
	f.add("jobname", j.Name)
	f.add("queue", string(j.Queue))
	if j.Reservation != "" {
		f.add("resvname", j.ReservedName)
		f.add("resvID", string(j.Reservation))
	}
	f.int("ctime", j.Created.Unix())
	f.int("qtime", j.Queued.Unix())
	f.int("etime", j.Eligible.Unix())
	if withStart {
		f.int("start", j.Started.Unix())
	}
	if depend := j.Depends.Text(j.ID); depend != "" {
		f.add("depend", depend)
	}
	if j.Array != nil {
		f.add("array_indices", j.Array.Indices.String())
	}
}

func (f *fields) assignment(j *state.Job) {
	if j.Array == nil {
		f.add("exec_host", j.LastRun().ExecHost.String())
		f.add("exec_vnode", j.LastRun().ExecVnode.String())
	}
	f.list("Resource_List", j.Resources)
}

// original returns the job with the assignment that it had before it released any vnodes
// (specification: ramp-down section 13).
func original(j *state.Job) *state.Job {
	if j.LastRun().Phases == nil {
		return j
	}
	o, was := *j, j.Run.Phases.Orig
	o.EditRun().Assignment, o.Resources = was.Assignment, was.Resources
	return &o
}

// phase writes what ends the record of a phase.
func (f *fields) phase(j *state.Job, used resource.List) {
	f.int("session", j.LastRun().Session)
	if id := attribute(j, "alt_id"); id != "" {
		f.add("alt_id", id)
	}
	if j.Accrued != nil {
		f.add("eligible_time", resource.Seconds(j.Accrued.Seconds(j.Changed)).String())
	}
	f.int("run_count", j.Runs())
	f.list("resources_used", used)
}

func (f *fields) end(j *state.Job) {
	f.int("session", j.LastRun().Session)
	if id := attribute(j, "alt_id"); id != "" {
		f.add("alt_id", id)
	}
	f.int("end", j.Ended.Unix())
	status, _ := j.Exit()
	f.int("Exit_status", int64(status))
	f.list("resources_used", j.LastRun().Used)
	if j.Accrued != nil {
		f.add("eligible_time", resource.Seconds(j.Accrued.Seconds(j.Ended)).String())
	}
	f.int("run_count", j.Runs())
}

func attribute(j *state.Job, name string) string {
	v, _ := j.Attrs.Get(name, "")
	return v
}

// quote encloses a value that holds a blank: in double quotes, or in single ones if
// it contains double ones. JSON texts bring their own single quotes.
func quote(value string) string {
	value = oneLine(value)
	switch {
	case !strings.Contains(value, " "):
		return value
	case strings.HasPrefix(value, "'") && strings.HasSuffix(value, "'") && len(value) > 1:
		return value
	case strings.Contains(value, `"`):
		return "'" + value + "'"
	}
	return `"` + value + `"`
}

// oneLine keeps a record on one line, and what reads it aloud from commanding a terminal, whatever users put into names and comments:
// control characters stand as ^A.
func oneLine(s string) string {
	s = lineEnds.Replace(s)
	if !strings.ContainsFunc(s, isControl) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isControl(r) {
			b.WriteByte('^')
			r ^= 0x40
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isControl(r rune) bool { return pbs.IsControl(r) && r != '\t' }

// A Replacer builds its tables when it is first used: one for all records.
var lineEnds = strings.NewReplacer("\n", `\n`, "\r", `\r`)
