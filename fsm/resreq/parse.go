package resreq

import (
	"slices"
	"strconv"
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

// atCount reports whether a number and an asterisk stand next.
func (p *parser) atCount() bool {
	if p.token.kind != number {
		return false
	}
	ahead := p.lexer
	ahead.next()
	return ahead.is("*")
}

// compound reads terms, and reports whether the first one is an expression without brackets, so that
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

// atSection reports whether a section begins here.
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
