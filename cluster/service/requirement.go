package service

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// requirement is the attribute that holds what bsub -R has said.
const requirement = lsf.JobRequirement

// byLSF reports whether a job came by bsub, or was given a requirement by bmod.
func byLSF(j *state.Job) bool {
	_, ok := j.Attrs.Get(requirement, "")
	return ok
}

// saidNothing is what bsub says without -R.
const saidNothing = "select[type==any]"

// required turns the resource requirement of a job into its select and place (specification:
// reservation section 10.1). The slots are in Resource_List.ncpus, the host that it must run on in
// Resource_List.host, or those among which, separated by commas; and what place says of sharing stays. A job that runs may reserve less
// than its queue's minimum. It was submitted from a host.
func required(v *state.View, queue pbs.QueueName, list attr.List, running bool, from pbs.HostName) (attr.List, error) {
	text, ok := list.Get(requirement, "")
	slots, ranged := list.Get(lsf.JobSlots, "")
	if !ok && ranged {
		return nil, pbs.Errorf(pbs.BadAttributeValue, "%s is for jobs with %s", lsf.JobSlots, requirement)
	}
	if !ok {
		return list, nil
	}
	if _, both := list.Get("Resource_List", "select"); both {
		return nil, pbs.Errorf(pbs.BadAttributeValue, "%s and Resource_List.select say the same thing twice", requirement)
	}
	site := v.LSF().Site(slices.Collect(v.CustomResources()))
	req, err := resreq.Parse(text, site)
	if err != nil {
		return nil, refusedRequirement(err)
	}
	name, _ := list.Get(lsf.JobApplication, "")
	application, _ := v.LSF().Application(name)
	if combined, err := withQueue(v, queue, req, text, application.Resources(site), site, running); err != nil {
		return nil, refusedRequirement(err)
	} else if combined != nil {
		req = *combined
		list = list.Set(lsf.JobCombined, "", req.String())
	}
	if req, err = located(v, req, from); err != nil {
		return nil, err
	}
	r := lsf.Request{Requirement: req, Slots: 1, Methods: v.LSF().Methods()}
	if n, ok := list.Get("Resource_List", "ncpus"); ok {
		if r.Slots, err = strconv.Atoi(n); err != nil {
			return nil, pbs.Attribute(pbs.BadAttributeValue, "Resource_List.ncpus")
		}
	}
	most := r.Slots
	if ranged {
		if r.Slots, most, ok = lsf.ReadSlots(slots); !ok {
			return nil, pbs.Attribute(pbs.BadAttributeValue, lsf.JobSlots)
		}
	}
	if hosts, ok := list.Get("Resource_List", "host"); ok {
		words := strings.Split(hosts, ",")
		if r.Hosts, err = knownHosts(v, words); err != nil {
			return nil, err
		}
		if v.LSF().Grouped(words) { // whoever places the job asks the groups then
			list = list.Set(lsf.JobHosts, "", strings.Join(words, " "))
			r.Hosts = nil
		} else if len(r.Hosts) > 1 {
			list = list.Set(lsf.JobHosts, "", strings.Join(r.Hosts, " "))
		}
	}
	if r.Slots > 1 && r.Slots > allSlots(v) {
		return nil, refusedRequirement(&resreq.Refusal{Cause: resreq.TooManyProcessors, At: -1})
	}
	shape, alternatives, err := shapesOf(r, most, v, site)
	if err != nil {
		return nil, refusedRequirement(err)
	}
	if alternatives != "" {
		list = list.Set(lsf.JobAlternatives, "", alternatives)
	}
	if text := shape.WhereText(); text != "" {
		list = list.Set(lsf.JobSelect, "", text)
		if text := queueWhere(v, queue, site, from); text != "" {
			list = list.Set(lsf.JobQueueSelect, "", text)
		}
	}
	if text := shape.OrderText(); text != "" {
		list = list.Set(lsf.JobOrder, "", text)
	}
	if text, ok := list.Get("Resource_List", "place"); ok {
		place, err := spec.ParsePlace(text)
		if err != nil {
			return nil, err
		}
		shape.Layout.Alone = shape.Layout.Unit && place.Sharing == spec.ExclusiveHost
		shape.Place.Sharing = cmp.Or(shape.Place.Sharing, place.Sharing)
	}
	if text := shape.LayoutText(); text != "" {
		list = list.Set(lsf.JobLayout, "", text)
	}
	list = without(list, "Resource_List", "ncpus", "host")
	for _, item := range shape.Wide {
		list = list.Set("Resource_List", item.Name, item.Value)
	}
	return list.Set("Resource_List", "select", shape.Select.String()).Set("Resource_List", "place", shape.Place.String()), nil
}

