package resreq

import (
	"slices"
	"strings"
)

// Limits are the bounds that a queue sets to what its jobs reserve (RESRSV_LIMIT), each resource once.
type Limits []Limit

// A Limit has the least and the most, both allowed.
type Limit struct {
	Resource string
	Min, Max Amount
}

// maxLimit is the largest number of a limit.
const maxLimit = 2147483647

// ParseLimits reads "[mem=30,100] [swp=50:tmp=10,20]". It returns beside the limits the names of
// those that are not valid, and are ignored: unknown and non-consumable resources, what is no
// number, a minimum above the maximum, and a second limit of a resource.
func ParseLimits(text string, site Site) (limits Limits, invalid []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		inside, rest, closed := strings.Cut(text, "]")
		group, opened := strings.CutPrefix(inside, "[")
		if !opened || !closed {
			return limits, append(invalid, text)
		}
		text = rest
		for pair := range strings.SplitSeq(group, ":") {
			resource, bounds, _ := strings.Cut(pair, "=")
			resource = strings.TrimSpace(resource)
			l, ok := parseLimit(resource, bounds, site)
			if _, twice := limits.get(l.Resource); !ok || twice {
				invalid = append(invalid, resource)
				continue
			}
			limits = append(limits, l)
		}
	}
	return limits, invalid
}

func parseLimit(resource, bounds string, site Site) (l Limit, ok bool) {
	r, known := site.Resource(resource)
	if !known || !site.Reservable(r) {
		return Limit{}, false
	}
	l.Resource = r.Name
	least, most, two := strings.Cut(bounds, ",")
	if two {
		if inside, braced := strings.CutPrefix(strings.TrimSpace(least), "{"); braced {
			least = inside
			if most, braced = strings.CutPrefix(strings.TrimSpace(most), "}"); !braced {
				return Limit{}, false
			}
		}
		if l.Min, ok = limitNumber(r.Name, least); !ok {
			return Limit{}, false
		}
	} else {
		most = least
	}
	l.Max, ok = limitNumber(r.Name, most)
	return l, ok && l.Min <= l.Max
}

func limitNumber(resource, text string) (Amount, bool) {
	p := &parser{lexer: lexer{text: text}}
	p.next()
	digits := p.token
	p.next()
	if digits.kind != number || p.token.kind != end || p.err != nil {
		return 0, false
	}
	a, ok := readAmount(digits.text, int64(One))
	return a/One*Unit(resource) + a%One*(Unit(resource)/One), ok && a <= maxLimit*One
}

// String prints the limits.
func (l Limits) String() string {
	words := make([]string, 0, len(l))
	for _, one := range l {
		words = append(words, "["+one.Resource+"="+one.bounds()+"]")
	}
	return strings.Join(words, " ")
}

func (l Limit) bounds() string {
	if l.Min == 0 {
		return l.Max.Print(l.Resource)
	}
	return l.Min.Print(l.Resource) + "," + l.Max.Print(l.Resource)
}

func (l Limit) between() string {
	if l.Min == 0 {
		return "at most " + l.Max.Print(l.Resource)
	}
	return l.Min.Print(l.Resource) + " to " + l.Max.Print(l.Resource)
}

func (l Limits) get(resource string) (Limit, bool) {
	for _, one := range l {
		if one.Resource == resource {
			return one, true
		}
	}
	return Limit{}, false
}

// WithoutOutside drops from a queue's own requirement what is outside its limits, and names the
// resources that it drops.
func (q Queue) WithoutOutside() (Queue, []string) {
	if q.Requirement == nil {
		return q, nil
	}
	var dropped []string
	terms := make([]Term, len(q.Requirement.Terms))
	for i, t := range q.Requirement.Terms {
		var kept []Usage
		for _, u := range t.Rusage {
			u = slices.DeleteFunc(slices.Clone(u), func(r Reservation) bool {
				l, ok := q.Limits.get(r.Resource)
				outside := ok && (r.Amount < l.Min || r.Amount > l.Max)
				if outside && !slices.Contains(dropped, r.Resource) {
					dropped = append(dropped, r.Resource)
				}
				return outside
			})
			if len(u) > 0 {
				kept = append(kept, u)
			}
		}
		t.Rusage = kept
		terms[i] = t
	}
	q.Requirement = &Requirement{terms}
	return q, dropped
}
