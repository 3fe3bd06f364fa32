// Package terminal makes names that others have chosen safe to print on a terminal: pictures of text share it. It is pure.
package terminal

import (
	"strconv"
	"strings"
)

// Printable keeps what users put into names from moving the cursor: what cannot be seen becomes a question mark.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// Short cuts what is too long for its column, in runes, and marks that with "~".
func Short(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "~"
	}
	return s
}
