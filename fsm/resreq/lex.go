package resreq

import (
	"strconv"
	"strings"

	"rampart/fsm/pbs"
)

type tokenKind uint8

const (
	end    tokenKind = iota
	name             // an identifier
	number           // digits, with a fraction or without
	quote            // what stands in quotes
	sign             // an operator or a bracket
)

type token struct {
	kind tokenKind
	text string
	at   int
}

// found says what a refusal shows of the token.
func (t token) found() string {
	if t.kind == end {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// A lexer cuts a string into tokens, of which it holds the present one.
type lexer struct {
	text  string
	rest  int // where what is not read yet begins
	token token
	err   *Refusal
}

var doubled = []string{"&&", "||", ">=", "<=", "==", "!="}

// refuse ends the reading; the first refusal is the one that counts.
func (l *lexer) refuse(at int, format string, args ...any) {
	if l.err == nil {
		l.err = syntax(at, format, args...)
	}
	l.rest, l.token = len(l.text), token{end, "", len(l.text)}
}

func (l *lexer) expected(what string) {
	l.refuse(l.token.at, "found %s, expected %s", l.token.found(), what)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func (l *lexer) skipBlanks() {
	for l.rest < len(l.text) && isBlank(l.text[l.rest]) {
		l.rest++
	}
}

// span returns the length of what stands next and has only characters of the kind.
func (l *lexer) span(from int, of func(byte) bool) int {
	n := from
	for l.rest+n < len(l.text) && of(l.text[l.rest+n]) {
		n++
	}
	return n
}

// next reads a token.
func (l *lexer) next() {
	l.skipBlanks()
	if l.rest == len(l.text) {
		l.token = token{end, "", l.rest}
		return
	}
	kind, n := sign, 1
	switch c := l.text[l.rest]; {
	case isDigit(c):
		kind, n = number, l.span(0, isDigit)
		if l.rest+n+1 < len(l.text) && l.text[l.rest+n] == '.' && isDigit(l.text[l.rest+n+1]) {
			n = l.span(n+1, isDigit)
		}
	case isName(c):
		kind, n = name, l.span(0, isName)
	case c == '\'' || c == '"':
		l.quoted(c)
		return
	default:
		for _, op := range doubled {
			if strings.HasPrefix(l.text[l.rest:], op) {
				n = len(op)
			}
		}
	}
	l.token = token{kind, l.text[l.rest : l.rest+n], l.rest}
	l.rest += n
}

func (l *lexer) quoted(by byte) {
	at := l.rest
	inside, _, closed := strings.Cut(l.text[at+1:], string(by))
	if !closed {
		l.refuse(at, "a quote is not closed, expected %c", by)
		return
	}
	for i := range len(inside) {
		if pbs.IsControl(rune(inside[i])) {
			l.refuse(at+1+i, "there is a control character in quotes")
			return
		}
	}
	l.token = token{quote, inside, at}
	l.rest += len(inside) + 2
}

// word reads what a text is compared with, which may have signs that names do not have.
func (l *lexer) word() token {
	l.skipBlanks()
	if n := l.span(0, isWord); n > 0 {
		word := token{name, l.text[l.rest : l.rest+n], l.rest}
		l.rest += n
		l.next()
		return word
	}
	l.next()
	word := l.token
	if word.kind != quote {
		l.expected("a name")
		return word
	}
	l.next()
	return word
}

// is reports whether the present token is the sign or the word.
func (l *lexer) is(text string) bool {
	return (l.token.kind == sign || l.token.kind == name) && l.token.text == text
}

// take reads on if the present token is one of those, and returns it.
func (l *lexer) take(texts ...string) (string, bool) {
	for _, text := range texts {
		if l.is(text) {
			l.next()
			return text, true
		}
	}
	return "", false
}

// need reads on over a token that must stand here.
func (l *lexer) need(text string) {
	if _, ok := l.take(text); !ok {
		l.expected(text)
	}
}
