package spec

import (
	"math"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A Formula is an arithmetic expression as job_sort_formula has it: numbers, names, the
// operators of Python (+ - * / // % **, comparisons, and, or, not, X if C else Y), the numbers and
// functions of its module math, and abs, bool, int, float, max, min, pow, round and sum.
type Formula struct {
	root    term
	names   []string
	inexact bool
}

// A term returns its value for the values of names.
type term func(value func(name string) float64) float64

// maxFormula bounds a formula, and maxDepth how deep it may be nested.
const (
	maxFormula = 4096
	maxDepth   = 100
)

// ParseFormula reads an expression; what is malformed is refused with BadAttributeValue.
func ParseFormula(text string) (*Formula, error) {
	p := &formulaParser{rest: text}
	if len(text) > maxFormula {
		return nil, malformedFormula()
	}
	p.next()
	root := p.choice()
	if p.failed || p.word != "" {
		return nil, malformedFormula()
	}
	return &Formula{root, p.names, p.inexact}, nil
}

func malformedFormula() error { return pbs.Attribute(pbs.BadAttributeValue, "job_sort_formula") }

// Names returns the names that the formula asks the values of, each once.
func (f *Formula) Names() []string { return f.names }

// Exact reports whether all machines compute the formula alike: it has no powers, roots and
// logarithms, which they may round differently.
func (f *Formula) Exact() bool { return !f.inexact }

// Value computes the formula. What is no number, as after a division by zero, counts as 0.
func (f *Formula) Value(value func(name string) float64) float64 {
	v := f.root(value)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

type formulaParser struct {
	rest   string
	word   string // the present word; "" at the end
	names  []string
	depth  int
	failed bool

	inexact bool // see Formula.Exact
}

// operators are the operators of more than a character, and the keywords.
var operators = []string{"**", "//", "<=", ">=", "==", "!="}

// next reads a word.
func (p *formulaParser) next() {
	p.rest = strings.TrimLeft(p.rest, " \t")
	if p.rest == "" {
		p.word = ""
		return
	}
	n := 1
	switch c := p.rest[0]; {
	case c >= '0' && c <= '9' || c == '.':
		n = numberLength(p.rest)
	case isLetter(c):
		for n < len(p.rest) && (isLetter(p.rest[n]) || p.rest[n] >= '0' && p.rest[n] <= '9') {
			n++
		}
	default:
		for _, op := range operators {
			if strings.HasPrefix(p.rest, op) {
				n = len(op)
			}
		}
	}
	p.word, p.rest = p.rest[:n], p.rest[n:]
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// numberLength returns the length of a number with a fraction and an exponent, if it has them.
func numberLength(s string) int {
	digits := func(n int) int {
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return n
	}
	n := digits(0)
	if n < len(s) && s[n] == '.' {
		n = digits(n + 1)
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		at := n + 1
		if at < len(s) && (s[at] == '+' || s[at] == '-') {
			at++
		}
		if end := digits(at); end > at {
			n = end
		}
	}
	return n
}

// take reads on if the present word is one of the wanted, and returns it.
func (p *formulaParser) take(wanted ...string) (string, bool) {
	for _, w := range wanted {
		if p.word == w {
			p.next()
			return w, true
		}
	}
	return "", false
}

func (p *formulaParser) fail() term {
	p.failed, p.rest, p.word = true, "", ""
	return func(func(string) float64) float64 { return 0 }
}

func (p *formulaParser) choice() term {
	if p.depth++; p.depth > maxDepth {
		return p.fail()
	}
	defer func() { p.depth-- }()
	yes := p.either()
	if _, ok := p.take("if"); !ok {
		return yes
	}
	cond := p.either()
	if _, ok := p.take("else"); !ok {
		return p.fail()
	}
	no := p.choice()
	return func(v func(string) float64) float64 {
		if cond(v) != 0 {
			return yes(v)
		}
		return no(v)
	}
}

// binary reads operands of one rank of operators, which bind to the left.
func (p *formulaParser) binary(operand func() term, ops ...string) term {
	left := operand()
	for {
		op, ok := p.take(ops...)
		if !ok {
			return left
		}
		a, b, do := left, operand(), arithmetic[op]
		left = func(v func(string) float64) float64 { return do(a(v), b(v)) }
	}
}

func (p *formulaParser) either() term { return p.binary(p.both, "or") }
func (p *formulaParser) both() term   { return p.binary(p.not, "and") }

func (p *formulaParser) not() term {
	times := 0
	for {
		if _, ok := p.take("not"); !ok {
			break
		}
		times++
	}
	t := p.binary(p.sum, "<", "<=", ">", ">=", "==", "!=")
	if times == 0 {
		return t
	}
	return func(v func(string) float64) float64 { return truth((t(v) == 0) == (times%2 == 1)) }
}

func (p *formulaParser) sum() term     { return p.binary(p.product, "+", "-") }
func (p *formulaParser) product() term { return p.binary(p.signed, "*", "/", "//", "%") }

func (p *formulaParser) signed() term {
	negative := false
	for {
		op, ok := p.take("+", "-")
		if !ok {
			break
		}
		negative = negative != (op == "-")
	}
	t := p.power()
	if !negative {
		return t
	}
	return func(v func(string) float64) float64 { return -t(v) }
}

// power binds to the right, and tighter than a sign in front of it.
func (p *formulaParser) power() term {
	base := p.atom()
	if _, ok := p.take("**"); !ok {
		return base
	}
	if p.depth++; p.depth > maxDepth {
		return p.fail()
	}
	defer func() { p.depth-- }()
	p.inexact = true
	exponent := p.signed()
	return func(v func(string) float64) float64 { return math.Pow(base(v), exponent(v)) }
}

func (p *formulaParser) atom() term {
	word := p.word
	switch {
	case word == "(":
		p.next()
		t := p.choice()
		if _, ok := p.take(")"); !ok {
			return p.fail()
		}
		return t
	case word == "":
		return p.fail()
	case word[0] >= '0' && word[0] <= '9' || word[0] == '.' && len(word) > 1:
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return p.fail()
		}
		p.next()
		return func(func(string) float64) float64 { return n }
	case !isLetter(word[0]) || keywords[word]:
		return p.fail()
	}
	p.next()
	if word == "math" && p.word == "." { // math.sqrt is sqrt
		p.next()
		if word = p.word; constants[word] == 0 && functions[word].least == 0 {
			return p.fail()
		}
		p.next()
	}
	if p.word == "(" {
		return p.call(word)
	}
	if n, ok := constants[word]; ok {
		return func(func(string) float64) float64 { return n }
	}
	return p.name(word)
}

var keywords = map[string]bool{"if": true, "else": true, "and": true, "or": true, "not": true}

func (p *formulaParser) name(word string) term {
	if !resource.ValidName(word) {
		return p.fail()
	}
	known := false
	for _, n := range p.names {
		known = known || n == word
	}
	if !known {
		p.names = append(p.names, word)
	}
	return func(v func(string) float64) float64 { return v(word) }
}

func (p *formulaParser) call(name string) term {
	f, ok := functions[name]
	if !ok {
		return p.fail()
	}
	p.inexact = p.inexact || f.inexact
	p.next()
	if f.ofLists != nil {
		return p.callOfLists(f)
	}
	args := p.arguments(")")
	if len(args) < f.least || len(args) > f.most {
		return p.fail()
	}
	if f.pair != nil {
		return p.callOfPair(f, args[0])
	}
	return func(v func(string) float64) float64 { return f.do(valuesOf(args, v)) }
}

// arguments reads expressions up to what closes them.
func (p *formulaParser) arguments(closing string) (args []term) {
	for {
		args = append(args, p.choice())
		if _, more := p.take(","); !more {
			break
		}
	}
	if _, closed := p.take(closing); !closed || len(args) > maxOperands {
		p.fail()
	}
	return args
}

func valuesOf(args []term, v func(string) float64) []float64 {
	values := make([]float64, len(args))
	for i, a := range args {
		values[i] = a(v)
	}
	return values
}

func (p *formulaParser) callOfLists(f function) term {
	lists := make([][]term, f.most)
	for i := range lists {
		if i > 0 {
			if _, more := p.take(","); !more {
				return p.fail()
			}
		}
		open, ok := p.take("[", "(")
		if !ok {
			return p.fail()
		}
		lists[i] = p.arguments(map[string]string{"[": "]", "(": ")"}[open])
	}
	if _, closed := p.take(")"); !closed {
		return p.fail()
	}
	return func(v func(string) float64) float64 {
		values := make([][]float64, len(lists))
		for i, list := range lists {
			values[i] = valuesOf(list, v)
		}
		return f.ofLists(values)
	}
}

// callOfPair reads which of two results is meant: [0] or [1].
func (p *formulaParser) callOfPair(f function, arg term) term {
	_, opened := p.take("[")
	which, known := p.take("0", "1")
	_, closed := p.take("]")
	if !opened || !known || !closed {
		return p.fail()
	}
	i := int(which[0] - '0')
	return func(v func(string) float64) float64 { return f.pair(arg(v))[i] }
}
