package state

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A Limit is one that applies to a job: how much its subject may have, and how much the
// job adds. With a resource amounts are those of resource.Def.Measure, else they are jobs.
type Limit struct {
	Subject  Subject
	Queue    pbs.QueueName // empty: of the server, over all queues
	Resource string        // empty: jobs are counted
	Most     int64
	Need     int64 // of the one job
	Offer    bool  // Most is what server or queue have of the resource: resources_available
	generic  bool  // it is anybody's of the subject's kind
	waiting  bool  // running jobs do not count
}

// Used returns what the subject of the limit has already: of running jobs, or of all that
// are not finished.
func (t *tables) Used(l Limit, running bool) int64 {
	tally := t.TallyOf(l.Subject, l.Queue)
	jobs, run := tally.Jobs, tally.Running
	if l.Resource != "" {
		jobs, run = tally.Of(l.Resource)
	}
	switch {
	case running:
		return run
	case l.waiting:
		return jobs - run
	}
	return jobs
}

// limitAttribute is an attribute that limits. One of the older form has a number, which
// counts for each subject of a kind.
type limitAttribute struct {
	name    string
	kind    byte
	waiting bool
}

// softLimits limit nothing: jobs beyond them come after the others.
var softLimits = []limitAttribute{
	{name: "max_run_soft"},
	{name: "max_run_res_soft"},
	{name: "max_user_run_soft", kind: 'u'},
	{name: "max_group_run_soft", kind: 'g'},
	{name: "max_user_res_soft", kind: 'u'},
	{name: "max_group_res_soft", kind: 'g'},
}

// runLimits limit what may run.
var runLimits = []limitAttribute{
	{name: "max_run"},
	{name: "max_run_res"},
	{name: "max_running", kind: 'o'},
	{name: "max_user_run", kind: 'u'},
	{name: "max_group_run", kind: 'g'},
	{name: "max_user_res", kind: 'u'},
	{name: "max_group_res", kind: 'g'},
	{name: offers, kind: 'o'},
}

// queueLimits limit what may come into a queue.
var queueLimits = []limitAttribute{
	{name: "max_queued"},
	{name: "max_queued_res"},
	{name: "max_queuable", kind: 'o'},
	{name: "queued_jobs_threshold", waiting: true},
	{name: "queued_jobs_threshold_res", waiting: true},
}

// offers is the attribute that says what server or queue have of resources.
const offers = "resources_available"

// RunLimits returns the limits that apply to a job that is to run, those of the server
// first.
func (t *tables) RunLimits(j *Job) []Limit { return t.limitsOn(j, runLimits) }

// SoftLimits returns the soft limits that apply to a job that is to run.
func (t *tables) SoftLimits(j *Job) []Limit { return t.limitsOn(j, softLimits) }

// QueueLimits returns the limits that apply to a job that comes into its queue.
func (t *tables) QueueLimits(j *Job) []Limit { return t.limitsOn(j, queueLimits) }

func (t *tables) limitsOn(j *Job, attributes []limitAttribute) []Limit {
	var all []Limit
	if j.Reservation == "" { // what a reservation has was granted as a whole
		all = t.limitsIn(t.server.Attrs, "", j, attributes)
	}
	if q, ok := t.Queue(j.Queue); ok {
		all = append(all, t.limitsIn(q.Attrs, j.Queue, j, attributes)...)
	}
	return all
}

// limitsIn finds what limits a job in the attributes of the server or of its queue.
func (t *tables) limitsIn(list attr.List, queue pbs.QueueName, j *Job, attributes []limitAttribute) []Limit {
	var all []Limit
	for _, a := range attributes {
		for _, e := range list.Of(a.name) {
			l := Limit{Queue: queue, Resource: e.Resource, Need: 1, Offer: a.name == offers, waiting: a.waiting}
			def, applies := t.asks(j, &l)
			if !applies {
				continue
			}
			all = append(all, l.each(e.Value, a.kind, def, j.Subjects())...)
		}
	}
	return all
}

// asks finds how much a job asks for of what a limit is about; false if nothing.
func (t *tables) asks(j *Job, l *Limit) (resource.Def, bool) {
	if l.Resource == "" {
		return resource.Def{Type: resource.Long}, true
	}
	text, asked := j.Resources.Get(l.Resource)
	def, known := t.Resource(l.Resource)
	if !known || !asked || !def.Type.Numeric() || l.Offer && def.Flags&resource.PerQueue == 0 {
		return def, false
	}
	l.Need = def.Measure(text)
	return def, true
}

// each returns the limit for each subject that the value is about. Of the names in it that
// of the job's own user, group or project counts, else the generic one.
func (l Limit) each(value string, kind byte, def resource.Def, subjects [4]Subject) []Limit {
	var all []Limit
	entries := attr.LimitsOf(value)
	for _, s := range subjects {
		most, generic := value, true
		if kind == 0 {
			most, generic = entryFor(entries, s)
		}
		if most == "" || kind != 0 && kind != s.Kind {
			continue
		}
		l.Subject, l.Most, l.generic = s, def.Measure(most), generic
		all = append(all, l)
	}
	return all
}

