package lsf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/resource"
	"rampart/fsm/resreq"
)

// A SlotOwner says whose slots are counted.
type SlotOwner struct{ User, Group, Queue, Project string }

// A SlotRule bounds the slots, or the amount of a resource, that some jobs have at a time (specification: reservation section 7).
type SlotRule struct {
	Resource                       string // empty: slots
	Reason                         string // of a job that it keeps waiting, in LSF's words
	Users, Queues, Hosts, Projects Consumers
	EachHost                       bool // slots are counted on each host by itself

	slots  int64
	amount resreq.Amount     // of the resource
	perCPU Thousandths       // for each cpu of a host, where it is not 0
	byHost map[string]*int64 // of hosts with a row of their own; nil: there is none
	others *int64            // of those without; nil: it does not bound them
}

// Whom returns whose slots count together with those of an owner, false if the rule does not bound that owner.
func (r *SlotRule) Whom(o SlotOwner) (whom SlotOwner, bounded bool) {
	if !r.Users.Counts(o.User, o.Group) || !r.Queues.Counts(o.Queue) || !r.Projects.Counts(o.Project) {
		return whom, false
	}
	if r.Users.Each {
		whom.User = o.User
	}
	if r.Queues.Each {
		whom.Queue = o.Queue
	}
	if r.Projects.Each {
		whom.Project = o.Project
	}
	return whom, true
}

// Wide reports whether it does not matter on which hosts the slots are.
func (r *SlotRule) Wide() bool { return !r.EachHost && len(r.Hosts.Names) == 0 }

// Most returns how many slots there may be, on a host with so many cpus or with others; false: a host is not bounded.
func (r *SlotRule) Most(host string, cpus int64) (most int64, bounded bool) {
	switch {
	case !r.Hosts.Counts(host):
		return 0, false
	case r.byHost != nil:
		row, own := r.byHost[host]
		if !own {
			row = r.others
		}
		if row == nil {
			return 0, false
		}
		return *row, true
	case r.perCPU != 0:
		return r.perCPU.Times(cpus), true
	}
	return r.slots, true
}

// Amount returns how much of the resource of the rule, of which there is a definition, there may be.
func (r *SlotRule) Amount(def resource.Def) resource.List {
	n := int64(r.amount / resreq.One)
	switch def.Type {
	case resource.Size:
		return resource.List{{Name: def.Name, Value: resource.Kilobytes(n).String()}}
	case resource.Float:
		return resource.List{{Name: def.Name, Value: def.Measured(int64(r.amount) * (1_000_000 / int64(resreq.One)))}}
	}
	return resource.List{{Name: def.Name, Value: strconv.FormatInt(n, 10)}}
}

// Times returns the number times n, rounded up.
func (t Thousandths) Times(n int64) int64 { return (int64(t)*n + 999) / 1000 }

// QueueSlots is what a queue says of the slots of its jobs on hosts, and, where they are to be told, in all.
type QueueSlots struct {
	Name    string
	PerCPU  string // PJOB_LIMIT
	PerHost string // HJOB_LIMIT
	InAll   string // QJOB_LIMIT
	PerUser string // UJOB_LIMIT
}

