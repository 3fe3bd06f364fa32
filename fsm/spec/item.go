package spec

import (
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// split cuts text at each sep outside quotes. It reports false for an open quote and
// for more than limit parts.
func split(text string, sep byte, limit int) ([]string, bool) {
	parts := make([]string, 0, min(strings.Count(text, string(sep))+1, limit))
	for len(parts) < limit {
		part, rest, more, ok := cutOutside(text, sep)
		if parts = append(parts, part); !ok || !more {
			return parts, ok
		}
		text = rest
	}
	return nil, false
}

// cutOutside cuts text at the first sep outside quotes; more tells that there was one. It
// reports false for an open quote.
func cutOutside(text string, sep byte) (before, after string, more, ok bool) {
	var quote byte
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == sep:
			return text[:i], text[i+1:], true, true
		}
	}
	return text, "", false, quote == 0
}

// parseItem reads name=value; the value may stand in quotes.
func parseItem(text string) (resource.Item, bool) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || !validResource(name) {
		return resource.Item{}, false
	}
	value, ok = unquote(value)
	if !ok {
		return resource.Item{}, false
	}
	return resource.Item{Name: name, Value: value}, true
}

// unquote takes the quotes away. Quotes stand around the whole value or not at all.
func unquote(s string) (string, bool) {
	if s == "" || !pbs.Printable(s) {
		return "", false
	}
	if q := s[0]; q == '"' || q == '\'' {
		inner := s[1:]
		end := strings.IndexByte(inner, q)
		return strings.TrimSuffix(inner, s[:1]), end == len(inner)-1 && end > 0 && !both(inner[:end])
	}
	return s, !strings.ContainsAny(s, `'"=() `)
}

// both reports whether a value holds both kinds of quotes, so that no quoting can
// carry it.
func both(s string) bool { return strings.Contains(s, `"`) && strings.Contains(s, `'`) }

func writeItems(b *strings.Builder, items []resource.Item) {
	for _, item := range items {
		b.WriteByte(':')
		b.WriteString(item.Name)
		b.WriteByte('=')
		b.WriteString(quoted(item.Value))
	}
}

func quoted(value string) string {
	switch {
	case !needsQuotes(value):
		return value
	case strings.Contains(value, `"`):
		return "'" + value + "'"
	default:
		return `"` + value + `"`
	}
}

func needsQuotes(value string) bool {
	for i := range len(value) {
		switch value[i] {
		case ' ', '+', ':', '=', '\'', '"', '(', ')':
			return true
		}
	}
	return false
}
