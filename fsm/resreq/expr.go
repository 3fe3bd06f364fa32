package resreq

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// A Select is a condition on hosts: all of its parts must hold. The zero value is the default,
// type==any.
type Select struct {
	parts []*expr
}

// The operations of an expression beside those that are named by their signs.
const (
	opNumber  = "number"
	opName    = "name"
	opText    = "text" // a word that a text resource is compared with
	opDefined = "defined"
	opGroup   = "()"
	opNot     = "!"
	opOr      = "||"
	opAnd     = "&&"
)

// An expr is an operation, with its operands or its word. Parentheses are operations too, so that
// it prints as it was written.
type expr struct {
	op   string
	word string
	args []*expr
}

// logical reports whether the value is a truth, with which nobody calculates.
func (e *expr) logical() bool {
	switch e.op {
	case opGroup:
		return e.args[0].logical()
	case opNot, opOr, opAnd, "==", "!=", "<", ">", "<=", ">=":
		return true
	}
	return false
}

func (e *expr) String() string {
	var b strings.Builder
	e.print(&b)
	return b.String()
}

func (e *expr) print(b *strings.Builder) {
	switch e.op {
	case opNumber, opName:
		b.WriteString(e.word)
	case opText:
		b.WriteString(quoted(e.word))
	case opDefined:
		b.WriteString("defined(" + e.word + ")")
	case opGroup:
		b.WriteByte('(')
		e.args[0].print(b)
		b.WriteByte(')')
	case opNot:
		b.WriteByte('!')
		e.args[0].print(b)
	case opOr, opAnd:
		for i, arg := range e.args {
			if i > 0 {
				b.WriteString(" " + e.op + " ")
			}
			arg.print(b)
		}
	default:
		e.args[0].print(b)
		b.WriteString(e.op)
		e.args[1].print(b)
	}
}

// quoted puts a word in quotes unless it is read without them.
func quoted(word string) string {
	for i := range len(word) {
		if !isWord(word[i]) {
			if strings.Contains(word, "'") {
				return `"` + word + `"`
			}
			return "'" + word + "'"
		}
	}
	if word == "" {
		return "''"
	}
	return word
}

// isWord reports whether a word that a text is compared with has the character without quotes:
// names of hosts and models have dots and dashes.
func isWord(c byte) bool { return isName(c) || c == '.' || c == '-' }

// A Value is what a host has of a resource: a number in the unit that is shown (1 for a boolean
// that is true), or a text.
type Value struct {
	Number float64
	Text   string
}

// A Host tells what it has.
type Host interface {
	// Value returns what is available of a resource, not what is reported (specification:
	// reservation section 1.4), and false where the host does not have it.
	Value(resource string) (Value, bool)
}

// Holds reports whether a host satisfies the condition, for a job that was submitted from a host of
// the type local. What a host does not have compares with nothing.
func (s Select) Holds(h Host, local string) bool {
	for _, p := range s.parts {
		if !p.holds(h, local) {
			return false
		}
	}
	return true
}

// Given reports whether something is said.
func (s Select) Given() bool { return len(s.parts) > 0 }

// String prints the condition; several parts stand in parentheses.
func (s Select) String() string {
	switch len(s.parts) {
	case 0:
		return defaultSelect
	case 1:
		return s.parts[0].String()
	}
	var b strings.Builder
	for i, p := range s.parts {
		if i > 0 {
			b.WriteString(" && ")
		}
		b.WriteByte('(')
		p.print(&b)
		b.WriteByte(')')
	}
	return b.String()
}

// selectOf makes the condition of an expression. One that is printed of several parts has them again.
func selectOf(e *expr) Select {
	if e.op != opAnd {
		return Select{[]*expr{e}}
	}
	var parts []*expr
	for _, arg := range e.args {
		if arg.op != opGroup {
			return Select{[]*expr{e}}
		}
		parts = append(parts, arg.args[0])
	}
	return Select{parts}
}

// On returns the condition that a host is one of those named, too.
func (s Select) On(hosts ...string) Select {
	one := &expr{op: opOr}
	for _, name := range hosts {
		one.args = append(one.args, &expr{op: "==", args: []*expr{{op: opName, word: "hname"}, {op: opText, word: name}}})
	}
	switch len(one.args) {
	case 0:
		return s
	case 1:
		one = one.args[0]
	}
	return and(s, Select{[]*expr{one}})
}

