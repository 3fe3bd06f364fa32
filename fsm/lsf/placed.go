package lsf

import (
	"iter"
	"slices"
	"strconv"

	"rampart/fsm/resreq"
)

// A Value is what a configuration gives a host of a resource.
type Value struct {
	Resource string
	Text     string
	From     string // the host that has the amount, which is for this one too; empty: it is its own
}

// OthersHosts and EachHost are the words of ResourceMap for the hosts that no other instance names, and for an instance
// for each host.
const (
	OthersHosts = "others"
	EachHost    = "default"
)

// Wide reports whether a resource has one instance, for all hosts: its amount is the cluster's.
func (c *Config) Wide(resource string) bool {
	n, all := 0, false
	for _, i := range c.Instances {
		if i.Resource == resource {
			n++
			all = len(i.Hosts) == 1 && i.Hosts[0] == AllHosts
		}
	}
	return n == 1 && all
}

// A Placing says which hosts have what of the resources of a configuration. The zero value gives nothing.
type Placing struct {
	config *Config
	first  []string // by instance, the host that has its amount
}

// Placed returns where resources are, of hosts in their order.
func (c *Config) Placed(hosts []string) Placing {
	p := Placing{c, make([]string, len(c.Instances))}
	for at, i := range c.Instances {
		for _, h := range hosts {
			if p.member(i, h) {
				p.first[at] = h
				break
			}
		}
	}
	return p
}

// PlacedOn is Placed for what one host gets: of the hosts in their order no more are looked at than that takes.
func (c *Config) PlacedOn(host string, hosts iter.Seq[string]) Placing {
	p := Placing{c, make([]string, len(c.Instances))}
	var open []int
	for at, i := range c.Instances {
		d, ok := c.Resource(i.Resource)
		if ok && d.Kind == resreq.Numeric && p.member(i, host) && !slices.Contains(i.Hosts, EachHost) && !c.Wide(i.Resource) {
			open = append(open, at)
		}
	}
	if len(open) == 0 {
		return p
	}
	for h := range hosts {
		open = slices.DeleteFunc(open, func(at int) bool {
			if p.member(c.Instances[at], h) {
				p.first[at] = h
				return true
			}
			return false
		})
		if len(open) == 0 {
			break
		}
	}
	return p
}

// member reports whether an instance is for a host.
func (p Placing) member(i Instance, host string) bool {
	if slices.Contains(i.Hosts, "~"+host) {
		return false
	}
	return slices.Contains(i.Hosts, host) || slices.Contains(i.Hosts, AllHosts) || slices.Contains(i.Hosts, EachHost) ||
		slices.Contains(i.Hosts, OthersHosts) && !slices.ContainsFunc(p.config.Instances, func(o Instance) bool {
			return o.Resource == i.Resource && slices.Contains(o.Hosts, host)
		})
}

// Of returns the values of a host, each resource once: of several instances that are for it the first counts.
func (p Placing) Of(host string) []Value {
	var all []Value
	if p.config == nil {
		return nil
	}
	add := func(v Value) {
		if !slices.ContainsFunc(all, func(o Value) bool { return o.Resource == v.Resource }) {
			all = append(all, v)
		}
	}
	row := p.config.Host(host)
	if row.Slots != nil {
		add(Value{Resource: "ncpus", Text: strconv.FormatInt(*row.Slots, 10)})
	}
	for _, has := range row.Has {
		add(Value{Resource: has, Text: "True"})
	}
	for at, i := range p.config.Instances {
		d, ok := p.config.Resource(i.Resource)
		if !ok || !p.member(i, host) || p.config.Wide(i.Resource) {
			continue
		}
		v := Value{Resource: i.Resource, Text: i.Value}
		switch {
		case d.Kind == resreq.Boolean:
			v.Text = "True"
		case i.Value == "":
			continue // it is reported
		case d.Kind == resreq.Numeric && !slices.Contains(i.Hosts, EachHost) && p.first[at] != host:
			v.From = p.first[at]
		}
		add(v)
	}
	return all
}

// SharesHosts reports whether an instance of a resource is for several hosts.
func (c *Config) SharesHosts(resource string) bool {
	return slices.ContainsFunc(c.Instances, func(i Instance) bool { return i.Resource == resource && !slices.Contains(i.Hosts, EachHost) })
}
