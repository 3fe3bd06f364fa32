package task

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// A Share is what a sister's part has used: what was measured, and what hooks have set, which
// counts instead: all of it, or nil where the part does not tell.
type Share struct {
	Peak
	Hooked []spool.Used `json:"hooked,omitempty"`
}

// Usage is what a run has used, at its mother superior, or a part.
type Usage struct {
	Peak Peak `json:"peak,omitzero"`
	// Spent is the cpu time of the programs that have ended, the first one included.
	Spent time.Duration `json:"spent,omitempty"`
	// Shares are what the sisters have used, HookUsed what hooks on this host have set of resources_used.
	Shares   map[pbs.HostName]Share `json:"shares,omitempty"`
	HookUsed []spool.Used           `json:"hook_used,omitempty"`
}

// withShares returns the usage with what sisters have told of their shares. What hooks have set before stays where they do not tell.
func (u Usage) withShares(shares map[pbs.HostName]Share) Usage {
	if len(shares) == 0 {
		return u
	}
	all := make(map[pbs.HostName]Share, len(u.Shares)+len(shares))
	for host, p := range u.Shares {
		all[host] = p
	}
	for host, p := range shares {
		old := all[host]
		hooked := old.Hooked
		if p.Hooked != nil { // what hooks have taken back is not in it
			hooked = overlaid(nil, p.Hooked)
		}
		all[host] = Share{Peak: Peak{
			CPU: max(old.CPU, p.CPU), RSS: max(old.RSS, p.RSS), VSize: max(old.VSize, p.VSize), Percent: max(old.Percent, p.Percent), Largest: p.Largest,
		}, Hooked: hooked}
	}
	u.Shares = all
	return u
}

// all adds to what the live processes use what the ended programs have.
func (u Usage) all(live proc.Usage) proc.Usage {
	live.CPU += u.Spent
	return live
}

// HooksCount reports whether hooks have set anything of resources_used.
func (u Usage) HooksCount() bool {
	if len(u.HookUsed) > 0 {
		return true
	}
	for _, s := range u.Shares {
		if len(s.Hooked) > 0 {
			return true
		}
	}
	return false
}

// A Reckoning is what a run has used, with all that it takes to sum it up over the hosts.
type Reckoning struct {
	Usage
	host    pbs.HostName
	sisters []Host // that have not left
	ncpus   string // that the job has asked for
}

// Reckoning returns what there is to be summed up of the run.
func (t Task) Reckoning() Reckoning {
	return Reckoning{t.Usage, t.Host, t.sisters(), t.Attrs.Resource("Resource_List", "ncpus")}
}

// Used returns resources_used as the servers are told (Reckoning.Used).
func (t Task) Used() []spool.Used { return t.Reckoning().Used() }

// A part is what one host of the run reports.
type part struct {
	host pbs.HostName
	Share
}

