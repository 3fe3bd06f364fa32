// Package script reads job scripts for their directives: the #PBS lines that are
// options. It owns which lines count and how a line becomes arguments; what the
// options mean is the submitting command's affair. It is pure and starts nothing.
package script

import (
	"bytes"
	"fmt"
	"strings"
)

// DefaultPrefix begins a directive unless -C or PBS_DPREFIX says otherwise.
const DefaultPrefix = "#PBS"

// Directives returns the arguments of each directive of a script. A line that is
// neither blank nor a comment ends them. An empty prefix turns them off.
func Directives(text []byte, prefix string) ([][]string, error) {
	var all [][]string
	for line, rest := next(text); line != nil; line, rest = next(rest) {
		option, ok := directive(string(line), prefix)
		if !ok {
			if executable(string(line)) {
				return all, nil
			}
			continue
		}
		for strings.HasSuffix(option, `\`) && len(rest) > 0 {
			line, rest = next(rest)
			option = strings.TrimSuffix(option, `\`) + string(line)
		}
		args, err := Split(option)
		if err != nil {
			return nil, err
		}
		all = append(all, args)
	}
	return all, nil
}

// next cuts the first line off; line is nil at the end.
func next(text []byte) (line, rest []byte) {
	if len(text) == 0 {
		return nil, nil
	}
	line, rest, _ = bytes.Cut(text, []byte("\n"))
	return append([]byte{}, bytes.TrimSuffix(line, []byte("\r"))...), rest
}

func directive(line, prefix string) (string, bool) {
	if prefix == "" {
		return "", false
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), prefix)
	return strings.TrimLeft(rest, " \t"), ok
}

// executable reports whether a shell would do something at this line.
func executable(line string) bool {
	if strings.HasPrefix(line, ":") || strings.HasPrefix(line, "#!") {
		return false
	}
	line = strings.TrimLeft(line, " \t\r\v\f")
	return line != "" && line[0] != '#'
}

// Split takes a directive apart: blanks separate, quotes of either kind keep
// together, a backslash outside of quotes takes the next character as it is.
func Split(line string) ([]string, error) {
	var args []string
	var word strings.Builder
	begun := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '"' || c == '\'':
			n := strings.IndexByte(line[i+1:], c)
			if n < 0 {
				return nil, fmt.Errorf("unmatched %c", c)
			}
			word.WriteString(line[i+1 : i+1+n])
			i, begun = i+1+n, true
		case c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			begun = true
		case strings.IndexByte(" \t\r\n\v\f", c) >= 0:
			if begun {
				args = append(args, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if begun {
		args = append(args, word.String())
	}
	return args, nil
}
