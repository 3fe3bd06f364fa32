package sched

import (
	"strings"

	"rampart/fsm/resource"
)

// enforced is what a mom limits in any case, and what is scheduled only where vnodes offer it: it would keep a job waiting
// for ever where none does.
const enforced = "vmem"

// considered tells which resources of a request the scheduler looks at: those that its attribute resources names, which is
// PBS's setting of the same name; without it all, but for what only moms enforce.
type considered struct {
	named   map[string]bool // nil: the attribute is not set
	offered bool            // a vnode offers what moms enforce
}

func newConsidered(set settings, w *world) considered {
	h := considered{offered: w.enforcing > 0}
	text := strings.Trim(set.get("resources"), "\"")
	if strings.TrimSpace(text) == "" {
		return h
	}
	h.named = map[string]bool{}
	for name := range strings.SplitSeq(text, ",") {
		h.named[strings.TrimSpace(name)] = true
	}
	return h
}

// has reports whether a resource is looked at; those of vnodes that are true or false always are.
func (h considered) has(def resource.Def) bool {
	switch {
	case h.named != nil:
		return h.named[def.Name] || def.Type == resource.Boolean
	case def.Name == enforced:
		return h.offered
	}
	return true
}

// same reports whether two look at the same.
func (h considered) same(o considered) bool {
	if h.offered != o.offered || (h.named == nil) != (o.named == nil) || len(h.named) != len(o.named) {
		return false
	}
	for name := range h.named {
		if !o.named[name] {
			return false
		}
	}
	return true
}
