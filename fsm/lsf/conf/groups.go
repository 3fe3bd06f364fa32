package conf

import (
	"slices"
	"strings"

	"rampart/fsm/lsf"
)

// hostsOf returns the hosts of a compute unit, and those of the units in it, each once.
func (r *reader) hostsOf(u lsf.Unit) (all []string) {
	seen := map[string]bool{}
	var add func(u lsf.Unit)
	add = func(u lsf.Unit) {
		for _, m := range u.Members {
			if seen[m] {
				continue
			}
			seen[m] = true
			if i := slices.IndexFunc(r.out.Config.Units, func(o lsf.Unit) bool { return o.Name == m }); i >= 0 {
				add(r.out.Config.Units[i])
				continue
			}
			all = append(all, m)
		}
	}
	add(u)
	return all
}

// cycles drops compute units and host groups that are members of each other, and units that are deeper than there are types.
func (r *reader) cycles() {
	c := &r.out.Config
	members := map[string][]string{}
	for _, u := range c.Units {
		members[u.Name] = u.Members
	}
	units := nested(members)
	c.Units = slices.DeleteFunc(c.Units, func(u lsf.Unit) bool {
		wrong := units[u.Name] < 0 || units[u.Name] > len(c.UnitTypes)
		if wrong {
			r.warn(section{path: r.files.Hosts.Path}, "compute unit %s is, through its members, a member of itself, or units are deeper than there are types; ignored", u.Name)
		}
		return wrong
	})
	clear(members)
	for _, g := range c.HostGroups {
		members[g.Name] = nil
		for _, m := range g.Members {
			members[g.Name] = append(members[g.Name], strings.TrimPrefix(m, "~"))
		}
	}
	groups := nested(members)
	c.HostGroups = slices.DeleteFunc(c.HostGroups, func(g lsf.HostGroup) bool {
		if groups[g.Name] < 0 {
			r.warn(section{path: r.files.Hosts.Path}, "host group %s is, through its members, a member of itself; ignored", g.Name)
		}
		return groups[g.Name] < 0
	})
}

// nested returns how deep groups are: 1 is one of which no member is a group. What is, through its members, a member of itself has -1, and what
// has such a group in it 0.
func nested(members map[string][]string) map[string]int {
	depth := map[string]int{}
	for more := true; more; {
		more = false
		for name, inside := range members {
			if d, known := depthOf(inside, members, depth); known && depth[name] == 0 {
				depth[name], more = d+1, true
			}
		}
	}
	for name := range members {
		if depth[name] == 0 && reaches(name, members) {
			depth[name] = -1
		}
	}
	return depth
}

// depthOf returns the depth of the deepest of some members; false: that of a group among them is not known.
func depthOf(inside []string, members map[string][]string, depth map[string]int) (deepest int, known bool) {
	for _, m := range inside {
		if _, group := members[m]; group && depth[m] == 0 {
			return 0, false
		}
		deepest = max(deepest, depth[m])
	}
	return deepest, true
}

// reaches reports whether a group is, through its members, a member of itself.
func reaches(name string, members map[string][]string) bool {
	seen := map[string]bool{}
	for todo := members[name]; len(todo) > 0; {
		m := todo[0]
		if todo = todo[1:]; m == name {
			return true
		}
		if !seen[m] {
			seen[m] = true
			todo = slices.Concat(todo, members[m])
		}
	}
	return false
}
