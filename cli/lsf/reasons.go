package lsf

import (
	"fmt"
	"slices"
	"strings"

	"rampart/fsm/lsf"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
)

// aboutHosts are the beginnings of what the scheduler says of jobs for which there is no room on vnodes: of these it is told which
// host stands in the way how (specification: reservation section 9.2).
var aboutHosts = []string{
	"Insufficient amount of resource: ", "Insufficient amount of server resource: ", "Not enough free nodes available", "Not enough total nodes available", "Job would conflict with reservation or top job",
}

// hostReasons returns why hosts have no room for a job that waits, equal reasons of several hosts in one line; nothing if it waits for
// something else. What is kept for the job itself counts as free for it.
func (v *jobsView) hostReasons(j job) []string {
	text := j.get("comment")
	if _, words, ok := strings.Cut(text, ": "); ok {
		text = words
	}
	limit, limited, _ := lsf.LimitAt(text)
	if v.site == nil || j.get("job_state") != "Q" || len(limited) == 0 && !slices.ContainsFunc(aboutHosts, func(begin string) bool { return strings.HasPrefix(text, begin) }) {
		return nil
	}
	own := map[string]keeping{}
	for _, k := range j.kept() {
		own[k.host] = k
	}
	asked := amount(j.Object, "Resource_List", "select") + " " + amount(j.Object, "Resource_List", "place") + " " + j.get(lsf.JobSelect) + " " + j.get(lsf.JobQueueSelect) +
		" " + j.get(lsf.JobOrder) + " " + j.get(lsf.JobHosts) + " " + j.get(lsf.JobLayout) + fmt.Sprint(v.site.wide(j), v.site.usable[j.get("queue")]) +
		" " + j.get(lsf.JobRequirement) + " " + j.get(lsf.JobApplication) + " " + j.get(lsf.JobCombined)
	alike := len(own) == 0 && len(limited) == 0
	if all, known := v.site.reasons[asked]; known && alike {
		return all
	}
	all := v.reasonsOf(j, own, atLimit{limit, limited})
	if alike {
		v.site.reasons[asked] = all
	}
	return all
}

// atLimit is a limit on slots, and on which hosts it keeps a job from starting.
type atLimit struct {
	reason string
	hosts  []string
}

// reasonsOf asks each host why it has no room for a job for which something may be kept there.
func (v *jobsView) reasonsOf(j job, own map[string]keeping, limit atLimit) []string {
	sel, err := spec.ParseSelect(amount(j.Object, "Resource_List", "select"))
	if err != nil || len(sel.Chunks) == 0 {
		return nil
	}
	place, _ := spec.ParsePlace(amount(j.Object, "Resource_List", "place"))
	where, queue := v.site.site.selections(j.get(lsf.JobSelect)), v.site.site.selection(j.get(lsf.JobQueueSelect))
	order, wide := j.get(lsf.JobOrder), v.site.wide(j)
	named, ofQueue := strings.Fields(j.get(lsf.JobHosts)), v.site.usable[j.get("queue")]
	merged, application := j.get(lsf.JobCombined), j.get(lsf.JobApplication)
	around := v.site.around(len(where) > 0 || queue.Given() || v.site.byAgent || order != "" || len(wide) > 0 || len(named)+len(ofQueue) > 0 || merged != "" && application != "")
	a := asking{sel: sel, place: place, slots: j.slots(), limit: limit, where: where, layout: lsf.ReadLayout(j.get(lsf.JobLayout)), queue: queue, wide: wide}
	if len(named) > 0 {
		choice := around.config.HostChoice(named)
		a.named = &choice
	}
	if len(ofQueue) > 0 {
		choice := around.config.HostChoice(ofQueue)
		a.usable = &choice
	}
	if merged != "" {
		a.ofQueue = v.site.site.reserved(merged)
		for name := range v.site.site.reserved(j.get(lsf.JobRequirement)) {
			delete(a.ofQueue, name)
		}
		if profile, ok := around.config.Application(application); ok {
			for name := range v.site.site.reserved(profile.Requirement) {
				delete(a.ofQueue, name)
			}
		}
	}
	var lines []string
	byText := map[string][]string{}
	usable, sum, few := 0, 0, []string{}
	for _, h := range v.site.candidates(around, order) {
		h.own = own[h.Name]
		why, free := a.reason(h)
		if why == "" {
			usable, sum, few = usable+1, sum+free, append(few, h.Name)
			continue
		}
		if byText[why] == nil {
			lines = append(lines, why)
		}
		byText[why] = append(byText[why], h.Name)
	}
	var all []string
	switch {
	case a.apart() && usable < a.hosts():
		all = append(all, lsf.ReasonSpan)
	case !a.apart() && !a.single() && sum < a.slots && len(few) > 0:
		all = append(all, v.ofHosts(lsf.ReasonNoSlots, few))
	}
	// That others were not asked for, or are not the queue's, is told where it is all that there is to tell.
	outside := func(why string) bool { return why == lsf.ReasonNotAsked || why == lsf.ReasonNotUsable }
	if inside := slices.DeleteFunc(slices.Clone(lines), outside); len(inside)+len(all) > 0 {
		lines = inside
	}
	for _, why := range lines {
		all = append(all, v.ofHosts(why, byText[why]))
	}
	return all
}

