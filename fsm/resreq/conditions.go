package resreq

// A Condition is one of several that must all hold of a host: that a text resource is, or is not, a
// word, or that a boolean resource is true or, with Not, is not.
type Condition struct {
	Resource string
	Text     string // empty: the resource is boolean
	Not      bool
}

// Split takes a selection apart into conditions and what is more than that: a comparison of numbers, an alternative, a text that a host
// is not to have.
func (s Select) Split(site Site) (all []Condition, rest Select) {
	for _, p := range s.parts {
		for _, e := range p.conjuncts(nil) {
			some, more := e.conditions(site, nil)
			if more != "" || len(some) == 1 && some[0].Not && some[0].Text != "" {
				rest.parts = append(rest.parts, e)
				continue
			}
			all = append(all, some...)
		}
	}
	return all, rest
}

// conjuncts appends what must all hold for the expression to hold.
func (e *expr) conjuncts(all []*expr) []*expr {
	switch {
	case e.op == opGroup && (e.args[0].op == opAnd || e.args[0].op == opGroup):
		return e.args[0].conjuncts(all)
	case e.op == opAnd:
		for _, arg := range e.args {
			all = arg.conjuncts(all)
		}
		return all
	}
	return append(all, e)
}

func (e *expr) conditions(site Site, all []Condition) ([]Condition, string) {
	switch e.op {
	case opGroup:
		return e.args[0].conditions(site, all)
	case opAnd:
		for _, arg := range e.args {
			var more string
			if all, more = arg.conditions(site, all); more != "" {
				return nil, more
			}
		}
		return all, ""
	case opName:
		if r, ok := site.Resource(e.word); ok && r.Kind == Boolean {
			return append(all, Condition{Resource: r.Name}), ""
		}
	case opNot:
		inner, more := e.args[0].conditions(site, nil)
		if more == "" && len(inner) == 1 {
			inner[0].Not = !inner[0].Not
			return append(all, inner[0]), ""
		}
	case "==", "!=":
		if e.args[1].op == opText {
			if e.String() == defaultSelect {
				return all, ""
			}
			return append(all, Condition{Resource: e.args[0].word, Text: e.args[1].word, Not: e.op == "!="}), ""
		}
	}
	return nil, e.String()
}
