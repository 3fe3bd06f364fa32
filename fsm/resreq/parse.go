package resreq

import (
	"slices"
	"strconv"
	"strings"
)

type parser struct {
	lexer
	site Site

	open  int  // parentheses that are not closed
	naked bool // in a term without braces, which ends before "+ N *"
}

// Parse reads a string for a site; what is malformed or names what the site does not have is
// refused with a *Refusal. The empty string says nothing.
func Parse(text string, site Site) (Requirement, error) {
	if len(text) > maxText {
		return Requirement{}, syntax(maxText, "the string has %d bytes, expected at most %d", len(text), maxText)
	}
	p := &parser{lexer: lexer{text: text}, site: site}
	p.next()
	r := p.requirement()
	if p.token.kind != end {
		p.expected("a section, or the end")
	}
	if p.err != nil {
		return Requirement{}, p.err
	}
	// A kilobyte is longer in print than it may have been written.
	return bounded(r)
}

// bounded refuses a requirement that is too long to be kept.
func bounded(r Requirement) (Requirement, error) {
	if n := len(r.String()); n > maxText {
		return Requirement{}, syntax(-1, "the requirement has %d bytes, expected at most %d", n, maxText)
	}
	return r, nil
}

func (p *parser) requirement() Requirement {
	if !p.atCount() {
		return Requirement{[]Term{{0, p.simple()}}}
	}
	// A product such as 2*mem>100 begins as a term does.
	begin := *p
	terms, bare := p.compound()
	if p.err == nil && p.token.kind == end || !bare {
		return Requirement{terms}
	}
	failed := *p
	*p = begin
	if s := p.simple(); p.err == nil && p.token.kind == end {
		return Requirement{[]Term{{0, s}}}
	}
	*p = failed
	return Requirement{terms}
}

// atCount tells whether a number and an asterisk stand next.
func (p *parser) atCount() bool {
	if p.token.kind != number {
		return false
	}
	ahead := p.lexer
	ahead.next()
	return ahead.is("*")
}

// compound reads terms, and tells whether the first one is an expression without brackets, so that
// the whole may be one too.
func (p *parser) compound() (terms []Term, bare bool) {
	for {
		at := p.token.at
		t := Term{Slots: p.positive()}
		p.need("*")
		if _, braced := p.take("{"); braced {
			t.Simple = p.simple()
			p.need("}")
		} else {
			bare = bare || len(terms) == 0 && !p.atSection()
			p.naked = true
			t.Simple = p.simple()
			p.naked = false
		}
		if p.err == nil && len(t.Rusage) > 1 {
			p.refuse(at, "a term of a compound requirement has || in rusage, expected one alternative")
		}
		if p.err == nil && t.CU != (CU{}) {
			p.refuse(at, "a term of a compound requirement has a section cu, expected none")
		}
		terms = append(terms, t)
		if _, more := p.take("+"); !more {
			break
		}
	}
	if p.err == nil && len(terms) < 2 {
		p.expected("+ and another term")
	}
	return terms, bare
}

// sections are read by name.
var sections = map[string]func(*parser, *Simple){
	"select": func(p *parser, s *Simple) { s.Select = selectOf(p.or()) },
	"order":  func(p *parser, s *Simple) { s.Order = p.order() },
	"rusage": func(p *parser, s *Simple) { s.Rusage = p.rusage() },
	"span":   func(p *parser, s *Simple) { s.Span = p.spread() },
	"same":   func(p *parser, s *Simple) { s.Same = p.same() },
	"cu":     func(p *parser, s *Simple) { s.CU = p.units() },
}

// atSection tells whether a section begins here.
func (p *parser) atSection() bool {
	if p.token.kind != name || sections[p.token.text] == nil {
		return false
	}
	ahead := p.lexer
	ahead.next()
	return ahead.is("[")
}

func (p *parser) simple() (s Simple) {
	seen := map[string]bool{}
	ends := p.token.kind == end || p.is("}") || p.naked && p.is("+")
	if !ends && !p.atSection() {
		s.Select = selectOf(p.or())
		seen["select"] = true
	}
	for p.atSection() {
		section := p.token.text
		if seen[section] {
			p.refuse(p.token.at, "a second section %s, expected each section once", section)
			return s
		}
		seen[section] = true
		p.next()
		p.need("[")
		sections[section](p, &s)
		p.need("]")
	}
	return s
}

// positive reads a positive integer.
func (p *parser) positive() int {
	n, err := strconv.ParseInt(p.token.text, 10, 32)
	if p.token.kind != number || err != nil || n <= 0 {
		p.expected("a positive integer")
		return 0
	}
	p.next()
	return int(n)
}

// resource reads the name of a resource that the site has.
func (p *parser) resource() Resource {
	if p.token.kind != name {
		p.expected("the name of a resource")
		return Resource{}
	}
	r, ok := p.site.Resource(p.token.text)
	if !ok {
		p.refuse(p.token.at, "unknown resource %s, expected one that is built in or defined", p.token.found())
		return Resource{}
	}
	p.next()
	return r
}

func (p *parser) order() (keys []Key) {
	for {
		_, reverse := p.take("-")
		at := p.token.at
		r := p.resource()
		if p.err == nil && r.Kind == Text {
			p.refuse(at, "%s is a text, expected an index that can be ordered by", r.Name)
		}
		keys = append(keys, Key{r.Name, reverse})
		if _, more := p.take(":"); !more {
			return keys
		}
	}
}

func (p *parser) same() (names []string) {
	for {
		if r := p.resource(); !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
		if _, more := p.take(":"); !more {
			return names
		}
	}
}

