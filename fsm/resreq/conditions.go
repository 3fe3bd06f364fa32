package resreq

// A Condition is one of several that must all hold of a host: that a text resource is, or is not, a
// word, or that a boolean resource is true or, with Not, is not.
type Condition struct {
	Resource string
	Text     string // empty: the resource is boolean
	Not      bool
}

// Conditions takes a selection apart into what each host must be, where it is nothing but that;
// otherwise it returns the part that is more: a comparison of numbers, an alternative.
func (s Select) Conditions(site Site) (all []Condition, more string) {
	for _, p := range s.parts {
		if all, more = p.conditions(site, all); more != "" {
			return nil, more
		}
	}
	return all, ""
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
