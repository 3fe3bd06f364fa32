package lsf

import (
	"fmt"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
)

// The attributes of a queue that say what it wants of its jobs (RES_REQ and RESRSV_LIMIT of lsb.queues), and
// those of a job: what bsub -R has said, and what was made of it with the queue's.
const (
	QueueRequirement = "lsf_res_req"
	QueueLimits      = "lsf_resrsv_limit"
	QueueHosts       = "lsf_hosts"
	QueueCPULimit    = "lsf_pjob_limit"
	QueueHostLimit   = "lsf_hjob_limit"
	QueueThresholds  = "lsf_thresholds"
	QueueStop        = "lsf_stop_cond"   // STOP_COND: where a host satisfies it load suspends jobs
	QueueResume      = "lsf_resume_cond" // RESUME_COND: where all hosts satisfy it they go on
	JobRequirement   = "lsf_resreq"
	JobSlots         = "lsf_slots" // "2,6": it may have more than it waits for
	JobApplication   = "lsf_app"
	JobCombined      = "lsf_combined"
	JobSelect        = "lsf_select"       // what of it chunks cannot say
	JobQueueSelect   = "lsf_queue_select" // and of that what the queue wants
	JobOrder         = "lsf_order"        // by what its hosts are ordered
	JobHosts         = "lsf_asked_hosts"  // those that bsub -m has named, where they are several
	JobLayout        = "lsf_layout"       // how its chunks stand on hosts, beside its place
	JobAlternatives  = "lsf_alternatives" // what it may reserve, one of which it gets
	JobEffective     = "lsf_effective"    // of a job that has started: with the one that it got
	MemoryLimit      = "pmem"             // the resource that bsub -M bounds
)

// QueueOf reads what a queue says of the requirements of its jobs. What cannot be read, as when a
// resource is there no more, and what is outside of the queue's own limits counts as not said.
func QueueOf(requirement, limits string, site resreq.Site) resreq.Queue {
	var q resreq.Queue
	if requirement != "" {
		if r, err := resreq.Parse(requirement, site); err == nil {
			q.Requirement = &r
		}
	}
	if limits != "" {
		q.Limits, _ = resreq.ParseLimits(limits, site)
	}
	q, _ = q.WithoutOutside()
	return q
}

// CheckQueue refuses a value of an attribute of a queue that says what it wants of its jobs.
func CheckQueue(attribute, value string, t resource.Table, site resreq.Site) error {
	switch attribute {
	case QueueRequirement:
		r, err := resreq.Parse(value, site)
		if err != nil {
			if refusal, ok := err.(*resreq.Refusal); ok {
				return refusal.PBS()
			}
			return err
		}
		slots := 0
		for _, term := range r.Terms {
			slots += term.Slots
		}
		_, err = Shapes(Request{Requirement: r, Slots: max(slots, 1)}, t, site)
		return err
	case QueueThresholds:
		_, err := ParseThresholds(value, site)
		return err
	case QueueStop, QueueResume:
		_, err := ParseCondition(attribute, value, site)
		return err
	case QueueLimits:
		all, invalid := resreq.ParseLimits(value, site)
		if len(invalid) > 0 || len(all) == 0 {
			return pbs.Errorf(pbs.BadAttributeValue, "%s", fmt.Sprintf("%s: not valid: %s; expected [resource=min,max] of resources that can be reserved",
				attribute, strings.Join(invalid, " ")))
		}
	}
	return nil
}

// ParseCondition reads the value of lsf_stop_cond or lsf_resume_cond: a requirement of which the selection counts (specification: reservation
// section 9.8).
func ParseCondition(attribute, text string, site resreq.Site) (resreq.Select, error) {
	r, err := resreq.Parse(text, site)
	if refusal, ok := err.(*resreq.Refusal); ok {
		return resreq.Select{}, refusal.PBS()
	}
	if err != nil {
		return resreq.Select{}, err
	}
	if len(r.Terms) != 1 || r.Terms[0].Slots > 0 || !r.Terms[0].Select.Given() {
		return resreq.Select{}, pbs.Errorf(pbs.BadAttributeValue, "%s: not valid: %s; expected a select[] of hosts", attribute, text)
	}
	return r.Terms[0].Select, nil
}

// Asked returns what a job that came by a command of PBS reserves: the amounts of each of its chunks, and
// with the first of them those of the job as a whole.
func Asked(sel string, whole resource.List, t resource.Table, site resreq.Site) resreq.Requirement {
	var terms []resreq.Term
	chunks, err := spec.ParseSelect(sel)
	if err != nil {
		chunks = spec.Select{}
	}
	for _, c := range chunks.Chunks {
		terms = append(terms, resreq.Term{Slots: max(c.Count*slotsOf(c), 1), Simple: resreq.Simple{Rusage: usages(amounts(c.Items, t, site))}})
	}
	var of resource.List
	for _, item := range whole {
		if def, ok := t.Resource(item.Name); ok && !def.AtHost() {
			of = append(of, item)
		}
	}
	wide := amounts(of, t, site)
	switch {
	case len(terms) == 0:
		terms = []resreq.Term{{Simple: resreq.Simple{Rusage: usages(wide)}}}
	case len(wide) > 0:
		first := wide
		if len(terms[0].Rusage) > 0 {
			first = append(first, terms[0].Rusage[0]...)
		}
		terms[0].Rusage = usages(first)
	}
	if len(terms) == 1 {
		terms[0].Slots = 0
	}
	return resreq.Requirement{Terms: terms}
}

func usages(u resreq.Usage) []resreq.Usage {
	if len(u) == 0 {
		return nil
	}
	return []resreq.Usage{u}
}

// amounts returns those of resources that a requirement can reserve.
func amounts(items resource.List, t resource.Table, site resreq.Site) resreq.Usage {
	var u resreq.Usage
	for _, item := range items {
		r, known := site.Resource(item.Name)
		def, ok := t.Resource(item.Name)
		if !known || !ok || !r.Consumable || !def.Type.Numeric() {
			continue
		}
		amount := resreq.Amount(def.Measure(item.Value)) * resreq.One
		if def.Type == resource.Float {
			amount = resreq.Amount(def.Measure(item.Value)) / (1_000_000 / resreq.One)
		}
		u = append(u, resreq.Reservation{Resource: r.Name, Amount: amount})
	}
	return u
}

// Subjects of the limits of a queue's slots, in max_run_res.ncpus.
const (
	Everybody = "o:PBS_ALL"
	EachUser  = "u:PBS_GENERIC"
	OneUser   = "u:" // and a name
)

// SlotLimit returns what a value of max_run_res.ncpus allows everybody, each user, or one of them; empty: it does not say.
func SlotLimit(value, whose string) string {
	for entry := range strings.SplitSeq(value, ",") {
		entry = strings.Trim(strings.TrimSpace(entry), "[]")
		if who, limit, ok := strings.Cut(entry, "="); ok && strings.TrimSpace(who) == whose {
			return strings.TrimSpace(limit)
		}
	}
	return ""
}