// shapesOf returns the shape in which a job waits, and what it may have instead: of its alternatives, or up to most slots.
func shapesOf(r lsf.Request, most int, v *state.View, site resreq.Site) (lsf.Shape, string, error) {
	if most > r.Slots {
		all, err := lsf.Sizes(r, most, v, site)
		if err != nil {
			return lsf.Shape{}, "", err
		}
		return all[0], lsf.PrintSizes(all), nil
	}
	all, err := lsf.Shapes(r, v, site)
	if err != nil {
		return lsf.Shape{}, "", err
	}
	return all[0], lsf.PrintAlternatives(all), nil
}

// requiredAgain turns a change of a job's requirement into one of its select and place: bmod. The slots and the sharing are taken from the
// request, else from the job, and so are the hosts where it keeps its requirement. Of a job that runs it changes by LSF's rules only what that
// reserves, whatever it came by.
func requiredAgain(v *state.View, j *state.Job, changes []command.AttrChange, bmod bool) ([]command.AttrChange, error) {
	var asked attr.List
	for _, ch := range changes {
		if ch.Op == command.OpSet && ch.Entry.Value != "" {
			asked = asked.Set(ch.Entry.Name, ch.Entry.Resource, ch.Entry.Value)
		}
	}
	text, ok := asked.Get(requirement, "")
	again := slices.ContainsFunc(changes, func(ch command.AttrChange) bool { return ch.Entry.Name == lsf.JobApplication })
	switch {
	case !ok && slices.ContainsFunc(changes, func(ch command.AttrChange) bool { return ch.Entry.Name == lsf.JobSlots }):
		return nil, pbs.Errorf(pbs.BadAttributeValue, "%s goes with %s", lsf.JobSlots, requirement)
	case !ok && !again:
		return withoutChoice(j, changes), nil
	case j.Live() && !ok:
		return nil, pbs.Attribute(pbs.RunningAttribute, lsf.JobApplication)
	case j.Live() && !bmod:
		return nil, pbs.Attribute(pbs.RunningAttribute, requirement)
	case j.Live():
		next, err := reservingOf(v, j, text, asked, again)
		if err != nil {
			return nil, err
		}
		if !byLSF(j) {
			return reservingChunks(v, j, next, changes)
		}
		text = cmp.Or(next.String(), saidNothing)
	case !ok && !byLSF(j):
		return nil, pbs.Errorf(pbs.BadAttributeValue, "%s is for jobs with %s", lsf.JobApplication, requirement)
	case !ok:
		text, _ = j.Attrs.Get(requirement, "")
	}
	application, _ := j.Attrs.Get(lsf.JobApplication, "")
	if again {
		var err error
		if application, changes, err = appliedAgain(v, j, asked, changes); err != nil {
			return nil, err
		}
	}
	list := attr.List{}.Set(requirement, "", text).Set(lsf.JobApplication, "", application)
	for _, name := range []string{"ncpus", "place"} {
		had, _ := j.Resources.Get(name)
		text, _ := j.Attrs.Get(lsf.JobLayout, "")
		if layout := lsf.ReadLayout(text); name == "place" && layout.Unit && !layout.Alone {
			had = "" // the unit was to be the job's own, for the requirement that goes
		}
		if value, _ := asked.Get("Resource_List", name); cmp.Or(value, had) != "" {
			list = list.Set("Resource_List", name, cmp.Or(value, had))
		}
	}
	hosts, _ := asked.Get("Resource_List", "host")
	if !ok { // the application alone is another: whoever changes the requirement says the hosts, too
		hosts = hostsOf(j)
	}
	if hosts != "" {
		list = list.Set("Resource_List", "host", hosts)
	}
	list, err := remade(v, j, list, asked)
	if err != nil {
		return nil, err
	}
	replaced := func(ch command.AttrChange) bool {
		_, anew := list.Get(ch.Entry.Name, ch.Entry.Resource)
		return anew || ch.Entry.Name == "Resource_List" && (ch.Entry.Resource == "ncpus" || ch.Entry.Resource == "host")
	}
	changes = slices.DeleteFunc(slices.Clone(changes), replaced)
	for _, e := range list {
		changes = append(changes, command.AttrChange{Entry: e})
	}
	for _, name := range [...]string{lsf.JobSlots, lsf.JobCombined, lsf.JobAlternatives, lsf.JobEffective, lsf.JobSelect, lsf.JobQueueSelect, lsf.JobOrder, lsf.JobLayout, lsf.JobHosts} {
		_, now := list.Get(name, "")
		if _, before := j.Attrs.Get(name, ""); before && !now {
			changes = append(changes, command.AttrChange{Op: command.OpUnset, Entry: attr.Entry{Name: name}})
		}
	}
	for _, name := range wideOf(v, j) {
		if _, now := list.Get("Resource_List", name); !now {
			changes = append(changes, command.AttrChange{Op: command.OpUnset, Entry: attr.Entry{Name: "Resource_List", Resource: name}})
		}
	}
	return changes, nil
}

