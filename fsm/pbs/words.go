package pbs

import (
	"html"
	"strings"
)

// The elements in which a job's program and its arguments are kept.
const (
	Executable = "Executable"
	Argument   = "Argument"
)

// Wrap writes words in the form in which PBS keeps the program and the arguments of a job:
// <jsdl-hpcpa:Argument>600</jsdl-hpcpa:Argument>..., empty for no words.
func Wrap(element string, words ...string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString("<jsdl-hpcpa:" + element + ">" + html.EscapeString(w) + "</jsdl-hpcpa:" + element + ">")
	}
	return b.String()
}

// Unwrap returns the words that Wrap wrote. A plain text is one word, an empty one none.
func Unwrap(element, text string) []string {
	begin, end := "<jsdl-hpcpa:"+element+">", "</jsdl-hpcpa:"+element+">"
	if text != "" && !strings.Contains(text, begin) {
		return []string{text}
	}
	var all []string
	for {
		_, rest, found := strings.Cut(text, begin)
		if !found {
			return all
		}
		item, after, _ := strings.Cut(rest, end)
		all, text = append(all, html.UnescapeString(item)), after
	}
}
