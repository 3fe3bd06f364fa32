package lsf

import (
	"strconv"
	"strings"

	"rampart/fsm/resource"
	"rampart/fsm/resreq"
)

// maxSizes bounds how many numbers of slots a job may have, one of which it gets.
const maxSizes = 256

// ReadSlots reads the attribute lsf_slots; false: it says nothing.
func ReadSlots(text string) (least, most int, ok bool) {
	a, b, two := strings.Cut(text, ",")
	least, err1 := strconv.Atoi(a)
	most, err2 := strconv.Atoi(b)
	return least, most, two && err1 == nil && err2 == nil
}

// Sizes returns the shapes of a job that may have from so many slots to so many more, with one slot more each.
// All have the layout of the one with most kinds of chunks, the last of these.
func Sizes(r Request, most int, t resource.Table, site resreq.Site) ([]Shape, error) {
	n := most - r.Slots + 1
	switch {
	case r.Requirement.Compound():
		return nil, unsupported("a compound requirement says how many slots there are: -n with a range is not supported with it")
	case len(r.Requirement.Terms) > 0 && len(r.Requirement.Terms[0].Rusage) > 1:
		return nil, unsupported("alternatives in rusage are not supported with a range of slots")
	case n > maxSizes:
		return nil, unsupported("a range of %d numbers of slots is not supported, but up to %d", n, maxSizes)
	}
	all := make([]Shape, n)
	for i := range all {
		one := r
		one.Slots += i
		var err error
		if all[i], err = Shaped(one, t, site); err != nil {
			return nil, err
		}
	}
	layout := all[n-1].Layout
	for _, shape := range all {
		if len(shape.Layout.Kinds) > len(layout.Kinds) { // of several chunks on each host, and one of what is left
			layout = shape.Layout
		}
	}
	all[0].Layout = layout
	return all, nil
}