// remade is required for a job that is there. It may have as many slots as it could, unless another number is asked for. One that runs has
// the number that it got, and all of them again when it is requeued.
func remade(v *state.View, j *state.Job, list, asked attr.List) (attr.List, error) {
	name, _ := j.Attrs.Get("Submit_Host", "")
	from := pbs.HostName(name)
	slots, ranged := j.Attrs.Get(lsf.JobSlots, "")
	if !j.Live() {
		if now, said := asked.Get(lsf.JobSlots, ""); said {
			slots, ranged = now, true
		} else if _, said := asked.Get("Resource_List", "ncpus"); said {
			ranged = false
		}
		if ranged {
			list = list.Set(lsf.JobSlots, "", slots)
		}
		list, err := required(v, j.Queue, list, false, from)
		return list.Unset(lsf.JobApplication, ""), err
	}
	now, err := required(v, j.Queue, list, true, from)
	if err != nil {
		return nil, err
	}
	if now, err = usageOnly(j, now.Unset(lsf.JobApplication, "")); err != nil || !ranged {
		return now, err
	}
	again, err := required(v, j.Queue, list.Set(lsf.JobSlots, "", slots), true, from)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{lsf.JobSlots, lsf.JobAlternatives} {
		text, _ := again.Get(name, "")
		now = now.Set(name, "", text)
	}
	now = now.Set(lsf.JobEffective, "", requires(now))
	return now, nil
}

// requires returns the requirement of a list as it counts.
func requires(list attr.List) string {
	text, merged := list.Get(lsf.JobCombined, "")
	if !merged {
		text, _ = list.Get(requirement, "")
	}
	return text
}

// withoutChoice has a job that is given other chunks by themselves, as qalter does, ask for these alone: its alternatives were made of its
// requirement, and one of them would take their place when it starts.
func withoutChoice(j *state.Job, changes []command.AttrChange) []command.AttrChange {
	if !slices.ContainsFunc(changes, func(ch command.AttrChange) bool {
		return ch.Entry.Name == "Resource_List" && ch.Entry.Resource == "select"
	}) {
		return changes
	}
	for _, name := range []string{lsf.JobSlots, lsf.JobAlternatives} {
		if _, has := j.Attrs.Get(name, ""); has {
			changes = append(slices.Clone(changes), command.AttrChange{Op: command.OpUnset, Entry: attr.Entry{Name: name}})
		}
	}
	return changes
}

// located returns a requirement with the type of the host that its job was submitted from in the place of type==local, and refuses one where that
// has none.
func located(v *state.View, req resreq.Requirement, from pbs.HostName) (resreq.Requirement, error) {
	if _, asked := req.Local(""); !asked {
		return req, nil
	}
	kind := typeOf(v, from)
	if kind == "" {
		return req, pbs.Errorf(pbs.NotSupported, "select[type==local] is not supported here: the host %s has no type; name the type, or say type==any", from)
	}
	next, _ := req.Local(kind)
	return next, nil
}

// typeOf returns the type of a host as selections know it; empty: it has none, or is none of the cluster's.
func typeOf(v *state.View, name pbs.HostName) string {
	if kind := v.LSF().Host(string(name)).Type; kind != "" {
		return kind
	}
	for vn := range v.Vnodes() {
		if kind, has := vn.Available().Get("arch"); has && (vn.Host == name || vn.HostWord() == string(name)) {
			return kind
		}
	}
	return ""
}