// reserved returns what a requirement reserves something of.
func (c combiner) reserved(text string) map[string]bool {
	names := map[string]bool{}
	r, err := resreq.Parse(text, c.site)
	if err != nil {
		return names
	}
	for _, term := range r.Terms {
		for _, usage := range term.Rusage {
			for _, of := range usage {
				names[of.Resource] = true
			}
		}
	}
	return names
}

// wide returns what a job asks for of resources that belong to no host.
func (v *siteView) wide(j job) (all resource.List) {
	for _, def := range v.defs {
		if text := amount(j.Object, "Resource_List", def.Name); text != "" && !def.AtHost() && def.Consumable() {
			all = append(all, resource.Item{Name: def.Name, Value: text})
		}
	}
	return all
}

// candidates returns the hosts in the order that a job has them in, of the keys of its section order.
func (v *siteView) candidates(a *around, order string) []sighted {
	all := make([]sighted, 0, len(v.hosts))
	for _, h := range v.hosts {
		all = append(all, a.see(h))
	}
	if keys := v.site.order(order); len(keys) > 0 {
		all = resreq.Candidates(resreq.Simple{Order: keys}, all, "", a.site)
	}
	return all
}

// ofHosts puts the hosts behind a reason: their names, or how many they are.
func (v *jobsView) ofHosts(reason string, hosts []string) string {
	reason = strings.TrimSuffix(reason, ";")
	switch {
	case v.long:
		return fmt.Sprintf("%s: %s;", reason, strings.Join(hosts, ", "))
	case len(hosts) == 1:
		return reason + ": 1 host;"
	}
	return fmt.Sprintf("%s: %d hosts;", reason, len(hosts))
}

// asking is what a job asks of hosts.
type asking struct {
	sel   spec.Select
	place spec.Place
	slots int
	limit atLimit

	wide    resource.List   // what the job has as a whole
	named   *lsf.HostChoice // the hosts among which it may run; nil: any
	usable  *lsf.HostChoice // those of its queue; nil: any
	ofQueue map[string]bool // what it reserves because its queue wants so

	where  []resreq.Select // what hosts are asked for that chunks cannot say: in all, or for each term
	layout lsf.Layout      // which chunks are of which term
	queue  resreq.Select   // and what of it the queue wants
}

// suits reports whether a host is what a kind of chunk asks for.
func (a *asking) suits(h sighted, kind int) bool {
	switch {
	case len(a.where) == 1:
		return a.where[0].Holds(h, "")
	case kind >= len(a.layout.Kinds) || a.layout.Kinds[kind].Term > len(a.where):
		return true
	}
	return a.where[a.layout.Kinds[kind].Term-1].Holds(h, "")
}

