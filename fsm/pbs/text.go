package pbs

import "unicode/utf8"

// MaxValue bounds the value of one attribute: Variable_List is the longest in practice.
const MaxValue = 1 << 20

// Printable reports whether a text can stand on a line of its own in every output.
func Printable(s string) bool {
	for _, r := range s {
		if r < ' ' || r == 0x7f {
			return false
		}
	}
	return utf8.ValidString(s)
}
