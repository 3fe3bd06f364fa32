package pbs

import (
	"strings"

	"rampart/fsm/attr"
	"rampart/transport/api"
)

func (p *scanner) badObject() error {
	if p.last == "" {
		return p.fault()
	}
	return &wordError{"object type", p.last}
}

// A scanner walks along a directive.
type scanner struct {
	line string
	at   int
	last string // word read last
}

func (p *scanner) fault() error { return &syntaxError{p.line, p.at} }

func (p *scanner) blanks() {
	for p.at < len(p.line) && (p.line[p.at] == ' ' || p.line[p.at] == '\t') {
		p.at++
	}
}

// rest reports whether there is more than blanks.
func (p *scanner) rest() bool {
	at := p.at
	p.blanks()
	if p.at < len(p.line) {
		return true
	}
	p.at = at
	return false
}

// until reads up to one of the stops, or a blank.
func (p *scanner) until(stops string) string {
	from := p.at
	for p.at < len(p.line) && !strings.ContainsRune(stops+" \t", rune(p.line[p.at])) {
		p.at++
	}
	p.last = p.line[from:p.at]
	return p.last
}

func (p *scanner) word() string {
	p.blanks()
	return p.until("")
}

func (p *scanner) object() (*managed, bool) {
	return managedBy(strings.ToLower(p.word()))
}

// names reads the list of names, if there is one. Of the server and scheduler, whose
// names may be left out, a word that is an attribute or has an operator behind it is
// none, and of the server must be one; of others one that is both is none, for an active
// object may be meant.
func (p *scanner) names(d *directive) bool {
	if !p.rest() {
		return true
	}
	start := p.at
	word := p.until("=")
	first, _, _ := strings.Cut(word, ",")
	known := isAttribute(d.object, strings.TrimRight(first, "+-"))
	switch {
	case d.object.word == "server" && !known && p.atOperator(): // PBS finds fault behind the operator
		_, _ = p.operator()
		return false
	case d.object.single && (known || p.atOperator()) || known && p.atOperator():
		p.at = start
		return true
	}
	for item := range strings.SplitSeq(word, ",") {
		name, server, at := strings.Cut(item, "@")
		if name == "" && !at || at && server == "" || strings.ContainsAny(name, `"'`) {
			p.at = start
			return false
		}
		d.names = append(d.names, objectName{name, server})
	}
	return true
}

// atOperator reports whether an operator comes next, or was read with the word.
func (p *scanner) atOperator() bool {
	rest := strings.TrimLeft(p.line[p.at:], " \t+-")
	return strings.HasPrefix(rest, "=")
}

func isAttribute(m *managed, word string) bool {
	name, _, _ := strings.Cut(word, ".")
	_, ok := attr.Find(m.table, name)
	return ok
}

// attributes reads what remains: with operators and values for create and set,
// names alone for unset, list and print.
func (p *scanner) attributes(d *directive) error {
	assigns := d.verb == "create" || d.verb == "set"
	needed := d.verb == "set" || d.verb == "unset"
	if !p.rest() {
		if needed {
			return p.fault()
		}
		return nil
	}
	for {
		a, err := p.attribute(assigns)
		if err != nil {
			return err
		}
		if def, ok := attr.Find(d.object.table, a.Name); ok {
			a.Name = def.Name // what is read is chosen by it
		}
		d.changes = append(d.changes, a)
		if !p.rest() {
			return nil
		}
		if p.line[p.at] != ',' {
			return p.fault()
		}
		p.at++
		if !p.rest() {
			return p.fault()
		}
	}
}

func (p *scanner) attribute(assigns bool) (*api.Attribute, error) {
	name, resource, _ := strings.Cut(p.until("=,"), ".")
	a := &api.Attribute{Op: api.Op_OP_UNSET}
	if assigns { // the operator may stand at the word's end
		trimmed := strings.TrimRight(p.last, "+-")
		p.at -= len(p.last) - len(trimmed)
		name, resource, _ = strings.Cut(trimmed, ".")
	}
	a.Name, a.Resource = name, resource
	if name == "" {
		p.at = min(p.at+1, len(p.line))
		return nil, p.fault()
	}
	if !assigns {
		return a, nil
	}
	var ok bool
	if a.Op, ok = p.operator(); !ok {
		return nil, p.fault()
	}
	a.Value, ok = p.value()
	if !ok {
		return nil, p.fault()
	}
	return a, nil
}

func (p *scanner) operator() (api.Op, bool) {
	p.blanks()
	rest := p.line[p.at:]
	switch {
	case strings.HasPrefix(rest, "="):
		p.at++
		return api.Op_OP_SET, true
	case strings.HasPrefix(rest, "+="):
		p.at += 2
		return api.Op_OP_INCREASE, true
	case strings.HasPrefix(rest, "-="):
		p.at += 2
		return api.Op_OP_DECREASE, true
	}
	return 0, false
}

// value reads up to a comma or blank, or what stands in quotes.
func (p *scanner) value() (string, bool) {
	if !p.rest() {
		return "", false
	}
	quote := p.line[p.at]
	if quote != '"' && quote != '\'' {
		v := p.until(",")
		return v, v != ""
	}
	n := strings.IndexByte(p.line[p.at+1:], quote)
	if n < 0 {
		return "", false
	}
	v := p.line[p.at+1 : p.at+1+n]
	p.at += n + 2
	return v, true
}
