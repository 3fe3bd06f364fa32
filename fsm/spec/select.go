package spec

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A Select says what a job wants: chunks, each of them on one vnode's host.
type Select struct{ Chunks []Chunk }

// A Chunk is a set of resources that is wanted Count times. The items stand in the
// order written.
type Chunk struct {
	Count int
	Items resource.List
}

// ParseSelect reads "[N:]r=v[:r=v...][+...]". What is malformed is refused with
// BadAttributeValue, a resource that stands twice in a chunk with
// DuplicateResource. Resources are not looked up: Complete does.
func ParseSelect(text string) (Select, error) {
	if len(text) > maxText {
		return Select{}, malformedSelect()
	}
	parts, ok := split(text, '+', maxChunks)
	if !ok {
		return Select{}, malformedSelect()
	}
	s := Select{Chunks: make([]Chunk, 0, len(parts))}
	total := 0
	for _, part := range parts {
		chunk, err := parseChunk(part)
		if err != nil {
			return Select{}, err
		}
		if total += chunk.Count; total > maxChunks {
			return Select{}, malformedSelect()
		}
		s.Chunks = append(s.Chunks, chunk)
	}
	return s, nil
}

func parseChunk(text string) (Chunk, error) {
	parts, ok := split(text, ':', maxItems+1)
	if !ok || text == "" {
		return Chunk{}, malformedSelect()
	}
	c := Chunk{Count: 1}
	if text[0] >= '0' && text[0] <= '9' {
		n, err := strconv.Atoi(parts[0])
		if err != nil || n < 1 || n > maxChunks {
			return Chunk{}, malformedSelect()
		}
		c.Count, parts = n, parts[1:]
	}
	items, err := parseItems(parts)
	if err != nil {
		return Chunk{}, err
	}
	c.Items = items
	return c, nil
}

func parseItems(parts []string) (resource.List, error) {
	if len(parts) > maxItems {
		return nil, malformedSelect()
	}
	if len(parts) == 0 {
		return nil, nil
	}
	items := make(resource.List, 0, len(parts))
	for _, part := range parts {
		item, ok := parseItem(part)
		if !ok {
			return nil, malformedSelect()
		}
		if _, twice := items.Get(item.Name); twice {
			return nil, pbs.Errorf(pbs.DuplicateResource, "%s%s", pbs.DuplicateResource.Text(), item.Name)
		}
		items = append(items, item)
	}
	return items, nil
}

// String prints the select with the count of each chunk.
func (s Select) String() string {
	var b strings.Builder
	last := 0 // where the text of the chunk before begins
	for i, c := range s.Chunks {
		if i > 0 {
			b.WriteByte('+')
		}
		begin := b.Len()
		if i > 0 && c.Count == s.Chunks[i-1].Count && c.Alike(s.Chunks[i-1]) { // one of thousands
			b.WriteString(b.String()[last : begin-1])
		} else {
			b.WriteString(strconv.Itoa(c.Count))
			writeItems(&b, c.Items)
		}
		last = begin
	}
	return b.String()
}

// Alike reports whether two chunks want the same, however often.
func (c Chunk) Alike(o Chunk) bool { return slices.Equal(c.Items, o.Items) }

// Grouped writes alike chunks that follow each other as one with their count.
func (s Select) Grouped() Select {
	var out Select
	for _, c := range s.Chunks {
		if n := len(out.Chunks); n > 0 && c.Alike(out.Chunks[n-1]) {
			out.Chunks[n-1].Count += c.Count
			continue
		}
		out.Chunks = append(out.Chunks, c)
	}
	return out
}

// Total returns how many chunks the select asks for.
func (s Select) Total() int {
	total := 0
	for _, c := range s.Chunks {
		total += c.Count
	}
	return total
}
