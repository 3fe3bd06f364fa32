package resreq

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
