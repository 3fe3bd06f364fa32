package lsf

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A hostSet is a set of hosts: those that are listed, or all but those.
type hostSet struct {
	but    bool
	listed map[string]int // and the order in which they were
	last   int            // in that order
}

// has reports whether a host, which may have several names, is in the set.
func (s *hostSet) has(names ...string) bool {
	for _, n := range names {
		if _, listed := s.listed[n]; listed {
			return !s.but
		}
	}
	return s.but
}

// names returns what is listed, in its order.
func (s *hostSet) names() []string {
	return slices.SortedFunc(maps.Keys(s.listed), func(a, b string) int { return cmp.Compare(s.listed[a], s.listed[b]) })
}

func (s *hostSet) list(name string) {
	if _, listed := s.listed[name]; listed {
		return
	}
	if s.listed == nil {
		s.listed = map[string]int{}
	}
	s.last++
	s.listed[name] = s.last
}

// add adds a host.
func (s *hostSet) add(name string) {
	if s.but {
		delete(s.listed, name)
		return
	}
	s.list(name)
}

// join adds the hosts of another set.
func (s *hostSet) join(o *hostSet) {
	if !o.but {
		for _, n := range o.names() {
			s.add(n)
		}
		return
	}
	was := *s
	*s = hostSet{but: true}
	for _, n := range o.names() {
		if !was.has(n) {
			s.list(n)
		}
	}
}

// drop takes the hosts of another set out.
func (s *hostSet) drop(o *hostSet) {
	s.but = !s.but // to drop hosts is to add them to those that are not in it
	s.join(o)
	s.but = !s.but
}

// A membership tells who is in host groups and compute units. It finds that out once for each.
type membership struct {
	members map[string][]string
	known   map[string]*hostSet
}

func (c *Config) membership() membership {
	m := membership{members: make(map[string][]string, len(c.Units)+len(c.HostGroups)), known: map[string]*hostSet{}}
	for _, u := range c.Units {
		m.members[u.Name] = u.Members
	}
	for _, g := range c.HostGroups {
		m.members[g.Name] = g.Members
	}
	return m
}

// join adds to a set what a name stands for: the hosts of a group, all, or the host of that name.
func (m membership) join(s *hostSet, name string) {
	switch _, group := m.members[name]; {
	case group:
		s.join(m.of(name))
	case name == AllHosts:
		s.join(&hostSet{but: true})
	default:
		s.add(name)
	}
}

// of returns the hosts of a group. One that is, through others, a member of itself adds nothing there.
func (m membership) of(group string) *hostSet {
	if s, known := m.known[group]; known {
		return s
	}
	m.known[group] = &hostSet{}
	var in, out hostSet
	for _, word := range m.members[group] {
		if name, not := strings.CutPrefix(word, "~"); not {
			m.join(&out, name)
		} else {
			m.join(&in, word)
		}
	}
	in.drop(&out)
	m.known[group] = &in
	return &in
}
