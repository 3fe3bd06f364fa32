package resreq

import (
	"strconv"
	"strings"
)

// The defaults (specification: reservation section 2.3).
const defaultSelect = "type==any"

var defaultOrder = []Key{{Name: "r15s"}, {Name: "pg"}}

// String prints what is said, in canonical form.
func (r Requirement) String() string { return r.print(false) }

// Combined prints the requirement as bjobs shows one that was merged: with the defaults of select
// and order.
func (r Requirement) Combined() string { return r.print(true) }

func (r Requirement) print(defaults bool) string {
	if len(r.Terms) == 0 {
		return Simple{}.print(defaults)
	}
	terms := make([]string, 0, len(r.Terms))
	for _, t := range r.Terms {
		text := t.print(defaults)
		if r.Compound() {
			text = strconv.Itoa(t.Slots) + "*{" + text + "}"
		}
		terms = append(terms, text)
	}
	return strings.Join(terms, "+")
}

func (s Simple) print(defaults bool) string {
	var sections []string
	section := func(name, text string) { sections = append(sections, name+"["+text+"]") }
	if s.Select.Given() || defaults {
		section("select", s.Select.String())
	}
	if len(s.Order) > 0 || defaults {
		section("order", PrintOrder(s.Keys()))
	}
	if len(s.Rusage) > 0 {
		section("rusage", printRusage(s.Rusage))
	}
	if s.Span.given() {
		section("span", s.Span.String())
	}
	if len(s.Same) > 0 {
		section("same", strings.Join(s.Same, ":"))
	}
	if s.CU != (CU{}) {
		section("cu", s.CU.String())
	}
	return strings.Join(sections, " ")
}

// PrintOrder writes the keys of a section order.
func PrintOrder(keys []Key) string {
	words := make([]string, 0, len(keys))
	for _, k := range keys {
		if k.Reverse {
			words = append(words, "-"+k.Name)
		} else {
			words = append(words, k.Name)
		}
	}
	return strings.Join(words, ":")
}

func printRusage(alternatives []Usage) string {
	words := make([]string, 0, len(alternatives))
	for _, u := range alternatives {
		words = append(words, u.String())
	}
	return strings.Join(words, "||")
}

// String prints the reservations; neighbours that are alike in duration and decay share them.
func (u Usage) String() string {
	var b strings.Builder
	for i, r := range u {
		b.WriteString(r.Resource + "=" + r.Amount.Print(r.Resource))
		last := i == len(u)-1
		switch {
		case !last && u[i+1].Duration == r.Duration && u[i+1].Decay == r.Decay:
			b.WriteByte(':')
			continue
		case r.Duration > 0:
			b.WriteString(":duration=" + printDuration(r.Duration))
			if r.Decay {
				b.WriteString(":decay=1")
			}
		}
		if !last {
			b.WriteByte(',')
		}
	}
	return b.String()
}

func printDuration(seconds int64) string {
	if seconds%60 == 0 {
		return strconv.FormatInt(seconds/60, 10)
	}
	return strconv.FormatInt(seconds, 10) + "s"
}

// String prints what stands between the brackets.
func (s Span) String() string {
	switch {
	case s.OneHost:
		return "hosts=1"
	case s.AnyHost:
		return "hosts=-1"
	case s.Ptile > 0:
		return "ptile=" + strconv.Itoa(s.Ptile)
	case !s.Full:
		return ""
	}
	text := "ptile='!'"
	for _, of := range s.Of {
		text += "," + of.Name + ":" + strconv.Itoa(of.Slots)
	}
	return text
}

// String prints what stands between the brackets.
func (c CU) String() string {
	var words []string
	if c.Type != "" {
		words = append(words, "type="+c.Type)
	}
	if c.Pref != "" {
		words = append(words, "pref="+c.Pref)
	}
	if c.MaxCUs > 0 {
		words = append(words, "maxcus="+strconv.Itoa(c.MaxCUs))
	}
	if c.UsableCUSlots > 0 {
		words = append(words, "usablecuslots="+strconv.Itoa(c.UsableCUSlots))
	}
	if c.Balance {
		words = append(words, "balance")
	}
	if c.Excl {
		words = append(words, "excl")
	}
	return strings.Join(words, ":")
}
