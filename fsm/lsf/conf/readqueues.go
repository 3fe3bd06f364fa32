package conf

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
)

// queues reads lsb.queues.
func (r *reader) queues() {
	f := r.files.Queues
	r.each(f, map[string]func(section, entry){"Queue": r.queue})
	if f != nil && len(r.out.Queues) == 0 {
		r.fail(section{path: f.Path}, "no queue is defined")
	}
	standard, ok := r.out.Server.Get("default_queue", "")
	if ok && !r.isQueue(standard) {
		r.warn(section{path: r.files.Params.Path}, "DEFAULT_QUEUE %s is no queue; ignored", standard)
		r.out.Server = r.out.Server.Unset("default_queue", "")
	}
	for _, l := range r.out.Config.Limits {
		for _, name := range l.Queues.Names {
			if name = strings.TrimPrefix(name, "~"); name != lsf.AllHosts && !r.isQueue(name) {
				r.warn(section{path: r.files.Resources.Path}, "limit %s is for queue %s, which is no queue", l.Name, name)
			}
		}
	}
}

// isQueue reports whether there will be a queue of that name.
func (r *reader) isQueue(name string) bool {
	return slices.ContainsFunc(r.out.Queues, func(q Queue) bool { return q.Name == name }) || slices.Contains(r.known.Queues, pbs.QueueName(name))
}

// A queueReader makes the attributes of one queue.
type queueReader struct {
	*reader
	s                section
	q                Queue
	all, user        string // QJOB_LIMIT and UJOB_LIMIT
	slots, resources bool   // SLOT_RESERVE and RESOURCE_RESERVE are given
	thresholds       []string
	requirement      string
	limits           string
}

func (r *reader) queue(s section, e entry) {
	q := &queueReader{reader: r, s: s, q: Queue{Name: e.get("QUEUE_NAME")}}
	switch name := pbs.QueueName(q.q.Name); {
	case name == "":
		r.fail(s, "Begin Queue without QUEUE_NAME")
		return
	case !name.Valid() || len(name) > pbs.MaxQueueName:
		r.fail(s, "%s cannot be the name of a queue, expected up to %d letters, digits, '_', '-' and '.'", name, pbs.MaxQueueName)
		return
	case slices.ContainsFunc(r.out.Queues, func(o Queue) bool { return o.Name == q.q.Name }):
		r.warn(s, "queue %s is there twice; ignored", name)
		return
	}
	q.set("backfill", "", "False")
	for _, x := range e {
		if x.value != "" {
			q.keyword(x)
		}
	}
	q.finish()
	r.out.Queues = append(r.out.Queues, q.q)
}

// set sets an attribute to a value that the table of attributes takes; another one is told of, and ignored.
func (q *queueReader) set(name, resource, value string) {
	def, ok := attr.Lookup(attr.Queue, name)
	if !ok {
		return
	}
	parsed, err := def.ParseResource(resource, value, q.reader)
	if err != nil {
		q.warn(q.s, "%s: %s of queue %s is %s; ignored", err, name, q.q.Name, value)
		return
	}
	q.q.Attrs = q.q.Attrs.Set(name, resource, parsed)
}

func (q *queueReader) keyword(x setting) {
	switch key := strings.ToUpper(x.key); key {
	case "QUEUE_NAME":
	case "DESCRIPTION":
		q.set("comment", "", x.value)
	case "PRIORITY":
		q.set("Priority", "", x.value)
	case "RES_REQ":
		q.requirement = x.value
	case "RESRSV_LIMIT":
		q.limits = x.value
	case "STOP_COND":
		q.condition(lsf.QueueStop, x)
	case "RESUME_COND":
		q.condition(lsf.QueueResume, x)
	case "RESOURCE_RESERVE", "SLOT_RESERVE":
		q.reserve(key, x)
	case "BACKFILL":
		if q.yes(q.s, x.key, x.value, false) {
			q.set("backfill", "", "True")
		}
	case "RUNLIMIT":
		q.limit("walltime", x)
	case "CPULIMIT":
		q.limit("cput", x)
	case "QJOB_LIMIT":
		q.all = q.bound(x)
	case "UJOB_LIMIT":
		q.user = q.bound(x)
	case "PJOB_LIMIT":
		q.set(lsf.QueueCPULimit, "", x.value)
	case "HJOB_LIMIT":
		q.set(lsf.QueueHostLimit, "", x.value)
	case "HOSTS":
		if x.value != lsf.AllHosts {
			words := strings.Fields(strings.ReplaceAll(x.value, "~ ", "~"))
			if err := q.out.Config.CheckHosts(words, func(string) bool { return true }); err != nil {
				q.warn(q.s, "HOSTS of queue %s: %s; ignored", q.q.Name, err)
				return
			}
			q.set(lsf.QueueHosts, "", strings.Join(words, ","))
		}
	case "USERS":
		if x.value != lsf.AllHosts {
			q.set("acl_users", "", strings.Join(strings.Fields(x.value), ","))
			q.set("acl_user_enable", "", "True")
		}
	default:
		q.threshold(x)
	}
}

