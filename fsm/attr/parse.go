package attr

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// maxValue bounds the value of an attribute; scripts have a limit of their own.
const maxValue = 1 << 20

func parserOf(t Type) func(string) (string, bool) {
	switch t {
	case Number:
		return numberIn(-1<<62, 1<<62)
	case Boolean:
		return typed(resource.Boolean)
	case Duration:
		return typed(resource.Time)
	case Epoch:
		return numberIn(0, 1<<33)
	case Array:
		return parseArray
	case Variables:
		return parseVariables
	case Limits:
		return func(text string) (string, bool) { return parseLimits(text, numberIn(0, 1<<62)) }
	default:
		return parseText
	}
}

func typed(t resource.Type) func(string) (string, bool) {
	return func(text string) (string, bool) {
		q, err := resource.Parse(t, text)
		return q.String(), err == nil
	}
}

// scriptSize reads jobscript_max_size: a size that a PBS takes. No script is longer than pbs.MaxScript, whatever it says.
func scriptSize(text string) (string, error) {
	const name = "jobscript_max_size"
	most, err := resource.Parse(resource.Size, "2gb")
	if err != nil {
		return "", err
	}
	size, err := resource.Parse(resource.Size, text)
	switch {
	case err != nil:
		return "", pbs.Attribute(pbs.BadAttributeValue, name)
	case size.Cmp(most) > 0:
		return "", pbs.Refuse(pbs.LongScriptLimit)
	}
	return size.String(), nil
}

// lastJob reads max_job_sequence_id.
func lastJob(text string) (string, error) {
	const least, most = 9999999, 999999999999
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n < 0:
		return "", pbs.Attribute(pbs.BadAttributeValue, "max_job_sequence_id")
	case n < least || n > most:
		return "", pbs.Errorf(pbs.BadAttributeValue, "Cannot set max_job_sequence_id < %d, or > %d", least, most)
	}
	return strconv.FormatInt(n, 10), nil
}

func numberIn(low, high int64) func(string) (string, bool) {
	return func(text string) (string, bool) {
		n, err := strconv.ParseInt(text, 10, 64)
		return strconv.FormatInt(n, 10), err == nil && n >= low && n <= high
	}
}

// eventMask takes the bits of log events; -1 has them all.
var eventMask = numberIn(-1, 1<<31-1)

// parseText takes what can stand on a line of its own in every output.
func parseText(text string) (string, bool) {
	if strings.ContainsFunc(text, func(r rune) bool { return pbs.IsControl(r) && r != '\t' }) {
		return "", false
	}
	return text, text != "" && len(text) <= maxValue && utf8.ValidString(text)
}

// parseNotes takes text with any characters, as PBS does: what people note of what they look after. Where it is printed, control characters are
// shown as ^A.
func parseNotes(text string) (string, bool) {
	return text, text != "" && len(text) <= maxValue && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// parseArray drops the blanks around items.
func parseArray(text string) (string, bool) {
	if len(text) > maxValue {
		return "", false
	}
	return typed(resource.StringArray)(text)
}

func oneOf(words ...string) func(string) (string, bool) {
	return func(text string) (string, bool) {
		for _, w := range words {
			if strings.EqualFold(text, w) {
				return w, true
			}
		}
		return "", false
	}
}

// letters takes none alone, or a set of letters without repeats.
func letters(none byte, set string) func(string) (string, bool) {
	return func(text string) (string, bool) {
		if len(text) == 1 && text[0] == none {
			return text, true
		}
		for i := range len(text) {
			if strings.IndexByte(set, text[i]) < 0 || strings.IndexByte(text[:i], text[i]) >= 0 {
				return "", false
			}
		}
		return text, text != ""
	}
}

// parseVariables takes NAME=VALUE, separated by commas that have no backslash before
// them. A value may be anything but NUL; a name without "=" is an empty value.
func parseVariables(text string) (string, bool) {
	if len(text) > maxValue || strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) {
		return "", false
	}
	for _, v := range SplitVariables(text) {
		if name, _, _ := strings.Cut(v, "="); name == "" || strings.ContainsAny(name, " \t\n\r") {
			return "", false
		}
	}
	return text, true
}

// SplitVariables cuts a Variable_List at its commas; escaped ones stay, with their
// backslashes.
func SplitVariables(text string) []string {
	if text == "" {
		return nil
	}
	var parts []string
	for v := range eachVariable(text) {
		parts = append(parts, v)
	}
	return parts
}

// eachVariable yields the items of a Variable_List with their backslashes.
func eachVariable(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case ',':
				if !yield(text[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(text[start:])
	}
}

// Variable returns the value of one variable of a Variable_List, without the
// backslashes.
func Variable(list, name string) (string, bool) {
	for v := range eachVariable(list) {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return unescape(value), true
		}
	}
	return "", false
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// EscapeVariable returns a value as it stands in a Variable_List.
func EscapeVariable(value string) string { return variableEscapes.Replace(value) }

// A Replacer builds its tables when it is first used: one for all values.
var variableEscapes = strings.NewReplacer(`\`, `\\`, `,`, `\,`)
