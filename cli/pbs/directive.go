package pbs

import (
	"slices"
	"strings"

	"rampart/transport/api"
)

// A directive is one instruction of qmgr, taken apart.
type directive struct {
	verb    string
	object  *managed // nil for help, history, quit, exit, and active alone
	names   []objectName
	changes []*api.Attribute
	topic   string   // of help
	content *content // of import and export
}

// An objectName is a name as written: NAME, NAME@SERVER or @SERVER.
type objectName struct{ name, server string }

// A syntaxError says where a directive cannot be read.
type syntaxError struct {
	line string
	at   int // byte position of the caret
}

func (e *syntaxError) Error() string { return "Syntax error" }

// A wordError is a word that should have been a command or an object type.
type wordError struct{ what, word string }

func (e *wordError) Error() string { return "Illegal " + e.what + ": " + e.word }

// verbs in the order in which an abbreviation finds them.
func verbs() []string {
	return []string{"active", "create", "delete", "set", "unset", "list", "print", "import", "export", "help", "history", "quit", "exit"}
}

// expand returns the first of words that begins with prefix.
func expand(prefix string, words []string) (string, bool) {
	i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, prefix) })
	if prefix == "" || i < 0 {
		return "", false
	}
	return words[i], true
}

// parseDirective reads one directive without comment.
func parseDirective(line string) (*directive, error) {
	p := &scanner{line: line}
	word := p.word()
	verb, ok := expand(strings.ToLower(word), verbs())
	if !ok {
		return nil, &wordError{"operation", word}
	}
	d := &directive{verb: verb}
	switch {
	case verb == "help":
		d.topic = strings.ToLower(p.word())
		return d, nil
	case verb == "history", verb == "quit", verb == "exit", verb == "active" && !p.rest():
		return d, nil
	}
	if d.object, ok = p.object(); !ok {
		return nil, p.badObject()
	}
	if !p.names(d) {
		return nil, p.fault()
	}
	switch verb {
	case "active":
		return d, nil
	case "import", "export":
		var err error
		d.content, err = p.content(verb)
		return d, err
	}
	return d, p.attributes(d)
}

// splitDirectives takes a text apart: a directive ends at a newline or
// semicolon outside of quotes; "#" begins a comment; a backslash before a newline
// continues it. A newline in a value whose quote nobody closes ends the directive, too, so
// that the fault is told of it and not of all that follows.
func splitDirectives(text string) []string {
	all, _ := split(text)
	return all
}

// openQuote returns the quote of the value in which a text ends, 0 if it ends in none.
func openQuote(text string) byte {
	_, open := split(text)
	return open
}

func split(text string) (all []string, open byte) {
	var b strings.Builder
	var quote byte
	valued := false // it is a value that stands in the quotes
	flush := func() {
		if line := strings.TrimSpace(b.String()); line != "" {
			all = append(all, line)
		}
		b.Reset()
		quote = 0
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			i++
		case c == '\n' && quote != 0 && valued && strings.IndexByte(text[i:], quote) > 0:
			b.WriteByte(c)
		case c == '\n', c == ';' && quote == 0:
			if quote != 0 && valued && open == 0 {
				open = quote
			}
			flush()
		case c == '#' && quote == 0 && (b.Len() == 0 || strings.HasSuffix(b.String(), " ") || strings.HasSuffix(b.String(), "\t")):
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				n = len(text) - i
			}
			i += n - 1
		default:
			if quote == 0 && (c == '"' || c == '\'') {
				quote = c
				before := strings.TrimRight(b.String(), " \t")
				valued = strings.HasSuffix(before, "=") || strings.HasSuffix(before, ",")
			} else if c == quote {
				quote = 0
			}
			b.WriteByte(c)
		}
	}
	flush()
	return all, open
}