// bound reads a number of slots, empty if it is none.
func (q *queueReader) bound(x setting) string {
	if n := q.count(q.s, x); n != nil {
		return strconv.FormatInt(*n, 10)
	}
	return ""
}

func (q *queueReader) threshold(x setting) {
	name, ok := q.index(x.key)
	if !ok {
		q.unknown(q.s, x.key)
		return
	}
	if t, ok := q.reader.threshold(q.s, x); ok {
		q.thresholds = slices.DeleteFunc(q.thresholds, func(had string) bool { return strings.HasPrefix(had, name+"=") })
		q.thresholds = append(q.thresholds, t.String())
	}
}

// condition sets when load suspends jobs, or lets them go on.
func (q *queueReader) condition(attribute string, x setting) {
	if _, err := lsf.ParseCondition(x.key, x.value, q.site); err != nil {
		q.warn(q.s, "%s of queue %s: %s; ignored", strings.ToUpper(x.key), q.q.Name, strings.TrimPrefix(err.Error(), x.key+": "))
		return
	}
	q.set(attribute, "", x.value)
}

// limit sets a default and a maximum.
func (q *queueReader) limit(resource string, x setting) {
	standard, most := q.reader.limits(q.s, x)
	if standard > 0 {
		q.set("resources_default", resource, strconv.FormatInt(standard, 10))
	}
	if most > 0 {
		q.set("resources_max", resource, strconv.FormatInt(most, 10))
	}
}

// reserve reads MAX_RESERVE_TIME[N].
func (q *queueReader) reserve(key string, x setting) {
	inside, ok := strings.CutPrefix(strings.ReplaceAll(x.value, " ", ""), "MAX_RESERVE_TIME[")
	turns, closed := strings.CutSuffix(inside, "]")
	n, number := positive(turns)
	if !ok || !closed || !number {
		q.warn(q.s, "MAX_RESERVE_TIME is specified without period time for queue %s; ignoring %s", q.q.Name, key)
		return
	}
	if key == "SLOT_RESERVE" {
		q.slots = true
		q.set("slot_reserve", "", strconv.FormatInt(n, 10))
		return
	}
	q.resources = true
	q.set("resource_reserve", "", strconv.FormatInt(n, 10))
}

// finish checks what several keywords say together.
func (q *queueReader) finish() {
	name, c := q.q.Name, &q.out.Config
	if q.slots && q.resources {
		q.warn(q.s, "both RESOURCE_RESERVE and SLOT_RESERVE are defined for queue %s; SLOT_RESERVE ignored", name)
		q.q.Attrs = q.q.Attrs.Unset("slot_reserve", "")
	}
	switch {
	case q.resources && !c.Has(lsf.ModuleReserve):
		q.warn(q.s, "RESOURCE_RESERVE of queue %s ignored: %s is not configured in lsb.modules", name, lsf.ModuleReserve)
		q.q.Attrs = q.q.Attrs.Unset("resource_reserve", "")
	case q.resources && !c.ReservesParallel():
		q.warn(q.s, "%s must be listed before %s; job slot reservation by RESOURCE_RESERVE disabled for queue %s", lsf.ModuleParallel, lsf.ModuleReserve, name)
	case q.slots && !q.resources && !c.Has(lsf.ModuleParallel):
		q.warn(q.s, "SLOT_RESERVE of queue %s ignored: %s is not configured in lsb.modules", name, lsf.ModuleParallel)
		q.q.Attrs = q.q.Attrs.Unset("slot_reserve", "")
	}
	var limits []string
	if q.all != "" {
		limits = append(limits, "[o:PBS_ALL="+q.all+"]")
	}
	if q.user != "" {
		limits = append(limits, "[u:PBS_GENERIC="+q.user+"]")
	}
	if len(limits) > 0 {
		q.set("max_run_res", "ncpus", strings.Join(limits, ","))
	}
	slices.Sort(q.thresholds)
	if len(q.thresholds) > 0 {
		q.set(lsf.QueueThresholds, "", strings.Join(q.thresholds, " "))
	}
	q.requirements()
}

// requirements sets RES_REQ and RESRSV_LIMIT as far as they can be held, and tells of what is outside of the latter.
func (q *queueReader) requirements() {
	name := q.q.Name
	var of resreq.Queue
	if q.limits != "" {
		var invalid []string
		of.Limits, invalid = resreq.ParseLimits(q.limits, q.site)
		for _, resource := range invalid {
			q.warn(q.s, "RESRSV_LIMIT of resource %s in queue %s is not valid; ignored", resource, name)
		}
		if len(of.Limits) > 0 {
			q.set(lsf.QueueLimits, "", of.Limits.String())
		}
	}
	if !q.reader.requirement(q.s, "queue "+name, q.requirement) {
		return
	}
	q.set(lsf.QueueRequirement, "", q.requirement)
	if parsed, err := resreq.Parse(q.requirement, q.site); err == nil {
		of.Requirement = &parsed
	}
	_, outside := of.WithoutOutside()
	for _, resource := range outside {
		q.warn(q.s, "RES_REQ value of resource %s is outside RESRSV_LIMIT of queue %s; ignored", resource, name)
	}
}
