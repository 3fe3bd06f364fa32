package sim

import (
	"fmt"
	"os"
	"strings"
)

// A part of a word is text, in which variables are meant unless it was quoted.
type part struct {
	text   string
	quoted bool
}

// A word is what stands between blanks.
type word []part

// expand returns the word with the values of its variables.
func (w word) expand(lookup func(string) string) string {
	var b strings.Builder
	for _, p := range w {
		if p.quoted {
			b.WriteString(p.text)
		} else {
			b.WriteString(os.Expand(p.text, lookup))
		}
	}
	return b.String()
}

// plain returns the word if it names no variables.
func (w word) plain() (string, bool) {
	for _, p := range w {
		if !p.quoted && strings.Contains(p.text, "$") {
			return "", false
		}
	}
	return w.expand(func(string) string { return "" }), true
}

// split takes a line apart: words stand between blanks, single quotes hold them together, two of them in
// quotes are one, and # begins a comment.
func split(line string) ([]word, error) {
	var words []word
	var now word
	var text strings.Builder
	quoted, begun := false, false
	flush := func() {
		if text.Len() > 0 || quoted {
			now = append(now, part{text.String(), quoted})
		}
		text.Reset()
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quoted && c == '\'' && i+1 < len(line) && line[i+1] == '\'':
			text.WriteByte(c)
			i++
		case c == '\'':
			flush()
			quoted, begun = !quoted, true
		case quoted:
			text.WriteByte(c)
		case c == ' ' || c == '\t' || c == '\r':
			flush()
			if begun {
				words = append(words, now)
			}
			now, begun = nil, false
		case c == '#' && !begun:
			return words, nil
		default:
			text.WriteByte(c)
			begun = true
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quote is not closed")
	}
	flush()
	if begun {
		words = append(words, now)
	}
	return words, nil
}