// parts returns what all hosts of the run have reported: this one first, its sisters in the
// order of exec_host, those that have left the run at last.
func (r Reckoning) parts() []part {
	all := []part{{r.host, Share{r.Peak, r.HookUsed}}}
	left := maps.Clone(r.Shares)
	for _, h := range r.sisters {
		if s, ok := left[h.Name]; ok {
			all = append(all, part{h.Name, s})
			delete(left, h.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		all = append(all, part{name, left[name]})
	}
	return all
}

// Used returns resources_used as the servers are told, sorted by name: of all hosts, but for
// the walltime.
func (r Reckoning) Used() []spool.Used {
	used, _ := r.accumulate()
	return used
}

// Own returns resources_used of this host alone, as its hooks read it: what they have set is as they have set it,
// so that they can go on from there.
func (r Reckoning) Own() []spool.Used {
	used := r.timeAndCPUs()
	for name, m := range measures {
		used = append(used, spool.Used{Resource: name, Type: m.kind, Value: m.text(m.of(r.Peak))})
	}
	return overlaid(used, r.HookUsed)
}

// timeAndCPUs returns the resources that are the job's, and no host's.
func (r Reckoning) timeAndCPUs() []spool.Used {
	return []spool.Used{
		{Resource: "ncpus", Value: cmp.Or(r.ncpus, "0")},
		{Resource: "walltime", Value: seconds(r.Peak.Wall).String()},
	}
}

// accumulate combines the values of all hosts (specification: resources-used sections 3 and 4).
func (r Reckoning) accumulate() ([]spool.Used, []Misfit) {
	parts, used := r.parts(), r.timeAndCPUs()
	var misfits []Misfit
	for _, name := range named(parts) {
		measure, measured := measures[name]
		set := valuesOf(parts, name)
		if !measured {
			value, bad := combined(parts[0].host, set)
			for _, m := range bad {
				m.Resource = name
				misfits = append(misfits, m)
			}
			if len(bad) == 0 && value != "" {
				used = append(used, spool.Used{Resource: name, Value: value})
			}
			continue
		}
		own := int64(0)
		for _, p := range parts {
			if !p.sets(name) {
				own += measure.of(p.Peak)
			}
		}
		if own > 0 || len(set) == 0 {
			set = append(set, valueOf{value: measure.text(own), kind: measure.kind})
		}
		used = append(used, spool.Used{Resource: name, Value: sum(set)})
	}
	return byName(used), misfits
}

// byName sorts values in place: each resource is there once.
func byName(list []spool.Used) []spool.Used {
	slices.SortFunc(list, func(a, b spool.Used) int { return strings.Compare(a.Resource, b.Resource) })
	return list
}

// A measure is a resource that moms measure themselves.
type measure struct {
	of   func(Peak) int64
	text func(int64) string
	kind string
}

var measures = map[string]measure{
	"cpupercent": {func(p Peak) int64 { return p.Percent }, func(n int64) string { return fmt.Sprint(n) }, "long"},
	"cput":       {func(p Peak) int64 { return int64(p.CPU) }, func(n int64) string { return seconds(time.Duration(n)).String() }, "time"},
	"mem":        {func(p Peak) int64 { return p.RSS }, kilobytes, "size"},
	"vmem":       {func(p Peak) int64 { return p.VSize }, kilobytes, "size"},
}

func seconds(d time.Duration) resource.Quantity { return resource.Seconds(int64(d / time.Second)) }

func kilobytes(n int64) string { return resource.Kilobytes((n + 1023) / 1024).String() }

// named returns the resources that are reported.
func named(parts []part) []string {
	names := make(map[string]bool)
	for name := range measures {
		names[name] = true
	}
	for _, p := range parts {
		for _, u := range p.Hooked {
			names[u.Resource] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (p part) sets(name string) bool {
	return slices.ContainsFunc(p.Hooked, func(u spool.Used) bool { return u.Resource == name })
}

// A valueOf is what hooks of one host have set.
type valueOf struct {
	host        pbs.HostName
	value, kind string
}

func valuesOf(parts []part, name string) []valueOf {
	var all []valueOf
	for _, p := range parts {
		for _, u := range p.Hooked {
			if u.Resource == name {
				all = append(all, valueOf{p.host, u.Value, u.Type})
			}
		}
	}
	return all
}

// combined returns the value of all hosts; "" when none counts. own is the host whose value stands
// for those that are not combined.
func combined(own pbs.HostName, set []valueOf) (string, []Misfit) {
	kind, _ := resource.ParseType(set[0].kind)
	switch {
	case kind.Numeric():
		return sum(set), nil
	case kind != resource.String:
		if set[0].host != own {
			return "", nil
		}
		return set[0].value, nil
	case len(set) == 1 && set[0].host == own:
		return canonical(set[0].value), nil
	}
	return union(own, set)
}

// sum adds up values of one numeric type. A size keeps its unit if all have the same, and is
// in kilobytes otherwise; a value that is none is left out.
func sum(set []valueOf) string {
	var total resource.Quantity
	unit, mixed, first := "", false, true
	for _, v := range set {
		kind, err := resource.ParseType(v.kind)
		if err != nil {
			continue
		}
		q, err := resource.Parse(kind, v.value)
		if err != nil {
			continue
		}
		u := unitOf(q)
		if first {
			total, unit, first = q, u, false
			continue
		}
		mixed = mixed || u != unit
		if more, err := total.Add(q); err == nil {
			total = more
		}
	}
	if first {
		return ""
	}
	if mixed || unit == "b" {
		total = total.InKB()
	}
	return total.String()
}

// unitOf returns the unit of a size as it is written.
func unitOf(q resource.Quantity) string {
	if q.Type() != resource.Size {
		return ""
	}
	text := q.String()
	for i, c := range text {
		if c < '0' || c > '9' {
			return text[i:]
		}
	}
	return ""
}

// total returns what the parts of the run have used together, as measured.
func (r Reckoning) total() Peak {
	sum := r.Peak
	for _, s := range r.Shares {
		sum.CPU += s.CPU
		sum.RSS += s.RSS
		sum.VSize += s.VSize
		sum.Percent += s.Percent
	}
	for _, h := range r.sisters { // what processes had on hosts that have left the run is over
		sum.Largest = max(sum.Largest, r.Shares[h.Name].Largest)
	}
	return sum
}

// Set reports whether hooks on some host have set the resource.
func (r Reckoning) Set(resource string) bool {
	return slices.ContainsFunc(r.parts(), func(p part) bool { return p.sets(resource) })
}