// entryFor returns the limit of a subject, and whether it is the generic one.
func entryFor(entries []attr.Limit, s Subject) (value string, generic bool) {
	for _, l := range entries {
		if l.Kind != s.Kind {
			continue
		}
		if l.Name == s.Name {
			return l.Value, false
		}
		if l.Name == attr.LimitGeneric {
			value, generic = l.Value, true
		}
	}
	return value, generic
}

// Reached returns the first of the limits by which times as many jobs like the one that they apply to are
// too many, as what the job waits for; planned is what else is to count.
func (t *tables) Reached(limits []Limit, running bool, times int64, planned func(Limit) int64) (Wait, bool) {
	for _, l := range limits {
		used := t.Used(l, running)
		if planned != nil {
			used += planned(l)
		}
		if left := l.Most - used; l.Need > 0 && (left < 0 || l.Need > left/max(times, 1)) { // no product: it might overflow
			return t.waitFor(l, used), true
		}
	}
	return Wait{}, false
}

func (t *tables) waitFor(l Limit, used int64) Wait {
	if !l.Offer {
		w := Wait{Code: WaitLimit, Resource: l.Resource, Queue: l.Queue, Subject: l.Subject, Queued: l.waiting}
		if l.generic && l.Subject != everybody {
			w.Subject.Name = ""
		}
		return w
	}
	def, _ := t.Resource(l.Resource)
	code := WaitServerShort
	if l.Queue != "" {
		code = WaitQueueShort
	}
	return ShortOf(code, def, l.Need, l.Most-used, l.Most)
}

// ShortOf returns what a job waits for that needs more of a resource of server or queue than is left. If it needs more than there
// is, it can never run.
func ShortOf(code WaitCode, def resource.Def, need, left, most int64) Wait {
	w := Short(code, &resource.Shortage{
		Resource: def.Name, Request: def.Measured(need), Free: signed(def, max(min(0, most), left)), Offered: signed(def, most),
	})
	w.Never = need > most
	return w
}

// signed writes an amount, which may be less than nothing where a program says what there is.
func signed(def resource.Def, n int64) string {
	if n < 0 {
		return "-" + def.Measured(-n)
	}
	return def.Measured(n)
}

// Unmatched returns the wait for the first resource that server or queue have and that is not consumed,
// and of which the job asks for another value, if there is one.
func (t *tables) Unmatched(j *Job) (w Wait, found bool) {
	lists := []resource.List{t.server.Resources(offers)}
	if q, ok := t.Queue(j.Queue); ok {
		lists = append(lists, q.Resources(offers))
	}
	for at, offers := range lists {
		for _, offer := range offers {
			text, asked := j.Resources.Get(offer.Name)
			def, known := t.Resource(offer.Name)
			if !asked || !known || def.Type.Numeric() || def.AtHost() {
				continue
			}
			if want, err := def.Parse(text); err == nil && !resource.Matches(def, want, offer.Value, true) {
				return Short([...]WaitCode{WaitServerShort, WaitQueueShort}[at], resource.Unlike(def, want, offer.Value)), true
			}
		}
	}
	return Wait{}, false
}

// Limited reports whether jobs of the queue may have to wait for limits.
func (t *tables) Limited(queue pbs.QueueName) bool {
	q, _ := t.Queue(queue)
	return limits(t.server.Attrs) || t.LSF().LimitsSlots() || q != nil && (limits(q.Attrs) || q.limitsSlots())
}

func limits(list attr.List) bool {
	return among(list, runLimits) || among(list, softLimits)
}

// SoftlyLimited reports whether there are soft limits on jobs of the queue.
func (t *tables) SoftlyLimited(queue pbs.QueueName) bool {
	q, _ := t.Queue(queue)
	return among(t.server.Attrs, softLimits) || q != nil && among(q.Attrs, softLimits)
}

func among(list attr.List, attributes []limitAttribute) bool {
	return slices.ContainsFunc(list, func(e attr.Entry) bool {
		return slices.ContainsFunc(attributes, func(a limitAttribute) bool { return a.name == e.Name })
	})
}

// Weight returns how many jobs come into the queue with the job.
func (j *Job) Weight() int64 {
	if j.Array != nil {
		return int64(j.Array.Queued.Count())
	}
	return 1
}

// ofSite writes what a job asks for beside its select, of the resources that the site
// made: two jobs that differ in it are not alike to the scheduler.
func ofSite(asked resource.List) string {
	var b strings.Builder
	for _, it := range asked {
		if _, builtin := resource.Lookup(it.Name); !builtin {
			b.WriteString(it.Name + "=" + strconv.Quote(it.Value) + " ")
		}
	}
	return b.String()
}