func (a *asking) apart() bool {
	return a.sel.Total() > 1 && (a.place.Arrangement == spec.Scatter || a.place.Arrangement == spec.VScatter)
}

func (a *asking) single() bool { return a.sel.Total() == 1 || a.place.Arrangement == spec.Pack }

// hosts returns how many hosts the job needs.
func (a *asking) hosts() int { return a.sel.Total() }

// reason returns why a host has no room for any chunk, in the order of the specification; empty: it has, and so many slots.
func (a *asking) reason(h sighted) (why string, free int) {
	if a.usable != nil && !a.usable.Has(h.Name) {
		return lsf.ReasonNotUsable, 0
	}
	if a.named != nil && !a.named.Has(h.Name) {
		return lsf.ReasonNotAsked, 0
	}
	states := strings.Split(value(h.Object, "state"), ",")
	if !slices.Contains(states, "free") && !slices.Contains(states, "job-busy") && !slices.Contains(states, "<various>") {
		return lsf.ReasonClosed, 0
	}
	switch {
	case !a.queue.Holds(h, ""):
		return lsf.ReasonQueueSel, 0
	}
	ncpus, _ := h.Resource("ncpus")
	left, _, _ := h.Left(ncpus)
	free = int(left)
	for i, c := range a.sel.Chunks {
		one := lsf.ReasonSelect
		if a.suits(h, i) {
			one = a.ofChunk(h, c, free)
		}
		if one == "" {
			return "", free
		}
		if i == 0 {
			why = one
		}
	}
	return why, free
}

// lacks returns the reason of a job that cannot reserve what it is to reserve of a resource.
func (a *asking) lacks(resource string) string {
	if a.ofQueue[resource] {
		return fmt.Sprintf(lsf.ReasonQueueUse, resource)
	}
	return lsf.ReasonOfUsage(resource)
}

// ofChunk is reason for one kind of chunk.
func (a *asking) ofChunk(h sighted, c spec.Chunk, free int) string {
	slots, times, named := 1, int64(1), false
	if n, ok := c.Items.Get("ncpus"); ok {
		slots = number(n)
	}
	if a.place.Arrangement == spec.Pack {
		slots, times = slots*c.Count, int64(c.Count)
	}
	for _, it := range c.Items {
		def, ok := h.Resource(it.Name)
		named = named || it.Name == "host"
		switch {
		case !ok, it.Name == "ncpus", it.Name == "mpiprocs", it.Name == "ompthreads":
		case it.Name == "host" && it.Value != h.Name, it.Name == "vnode" && hostOfVnode(it.Value) != h.Name:
			return lsf.ReasonNotAsked
		case !def.Consumable() && it.Name != "host" && it.Name != "vnode":
			want, err := def.Parse(it.Value)
			offered := amount(h.Object, "resources_available", it.Name)
			if err != nil || !resource.Matches(def, want, offered, offered != "") {
				return lsf.ReasonSelect
			}
		}
	}
	for _, it := range c.Items {
		def, ok := h.Resource(it.Name)
		if !ok || it.Name == "ncpus" || !def.Consumable() {
			continue
		}
		has, _, _ := h.Left(def)
		if has < times*def.Measure(it.Value) {
			return a.lacks(it.Name)
		}
	}
	for _, it := range a.wide {
		def, _ := h.Resource(it.Name)
		if has, _, bounded := h.Left(def); bounded && has < def.Measure(it.Value) {
			return a.lacks(it.Name)
		}
	}
	switch {
	case slices.Contains(a.limit.hosts, h.Name):
		return a.limit.reason
	case free <= 0:
		return lsf.ReasonSlotLimit
	case free >= slots:
		return ""
	case a.single() && a.slots > 1 && (a.place.Arrangement == spec.Pack || !named): // no span is needed where -m says the host
		return lsf.ReasonOneHost
	}
	return lsf.ReasonNoSlots
}
