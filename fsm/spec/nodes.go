package spec

import (
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// ParseNodes reads the old way to ask for hosts, -l nodes=: N or a host's name, then
// properties, ppn=P and resources after colons, several such joined by "+", and #shared or
// #excl at the end. It returns what PBS makes of it: chunks of their own hosts. What was
// asked for the job as a whole is spread over them: amounts are divided and rounded up.
// What is malformed is refused with BadAttributeValue.
func ParseNodes(text string, whole resource.List, t resource.Table) (Select, Place, error) {
	place := Place{Arrangement: Scatter}
	text, sharing, shared := strings.Cut(text, "#")
	if shared {
		place.Sharing = Sharing(sharing)
		if place.Sharing != Shared && place.Sharing != Exclusive {
			return Select{}, Place{}, malformedNodes()
		}
	}
	if len(text) > maxText {
		return Select{}, Place{}, malformedNodes()
	}
	var sel Select
	for part := range strings.SplitSeq(text, "+") {
		c, ok := parseNode(part, t)
		if !ok || len(sel.Chunks) == maxChunks || c.Count > maxChunks-sel.Total() {
			return Select{}, Place{}, malformedNodes()
		}
		sel.Chunks = append(sel.Chunks, c)
	}
	if err := sel.spread(whole, t); err != nil {
		return Select{}, Place{}, err
	}
	for i, c := range sel.Chunks {
		if _, ok := c.Items.Get("ncpus"); !ok {
			sel.Chunks[i].Items = append(c.Items, resource.Item{Name: "ncpus", Value: "1"})
		}
	}
	return sel, place, nil
}

func malformedNodes() error { return pbs.Attribute(pbs.BadAttributeValue, "Resource_List.nodes") }

// parseNode reads one part: how many hosts, or which one, and what each of them must have.
func parseNode(text string, t resource.Table) (Chunk, bool) {
	words := strings.Split(text, ":")
	c := Chunk{Count: 1}
	if n, err := strconv.Atoi(words[0]); err == nil {
		c.Count, words = n, words[1:]
	} else if !isProperty(words[0], t) && !strings.Contains(words[0], "=") {
		c.Items, words = append(c.Items, resource.Item{Name: "host", Value: words[0]}), words[1:]
		if c.Items[0].Value == "" {
			return c, false
		}
	}
	processes, cpus := 0, 0
	for _, w := range words {
		name, value, valued := strings.Cut(w, "=")
		n, err := strconv.Atoi(value)
		counts := err == nil && n > 0 && n <= maxChunks
		switch {
		case name == "ppn" && counts:
			processes = n
		case (name == "ncpus" || name == "cpp") && counts:
			cpus = n
		case !valued && isProperty(name, t):
			c.Items = append(c.Items, resource.Item{Name: name, Value: "True"})
		case valued && value != "" && name != "" && name != "ppn" && name != "ncpus" && name != "cpp":
			c.Items = append(c.Items, resource.Item{Name: name, Value: value})
		default:
			return c, false
		}
	}
	if processes > 0 || cpus > 0 {
		c.Items = append(c.Items, resource.Item{Name: "ncpus", Value: strconv.Itoa(max(processes, 1) * max(cpus, 1))})
	}
	if processes > 0 {
		c.Items = append(c.Items, resource.Item{Name: "mpiprocs", Value: strconv.Itoa(processes)})
	}
	return c, c.Count > 0 && c.Count <= maxChunks
}

// isProperty reports whether a word without a value is a boolean resource of hosts.
func isProperty(word string, t resource.Table) bool {
	def, ok := t.Resource(word)
	return ok && def.Type == resource.Boolean && def.AtHost()
}

// spread gives each chunk its part of what the job wants as a whole, unless it names its
// own.
func (s Select) spread(whole resource.List, t resource.Table) error {
	hosts := int64(s.Total())
	for _, it := range whole {
		def, ok := t.Resource(it.Name)
		if !ok || !def.AtHost() {
			continue
		}
		q, err := def.Parse(it.Value)
		if err != nil {
			return pbs.Attribute(pbs.BadAttributeValue, "Resource_List."+it.Name)
		}
		value := q.String()
		part := (q.Int() + hosts - 1) / hosts
		switch {
		case !def.Consumable():
		case def.Type == resource.Size:
			value = resource.Kilobytes(part).String()
		case def.Type == resource.Long:
			value = resource.Count(part).String()
		}
		for i, c := range s.Chunks {
			if _, own := c.Items.Get(it.Name); !own {
				s.Chunks[i].Items = append(c.Items, resource.Item{Name: it.Name, Value: value})
			}
		}
	}
	return nil
}
