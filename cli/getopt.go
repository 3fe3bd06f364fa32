package cli

import (
	"fmt"
	"strings"
)

// An Option is one option as getopt(3) would hand it out.
type Option struct {
	Name  string // a letter, or the name of a long option
	Value string // empty for an option without a value
}

// A Line is a command line taken apart.
type Line struct {
	Options  []Option
	Operands []string
	Dashed   bool     // a "--" ended the options
	Before   int      // so many of the operands stood before it
	Faults   []string // "invalid option -- 'Z'", in their order
	Misused  bool     // a fault that has no words, but for the usage
}

// A Grammar is what a command accepts: a getopt option string, and Rampart's own
// long options, of which true ones take a value.
type Grammar struct {
	Letters string
	Long    map[string]bool
	// Words are long options of PBS. Each takes the arguments behind it up to the next option, so many at most; below 0
	// there is no limit. Without any its value is empty. A command that has words knows no fault of other long options.
	Words map[string]int
	// Dashed are options of several letters behind one dash, as LSF has them; true ones take a value.
	Dashed map[string]bool
}

// Parse takes args apart as GNU getopt does: attached values, bundles, options
// after operands (not if Letters begin with "+"), "--". It carries on after a
// fault, as getopt's callers do.
func (g Grammar) Parse(args []string) Line {
	var l Line
	ordered := strings.HasPrefix(g.Letters, "+")
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			l.Dashed, l.Before = true, len(l.Operands)
			l.Operands = append(l.Operands, args[i+1:]...)
			return l
		case len(a) > 1 && a[0] == '-':
			i += g.take(&l, a, args[i+1:])
		case ordered:
			l.Operands = append(l.Operands, args[i:]...)
			return l
		default:
			l.Operands = append(l.Operands, a)
		}
	}
	return l
}

// take reads one argument that begins with a dash and returns how many of the
// following ones it used up.
func (g Grammar) take(l *Line, arg string, rest []string) int {
	if wants, ok := g.Dashed[arg[1:]]; ok {
		return takeLong(l, arg[1:], "", wants, rest)
	}
	if strings.HasPrefix(arg, "--") {
		name, value, attached := strings.Cut(arg[2:], "=")
		if wants, ok := g.Long[name]; ok && (wants || !attached) {
			return takeLong(l, name, value, wants && !attached, rest)
		}
		if len(g.Words) > 0 {
			return g.takeWord(l, arg[2:], rest)
		}
	}
	return g.takeLetters(l, arg[1:], rest)
}

func takeLong(l *Line, name, value string, separate bool, rest []string) int {
	if !separate {
		l.Options = append(l.Options, Option{name, value})
		return 0
	}
	if len(rest) == 0 {
		l.Faults = append(l.Faults, fmt.Sprintf("option '--%s' requires an argument", name))
		return 0
	}
	l.Options = append(l.Options, Option{name, rest[0]})
	return 1
}

// takeWord reads a long option of PBS; one that is none leaves the line misused.
func (g Grammar) takeWord(l *Line, name string, rest []string) int {
	most, known := g.Words[name]
	if !known {
		l.Misused = true
		return 0
	}
	n := 0
	for n < len(rest) && n != most && !(len(rest[n]) > 1 && rest[n][0] == '-') {
		l.Options = append(l.Options, Option{name, rest[n]})
		n++
	}
	if n == 0 {
		l.Options = append(l.Options, Option{Name: name})
	}
	return n
}

func (g Grammar) takeLetters(l *Line, bundle string, rest []string) int {
	for i := range len(bundle) {
		known, wants := g.letter(bundle[i])
		name := bundle[i : i+1]
		switch {
		case !known:
			l.Faults = append(l.Faults, fmt.Sprintf("invalid option -- '%s'", name))
		case !wants:
			l.Options = append(l.Options, Option{Name: name})
		case i+1 < len(bundle):
			l.Options = append(l.Options, Option{name, bundle[i+1:]})
			return 0
		case len(rest) > 0:
			l.Options = append(l.Options, Option{name, rest[0]})
			return 1
		default:
			l.Faults = append(l.Faults, fmt.Sprintf("option requires an argument -- '%s'", name))
		}
	}
	return 0
}

func (g Grammar) letter(c byte) (known, wantsValue bool) {
	if c == ':' || c == '-' || c == '+' {
		return false, false
	}
	i := strings.IndexByte(g.Letters, c)
	return i >= 0, i >= 0 && i+1 < len(g.Letters) && g.Letters[i+1] == ':'
}