// SlotRules returns what bounds the slots of jobs: JL/U of hosts, what queues say, and the limits of lsb.resources.
func (c *Config) SlotRules(queues []QueueSlots) []SlotRule {
	var all []SlotRule
	if slices.ContainsFunc(c.Hosts, func(h Host) bool { return h.UserSlots != nil }) {
		r := SlotRule{Reason: ReasonHostUser, Users: Consumers{Each: true}, EachHost: true, byHost: map[string]*int64{}}
		for _, h := range c.Hosts {
			if h.Name == DefaultHost {
				r.others = h.UserSlots
			} else if h.Listed {
				r.byHost[h.Name] = h.UserSlots
			}
		}
		all = append(all, r)
	}
	for _, q := range queues {
		in := Consumers{Names: []string{q.Name}}
		for _, l := range []struct {
			value  string
			to     SlotRule
			perCPU bool
		}{
			{q.PerCPU, SlotRule{Reason: ReasonQueueCPU, Queues: in, EachHost: true}, true},
			{q.PerHost, SlotRule{Reason: ReasonQueueHost, Queues: in, EachHost: true}, false},
			{q.InAll, SlotRule{Reason: ReasonQueue, Queues: in}, false},
			{q.PerUser, SlotRule{Reason: ReasonQueueUser, Queues: in, Users: Consumers{Each: true}}, false},
		} {
			n, ok := resreq.ParseAmount("", l.value)
			switch {
			case !ok:
				continue
			case l.perCPU && n > 0:
				l.to.perCPU = Thousandths(n)
			default:
				l.to.slots = int64(n / resreq.One)
			}
			all = append(all, l.to)
		}
	}
	for _, l := range c.Limits {
		r := SlotRule{Reason: limitReason("slot", l.wide()), Users: l.Users, Queues: l.Queues, Hosts: c.members(l.Hosts), Projects: l.Projects, EachHost: l.Hosts.Each}
		for _, q := range l.Quantities {
			of := r
			of.Resource, of.Reason, of.amount = q.Resource, limitReason(q.Resource, l.wide()), q.Amount
			all = append(all, of)
		}
		if l.Slots != nil {
			bySlots := r
			bySlots.slots = *l.Slots
			all = append(all, bySlots)
		}
		if l.PerCPU != nil {
			r.perCPU, r.EachHost = *l.PerCPU, true
			all = append(all, r)
		}
	}
	return all
}

// members returns the hosts of a limit with those of the host groups and compute units that it names in the place of these.
func (c *Config) members(hosts Consumers) Consumers {
	if !slices.ContainsFunc(hosts.Names, func(name string) bool {
		_, group := c.group(strings.TrimPrefix(name, "~"))
		return group
	}) {
		return hosts
	}
	if hosts.Names = c.HostChoice(hosts.Names).Words(); len(hosts.Names) == 0 {
		hosts.Names = []string{"~" + AllHosts} // a limit of nobody, not of all
	}
	return hosts
}

// wide reports whether a limit is for the whole cluster.
func (l Limit) wide() bool {
	return len(l.Users.Names)+len(l.Queues.Names)+len(l.Hosts.Names)+len(l.Projects.Names) == 0
}

// LimitsSlots reports whether a configuration bounds the slots, or what else jobs have, of some jobs by whose they are.
func (c *Config) LimitsSlots() bool {
	return slices.ContainsFunc(c.Hosts, func(h Host) bool { return h.UserSlots != nil }) ||
		slices.ContainsFunc(c.Limits, func(l Limit) bool { return l.Slots != nil || l.PerCPU != nil || len(l.Quantities) > 0 })
}

// AtHosts says why some hosts take no job: a limit is reached, or their load is too high. Of many the first ones are named.
func AtHosts(reason string, hosts []string) string {
	const most = 16
	more := ""
	if len(hosts) > most {
		more = fmt.Sprintf(" and %d more", len(hosts)-most)
		hosts = hosts[:most]
	}
	if len(hosts) == 0 {
		return strings.TrimSuffix(reason, ";")
	}
	return strings.TrimSuffix(reason, ";") + ": " + strings.Join(hosts, ", ") + more
}

// LimitAt returns the reason, and the hosts, of a text of AtHosts; false if it is none.
func LimitAt(text string) (reason string, hosts []string, ok bool) {
	known := []string{ReasonHostUser, ReasonQueueCPU, ReasonQueueHost, ReasonRecent}
	for _, index := range LoadIndices {
		known = append(known, loadReasons[index])
	}
	if index, ok := strings.CutPrefix(text, reasonExternal); ok {
		index, _, _ = strings.Cut(index, ")")
		known = append(known, ReasonLoad(index))
	}
	if named, _, ok := strings.Cut(strings.TrimPrefix(text, reasonLimitBegin), ")"); ok && strings.HasPrefix(text, reasonLimitBegin) {
		known = append(known, limitReason(named, false), limitReason(named, true))
	}
	for _, reason := range known {
		names, found := strings.CutPrefix(text, strings.TrimSuffix(reason, ";")+": ")
		if !found {
			continue
		}
		names, _, _ = strings.Cut(names, " and ")
		return reason, strings.Split(names, ", "), true
	}
	return "", nil, false
}
