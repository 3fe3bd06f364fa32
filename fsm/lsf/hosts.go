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
	all    bool
	others int // how much hosts are preferred that are not named
	named  []string
	levels map[string]int // of those named
	not    []string
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

// HostChoice reads the words of a choice. Words that name nobody but whom it is not to have leave all others.
func (c *Config) HostChoice(words []string) HostChoice {
	h := HostChoice{levels: map[string]int{}}
	only := true
	for _, text := range words {
		w, ok := readHostWord(text)
		if !ok {
			continue
		}
		only = only && w.not
		switch {
		case w.not:
			in := c.HostsOf(w.name)
			h.not = append(h.not, in.named...)
		case w.name == AllHosts, w.name == OthersHosts:
			h.all, h.others = true, max(h.others, w.level)
		default:
			h.add(c.HostsOf(w.name), w.level)
		}
	}
	h.all = h.all || only
	return h
}

// HostsOf returns the hosts of a host group or compute unit, and those of the groups in it; of another name the host of that name.
func (c *Config) HostsOf(name string) HostChoice {
	h := HostChoice{levels: map[string]int{}}
	c.collect(&h, name, nil)
	return h
}

// collect adds what a name stands for. Groups that are members of each other add nothing twice.
func (c *Config) collect(h *HostChoice, name string, within []string) {
	members, group := c.group(name)
	if slices.Contains(within, name) {
		return
	}
	if !group {
		h.add(HostChoice{named: []string{name}}, 0)
		return
	}
	within = append(slices.Clip(within), name)
	for _, m := range members {
		switch out, not := strings.CutPrefix(m, "~"); {
		case not:
			h.not = append(h.not, c.HostsOf(out).named...)
		case m == AllHosts:
			h.all = true
		default:
			c.collect(h, m, within)
		}
	}
}

// add adds hosts with a level; of several levels of one the highest counts.
func (h *HostChoice) add(in HostChoice, level int) {
	for _, name := range in.named {
		if slices.Contains(in.not, name) {
			continue
		}
		if !slices.Contains(h.named, name) {
			h.named = append(h.named, name)
		}
		h.levels[name] = max(h.levels[name], level)
	}
	if in.all {
		h.all, h.others = true, max(h.others, level)
		h.not = append(h.not, in.not...)
	}
}

// Has reports whether a host, which may have several names, is among those chosen.
func (h HostChoice) Has(names ...string) bool {
	of := func(list []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(list, n) })
	}
	return !of(h.not) && (h.all || of(h.named))
}

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

// Words writes the hosts that are chosen, those first that are named, as lsf_hosts of a queue has them.
func (h HostChoice) Words() []string {
	words := slices.DeleteFunc(slices.Clone(h.named), func(n string) bool { return slices.Contains(h.not, n) })
	if h.all {
		words = []string{AllHosts}
	}
	for _, n := range h.not {
		if word := "~" + n; h.all && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}