// rusage reads alternatives. One of which nothing is left, since none of its resources can be
// reserved, is ignored with them.
func (p *parser) rusage() (alternatives []Usage) {
	for {
		if u := p.usage(); len(u) > 0 {
			alternatives = append(alternatives, u)
		}
		if _, more := p.take("||"); !more {
			return alternatives
		}
	}
}

func (p *parser) usage() (u Usage) {
	seen := map[string]bool{}
	for {
		u = append(u, p.reservations(seen)...)
		if _, more := p.take(",", "&&"); !more {
			return u
		}
	}
}

// reservations reads amounts that share a duration.
func (p *parser) reservations(seen map[string]bool) (u Usage) {
	for {
		at := p.token.at
		r := p.resource()
		if p.err == nil && seen[r.Name] {
			p.refuse(at, "a second amount of %s, expected each resource once", r.Name)
		}
		if p.err == nil && !r.Consumable && p.site.Strict {
			p.refuse(at, "%s cannot be reserved, expected a consumable resource", r.Name)
		}
		seen[r.Name] = true
		p.need("=")
		if amount := p.amount(r.Name); r.Consumable {
			u = append(u, Reservation{Resource: r.Name, Amount: amount})
		}
		if _, more := p.take(":"); !more {
			return u
		}
		if p.is("duration") || p.is("decay") {
			break
		}
	}
	duration, decay := p.duration()
	for i := range u {
		u[i].Duration, u[i].Decay = duration, decay
	}
	return u
}

func (p *parser) amount(resource string) Amount {
	digits := p.token
	if digits.kind != number {
		p.expected("a number")
		return 0
	}
	p.next()
	unit := int64(Unit(resource))
	for _, letter := range []string{"K", "M", "G", "T"} {
		if !p.is(letter) {
			continue
		}
		if !sized(resource) {
			p.refuse(p.token.at, "%s has the suffix %s, expected one for mem, swp and tmp only", resource, letter)
			return 0
		}
		unit = suffixes[letter] * int64(One)
		p.next()
		break
	}
	a, ok := readAmount(digits.text, unit)
	if !ok {
		p.refuse(digits.at, "%s is too much, expected a smaller number", digits.found())
	}
	return a
}

// duration reads duration and decay, of which decay alone says nothing.
func (p *parser) duration() (seconds int64, decay bool) {
	if _, ok := p.take("duration"); ok {
		p.need("=")
		seconds = int64(p.positive())
		unit, ok := p.take("s", "m", "h")
		switch {
		case ok && unit == "s":
		case ok && unit == "h":
			seconds *= 3600
		default:
			seconds *= 60
		}
		if _, more := p.take(":"); !more {
			return seconds, false
		}
	}
	p.need("decay")
	p.need("=")
	if p.token.kind != number || p.token.text != "0" && p.token.text != "1" {
		p.expected("0 or 1")
		return seconds, false
	}
	decay = p.token.text == "1" && seconds > 0
	p.next()
	return seconds, decay
}

func (p *parser) spread() (s Span) {
	word, ok := p.take("hosts", "ptile")
	if !ok {
		p.expected("hosts or ptile")
		return s
	}
	p.need("=")
	if word == "ptile" {
		return p.ptile()
	}
	_, minus := p.take("-")
	if p.token.kind != number || p.token.text != "1" {
		p.expected("1 or -1")
		return s
	}
	p.next()
	return Span{OneHost: !minus, AnyHost: minus}
}

func (p *parser) ptile() (s Span) {
	if _, ok := p.take("!"); ok {
		return Span{Full: true}
	}
	if p.token.kind != quote || p.token.text != "!" {
		if p.token.kind != number {
			p.expected("a positive integer, ! or '!'")
			return s
		}
		return Span{Ptile: p.positive()}
	}
	p.next()
	s.Full = true
	for {
		if _, more := p.take(","); !more {
			return s
		}
		of := PtileOf{Name: p.token.text}
		if p.token.kind != name {
			p.expected("the name of a type or model of host")
			return s
		}
		if slices.ContainsFunc(s.Of, func(o PtileOf) bool { return o.Name == of.Name }) {
			p.refuse(p.token.at, "a second number for %s, expected one", of.Name)
			return s
		}
		p.next()
		p.need(":")
		of.Slots = p.positive()
		s.Of = append(s.Of, of)
	}
}

func (p *parser) units() (c CU) {
	seen := map[string]bool{}
	for {
		at := p.token.at
		word, ok := p.take("type", "pref", "maxcus", "usablecuslots", "balance", "excl")
		if !ok {
			p.expected("type, pref, maxcus, usablecuslots, balance or excl")
			return c
		}
		if seen[word] {
			p.refuse(at, "a second %s, expected each once", word)
			return c
		}
		seen[word] = true
		switch word {
		case "balance":
			c.Balance = true
		case "excl":
			c.Excl = true
		default:
			p.need("=")
			p.unit(word, &c)
		}
		if _, more := p.take(":"); !more {
			return c
		}
	}
}

func (p *parser) unit(word string, c *CU) {
	switch word {
	case "type":
		if p.token.kind != name || !slices.Contains(p.site.UnitTypes, p.token.text) {
			p.expected("a type of compute units")
			return
		}
		c.Type = p.token.text
		p.next()
	case "pref":
		pref, ok := p.take("config", "maxavail", "minavail")
		if !ok {
			p.expected("config, maxavail or minavail")
		}
		c.Pref = pref
	case "maxcus":
		c.MaxCUs = p.positive()
	case "usablecuslots":
		c.UsableCUSlots = p.positive()
	}
}

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
