package lsf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A HostGroup is a group of hosts of lsb.hosts.
type HostGroup struct {
	Name    string   `cbor:"1,keyasint"`
	Members []string `cbor:"2,keyasint,omitempty"` // hosts and groups, "all" and "~name" among them
}

// A HostChoice is which hosts a job or a queue wants, and which of them it prefers: what bsub -m says, and HOSTS of lsb.queues
// (specification: reservation section 10.7).
type HostChoice struct {
	in, out hostSet        // it has those of the first that are not in the second
	levels  map[string]int // of hosts that are named
	others  int            // how much the other ones are preferred
}

// A hostWord is one word of a choice.
type hostWord struct {
	name  string
	level int
	not   bool
}

func readHostWord(text string) (w hostWord, ok bool) {
	name, level, preferred := strings.Cut(text, "+")
	if name, w.not = strings.CutPrefix(name, "~"); w.not && preferred {
		return w, false
	}
	if w.name = name; preferred {
		w.level = 1
	}
	if level != "" {
		n, err := strconv.ParseUint(level, 10, 31)
		if err != nil {
			return w, false
		}
		w.level = int(n)
	}
	return w, w.name != "" && !strings.ContainsAny(w.name, "!@,~+ ")
}

// CheckHosts returns what is wrong with the words of a choice: one that cannot be read, or a name of no host, host group or compute unit.
func (c *Config) CheckHosts(words []string, host func(name string) bool) error {
	for _, text := range words {
		w, ok := readHostWord(text)
		if !ok {
			return fmt.Errorf("%s: expected a host, a host group, %s or %s, with ~ before it or +N behind it", text, AllHosts, OthersHosts)
		}
		if _, group := c.group(w.name); w.name != AllHosts && w.name != OthersHosts && !group && !host(w.name) {
			return fmt.Errorf("%s: Bad host name, host group name or cluster name", w.name)
		}
	}
	return nil
}

// HostGroup returns a host group.
func (c *Config) HostGroup(name string) (HostGroup, bool) {
	i := slices.IndexFunc(c.HostGroups, func(g HostGroup) bool { return g.Name == name })
	if i < 0 {
		return HostGroup{}, false
	}
	return c.HostGroups[i], true
}

// group returns the members of a host group or compute unit.
func (c *Config) group(name string) (members []string, ok bool) {
	if g, ok := c.HostGroup(name); ok {
		return g.Members, true
	}
	for _, u := range c.Units {
		if u.Name == name {
			return u.Members, true
		}
	}
	return nil, false
}

// Grouped reports whether some of the words are names of host groups or compute units, or say more than a name.
func (c *Config) Grouped(words []string) bool {
	return slices.ContainsFunc(words, func(text string) bool {
		_, group := c.group(text)
		return group || strings.ContainsAny(text, "~+") || text == AllHosts || text == OthersHosts
	})
}

// HostChoice reads the words of a choice. Words that name nobody but whom it is not to have leave all others. A name of a group that is
// there no more is one of a host, and a word that cannot be read names nobody.
func (c *Config) HostChoice(words []string) HostChoice {
	h, groups, only := HostChoice{levels: map[string]int{}}, c.membership(), true
	for _, text := range words {
		w, ok := readHostWord(text)
		only = only && ok && w.not
		switch {
		case !ok:
		case w.not:
			groups.join(&h.out, w.name)
		case w.name == OthersHosts:
			h.prefer(&hostSet{but: true}, w.level)
		default:
			var named hostSet
			groups.join(&named, w.name)
			h.prefer(&named, w.level)
		}
	}
	if only {
		h.in = hostSet{but: true}
	}
	return h
}

// prefer adds hosts with a level; of several levels of one the highest counts.
func (h *HostChoice) prefer(hosts *hostSet, level int) {
	h.in.join(hosts)
	if hosts.but {
		h.others = max(h.others, level)
		return
	}
	for name := range hosts.listed {
		h.levels[name] = max(h.levels[name], level)
	}
}

// Has reports whether a host, which may have several names, is among those chosen.
func (h HostChoice) Has(names ...string) bool { return h.in.has(names...) && !h.out.has(names...) }

// Level returns how much a host is preferred.
func (h HostChoice) Level(names ...string) int {
	for _, n := range names {
		if level, named := h.levels[n]; named {
			return level
		}
	}
	return h.others
}

// Prefers reports whether some hosts are preferred to others.
func (h HostChoice) Prefers() bool {
	if h.others > 0 {
		return true
	}
	for _, level := range h.levels {
		if level > 0 {
			return true
		}
	}
	return false
}

// Words writes the hosts that are chosen, in the order in which they were named, or all and which are not; none: nobody is.
func (h HostChoice) Words() []string {
	var left hostSet
	left.join(&h.in)
	left.drop(&h.out)
	if !left.but {
		return left.names()
	}
	words := []string{AllHosts}
	for _, n := range left.names() {
		words = append(words, "~"+n)
	}
	return words
}