// queueWhere returns what a queue wants of hosts that chunks cannot say, for a job that was submitted from one.
func queueWhere(v *state.View, name pbs.QueueName, site resreq.Site, from pbs.HostName) string {
	if name == "" {
		name = v.Server().DefaultQueue()
	}
	q, ok := v.Queue(name)
	if !ok {
		return ""
	}
	wants := lsf.QueueOf(q.Get(lsf.QueueRequirement), "", site).Requirement
	if wants == nil || wants.Compound() || len(wants.Terms) == 0 {
		return ""
	}
	here, err := located(v, *wants, from)
	if err != nil {
		return ""
	}
	if _, where := here.Terms[0].Select.Split(site); where.Given() {
		return where.String()
	}
	return ""
}

// withQueue merges the requirement of a job with what its application and its queue want of their jobs, nil if that is nothing. A
// queue that sends jobs on wants nothing itself.
func withQueue(v *state.View, name pbs.QueueName, req resreq.Requirement, text string, application *resreq.Requirement, site resreq.Site, running bool) (*resreq.Requirement, error) {
	if name == "" {
		name = v.Server().DefaultQueue()
	}
	wants, limits := "", ""
	if q, ok := v.Queue(name); ok && !q.Routes() {
		wants, limits = q.Get(lsf.QueueRequirement), q.Get(lsf.QueueLimits)
	}
	if wants == "" && limits == "" && application == nil {
		return nil, nil
	}
	job := &req
	if text == saidNothing {
		job = nil
	}
	combined, err := resreq.Merge(job, application, lsf.QueueOf(wants, limits, site), running)
	return &combined, err
}

// refusedRequirement gives a refusal of a requirement its number; its text is the one that users of
// LSF know.
func refusedRequirement(err error) error {
	var r *resreq.Refusal
	switch {
	case !errors.As(err, &r):
		return err
	case r.Cause == resreq.Syntax:
		return r.PBS()
	}
	return pbs.Errorf(pbs.ResourceLimit, "%s", r)
}

// knownHosts returns the hosts of some names, each once, as vnodes name them in resources_available.host. Words that stand for several
// are none of them. It refuses the name of what is not there.
func knownHosts(v *state.View, names []string) (hosts []string, err error) {
	words := map[string]string{} // by the name of the mom, and by themselves
	for vn := range v.Vnodes() {
		if _, known := words[string(vn.Host)]; !known {
			words[string(vn.Host)] = vn.HostWord()
		}
	}
	for vn := range v.Vnodes() {
		words[vn.HostWord()] = vn.HostWord()
	}
	err = v.LSF().CheckHosts(names, func(name string) bool { _, known := words[name]; return known })
	if err != nil {
		return nil, pbs.Errorf(pbs.BadAttributeValue, "%s", err)
	}
	for _, name := range names {
		if word := words[name]; word != "" && !slices.Contains(hosts, word) {
			hosts = append(hosts, word)
		}
	}
	return hosts, nil
}

// hostsOf returns the hosts, separated by commas, that a job of LSF's was submitted to; empty: any.
func hostsOf(j *state.Job) string {
	if hosts, several := j.Attrs.Get(lsf.JobHosts, ""); several {
		return strings.ReplaceAll(hosts, " ", ",")
	}
	text, _ := j.Resources.Get("select")
	wanted, err := spec.ParseSelect(text)
	if err != nil || len(wanted.Chunks) == 0 {
		return ""
	}
	host, _ := wanted.Chunks[0].Items.Get("host")
	return host
}

// allSlots returns the cpus of all vnodes, whether they can be used now or not.
func allSlots(v *state.View) int {
	var all int64
	for vn := range v.Vnodes() {
		text, _ := vn.Available().Get("ncpus")
		if n, err := resource.Parse(resource.Long, text); err == nil {
			all += n.Int()
		}
	}
	return int(all)
}

// without takes resources out of a list of attributes.
func without(list attr.List, name string, resources ...string) attr.List {
	return slices.DeleteFunc(slices.Clone(list), func(e attr.Entry) bool {
		return e.Name == name && slices.Contains(resources, e.Resource)
	})
}