// localType is the type of the host that a job was submitted from, in a comparison with type.
const localType = "local"

// Local returns the requirement with the type of the host that its job was submitted from in the place of type==local, and whether there is any.
func (r Requirement) Local(word string) (Requirement, bool) {
	some := false
	terms := make([]Term, len(r.Terms))
	for i, t := range r.Terms {
		parts := make([]*expr, len(t.Select.parts))
		for k, p := range t.Select.parts {
			parts[k] = p.located(word, &some)
		}
		t.Select = Select{parts}
		terms[i] = t
	}
	if !some {
		return r, false
	}
	return Requirement{terms}, true
}

func (e *expr) located(word string, some *bool) *expr {
	if e.op == opText || len(e.args) == 0 {
		return e
	}
	next := &expr{op: e.op, word: e.word, args: make([]*expr, len(e.args))}
	for i, arg := range e.args {
		next.args[i] = arg.located(word, some)
	}
	if last := e.args[len(e.args)-1]; last.op == opText && last.word == localType && e.args[0].word == "type" {
		*some = true
		next.args[1] = &expr{op: opText, word: word}
	}
	return next
}

// and joins conditions.
func and(all ...Select) Select {
	var parts []*expr
	for _, s := range all {
		for _, p := range s.parts {
			if p.op == opGroup && len(s.parts) == 1 {
				p = p.args[0]
			}
			parts = append(parts, p)
		}
	}
	if len(parts) == 1 {
		return selectOf(parts[0])
	}
	return Select{parts}
}

// withoutDefault leaves out parts that say nothing.
func (s Select) withoutDefault() Select {
	var parts []*expr
	for _, p := range s.parts {
		if p.String() != defaultSelect {
			parts = append(parts, p)
		}
	}
	return Select{parts}
}

func (e *expr) holds(h Host, local string) bool {
	switch e.op {
	case opGroup:
		return e.args[0].holds(h, local)
	case opNot:
		return !e.args[0].holds(h, local)
	case opOr:
		for _, arg := range e.args {
			if arg.holds(h, local) {
				return true
			}
		}
		return false
	case opAnd:
		for _, arg := range e.args {
			if !arg.holds(h, local) {
				return false
			}
		}
		return true
	case "==", "!=", "<", ">", "<=", ">=":
		if e.args[1].op == opText {
			return e.textHolds(h, local)
		}
		a, okA := e.args[0].number(h)
		b, okB := e.args[1].number(h)
		return okA && okB && compares(e.op, cmp.Compare(a, b))
	}
	n, ok := e.number(h)
	return ok && n != 0
}

func (e *expr) textHolds(h Host, local string) bool {
	resource, word := e.args[0].word, e.args[1].word
	if resource == "type" {
		if word == "any" && (e.op == "==" || e.op == "!=") {
			return e.op == "=="
		}
		if word == localType {
			word = local
		}
	}
	v, ok := h.Value(resource)
	return ok && compares(e.op, strings.Compare(v.Text, word))
}

func compares(op string, order int) bool {
	switch op {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	}
	return order >= 0
}

// number calculates; false means that there is no value, as after a division by zero. The
// conversions keep compilers from fusing two operations into one, which rounds otherwise.
func (e *expr) number(h Host) (float64, bool) {
	switch e.op {
	case opNumber:
		n, err := strconv.ParseFloat(e.word, 64)
		return n, err == nil
	case opName:
		v, ok := h.Value(e.word)
		return v.Number, ok && !math.IsNaN(v.Number)
	case opDefined:
		if _, ok := h.Value(e.word); ok {
			return 1, true
		}
		return 0, true
	case opGroup:
		return e.args[0].number(h)
	}
	a, okA := e.args[0].number(h)
	b, okB := e.args[1].number(h)
	n := math.NaN()
	switch e.op {
	case "+":
		n = float64(a + b)
	case "-":
		n = float64(a - b)
	case "*":
		n = float64(a * b)
	case "/":
		if b != 0 {
			n = float64(a / b)
		}
	}
	return n, okA && okB && !math.IsNaN(n)
}
