package pbs

import (
	"strings"
	"unicode/utf8"
)

// MaxValue bounds the value of one attribute: Variable_List is the longest in practice.
const MaxValue = 1 << 20

// Printable reports whether a text can stand on a line of its own in every output.
func Printable(s string) bool {
	return !strings.ContainsFunc(s, IsControl) && utf8.ValidString(s)
}

// IsControl reports whether r is a control character of ASCII. Terminals obey some of them, and a newline ends what has to stand on a line.
func IsControl(r rune) bool { return r < ' ' || r == 0x7f }
