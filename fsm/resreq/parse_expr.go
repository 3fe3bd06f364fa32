package resreq

import "strings"

// several reads operands with the sign between them; one alone is itself.
func (p *parser) several(op string, operand func() *expr) *expr {
	first := operand()
	if !p.is(op) {
		return first
	}
	all := &expr{op: op, args: []*expr{first}}
	for {
		if _, more := p.take(op); !more {
			return all
		}
		all.args = append(all.args, operand())
	}
}

func (p *parser) or() *expr  { return p.several(opOr, p.and) }
func (p *parser) and() *expr { return p.several(opAnd, p.not) }

func (p *parser) not() *expr {
	if _, ok := p.take("!"); ok {
		return &expr{op: opNot, args: []*expr{p.compare()}}
	}
	return p.compare()
}

var relations = []string{">=", "<=", "==", "!=", ">", "<", "="}

func (p *parser) compare() *expr {
	if p.token.kind == name && !p.atDefined() {
		if r, ok := p.site.Resource(p.token.text); ok && r.Kind == Text {
			return p.compareText(r.Name)
		}
	}
	at := p.token.at
	left := p.sum()
	op, ok := p.take(relations...)
	if !ok {
		return left
	}
	p.calculated(at, left)
	at = p.token.at
	right := p.sum()
	p.calculated(at, right)
	return &expr{op: relation(op), args: []*expr{left, right}}
}

// relation returns the sign by which a comparison is known.
func relation(op string) string {
	if op == "=" {
		return "=="
	}
	return op
}

// compareText reads what follows the name of a text resource. What it is compared with is no
// resource, and begins where the sign ends.
func (p *parser) compareText(resource string) *expr {
	p.next()
	for _, op := range relations {
		if p.is(op) {
			word := p.word()
			return &expr{op: relation(op), args: []*expr{{op: opName, word: resource}, {op: opText, word: word.text}}}
		}
	}
	p.expected("a comparison, as " + resource + " is a text")
	return &expr{op: opName}
}

// calculated refuses a truth where a number must stand.
func (p *parser) calculated(at int, e *expr) {
	if p.err == nil && e.logical() {
		p.refuse(at, "%q is true or false, expected a number", e)
	}
}

// binary reads operands of one rank of operators, which bind to the left.
func (p *parser) binary(operand func() *expr, ops ...string) *expr {
	at := p.token.at
	left := operand()
	for {
		if p.naked && p.open == 0 && p.is("+") {
			ahead := parser{lexer: p.lexer}
			if ahead.next(); ahead.atCount() {
				return left
			}
		}
		op, ok := p.take(ops...)
		if !ok {
			return left
		}
		p.calculated(at, left)
		second := p.token.at
		right := operand()
		p.calculated(second, right)
		left = &expr{op: op, args: []*expr{left, right}}
	}
}

func (p *parser) sum() *expr     { return p.binary(p.product, "+", "-") }
func (p *parser) product() *expr { return p.binary(p.atom, "*", "/") }

func (p *parser) atDefined() bool {
	if !p.is("defined") {
		return false
	}
	ahead := p.lexer
	ahead.next()
	return ahead.is("(")
}

func (p *parser) atom() *expr {
	t := p.token
	switch {
	case t.kind == number:
		p.next()
		return &expr{op: opNumber, word: trim(t.text)}
	case p.is("("):
		p.next()
		p.open++
		inside := p.or()
		p.open--
		p.need(")")
		return &expr{op: opGroup, args: []*expr{inside}}
	case p.atDefined():
		p.next()
		p.next()
		r := p.resource()
		p.need(")")
		return &expr{op: opDefined, word: r.Name}
	case t.kind == name:
		r := p.resource()
		if p.err == nil && r.Kind == Text {
			p.refuse(t.at, "%s is a text, expected a number", r.Name)
		}
		return &expr{op: opName, word: r.Name}
	}
	p.expected(strings.Join([]string{"a number", "a resource", "defined("}, ", ") + " or (")
	return &expr{op: opName}
}
