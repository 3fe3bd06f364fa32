package lsf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
)

// Described says in LSF's words what chunks and their placement are. What LSF has no word for is left
// out: it is what the commands of PBS show.
func Described(sel, place string) string {
	chunks, err := spec.ParseSelect(sel)
	if err != nil || len(chunks.Chunks) == 0 {
		return ""
	}
	p, err := spec.ParsePlace(place)
	if err != nil {
		p = spec.Place{}
	}
	terms := make([]string, 0, len(chunks.Chunks))
	slots := make([]int, 0, len(chunks.Chunks))
	for _, c := range chunks.Chunks {
		terms, slots = append(terms, describedChunk(c, p, chunks.Total())), append(slots, c.Count*slotsOf(c))
	}
	if len(terms) == 1 || len(terms) == 2 && isRest(chunks, p) {
		return terms[0]
	}
	var b strings.Builder
	for i, t := range terms {
		if i > 0 {
			b.WriteByte('+')
		}
		fmt.Fprintf(&b, "%d*{%s}", max(slots[i], 1), t)
	}
	return b.String()
}

// isRest reports whether the second of two chunks is but what is left of the first one's ptile.
func isRest(s spec.Select, p spec.Place) bool {
	a, b := s.Chunks[0], s.Chunks[1]
	return p.Arrangement == spec.Scatter && b.Count == 1 && slotsOf(b) < slotsOf(a) && slices.Equal(besideSlots(a), besideSlots(b))
}

func besideSlots(c spec.Chunk) resource.List {
	return slices.DeleteFunc(slices.Clone(c.Items), func(item resource.Item) bool { return item.Name == "ncpus" })
}

func slotsOf(c spec.Chunk) int {
	text, ok := c.Items.Get("ncpus")
	n, err := strconv.Atoi(text)
	if !ok || err != nil {
		return 1
	}
	return n
}

func describedChunk(c spec.Chunk, p spec.Place, total int) string {
	var conditions, amounts, sections []string
	for _, item := range c.Items {
		name := item.Name
		for lsf, model := range modelNames {
			if model == name {
				name = lsf
			}
		}
		def, builtin := resource.Lookup(item.Name)
		switch {
		case item.Name == "ncpus" || item.Name == "mpiprocs" || item.Name == "ompthreads":
		case resreq.Unit(item.Name) == resreq.Megabyte:
			if q, err := resource.Parse(resource.Size, item.Value); err == nil {
				amounts = append(amounts, name+"="+(resreq.Amount(q.Int())*resreq.One).Print(name))
			}
		case builtin && def.Consumable(), isNumber(item.Value):
			amounts = append(amounts, name+"="+item.Value)
		case strings.EqualFold(item.Value, "true"):
			conditions = append(conditions, name)
		case strings.EqualFold(item.Value, "false"):
			conditions = append(conditions, "!"+name)
		default:
			conditions = append(conditions, name+"=="+item.Value)
		}
	}
	if len(conditions) > 0 {
		sections = append(sections, "select["+strings.Join(conditions, " && ")+"]")
	}
	if len(amounts) > 0 {
		sections = append(sections, "rusage["+strings.Join(amounts, ":")+"]")
	}
	switch {
	case p.Arrangement == spec.Scatter:
		sections = append(sections, "span[ptile="+strconv.Itoa(max(slotsOf(c), 1))+"]")
	case p.Arrangement == spec.Pack || total == 1 && slotsOf(c) > 1:
		sections = append(sections, "span[hosts=1]")
	}
	if p.Group != "" {
		sections = append(sections, "same["+p.Group+"]")
	}
	return strings.Join(sections, " ")
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
