package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"rampart/transport/api"
)

// The columns at which qstat -f folds. A line that begins after a comma ends one
// column earlier than the others; that is PBS's counting.
const (
	foldAt      = 79
	foldItemAt  = 78
	tabWidth    = 8
	fixedAround = len("    ") + len(" = ")
)

// Long writes an object as qstat -f does, head ("Job Id: 12.srv") first. Unless
// wide, long values are folded with newline and tab.
func Long(w io.Writer, head string, o *api.Object, wide bool, zone *time.Location) {
	b, flush := buffered(w)
	defer flush()
	fmt.Fprintln(b, head)
	for _, a := range o.Attributes {
		value := Printable(moment(a, zone))
		at := fixedAround + heading(b, a)
		switch {
		case wide:
			b.WriteString(strings.ReplaceAll(value, "\n", `\n`))
		case at+len(value) < foldItemAt && strings.IndexByte(value, '\n') < 0: // most of them
			b.WriteString(value)
		default:
			fold(b, value, at)
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// heading writes what stands before an attribute's value, and returns the length of
// its name. There may be millions of attributes in a listing, so it does not format.
func heading(b *bufio.Writer, a *api.Attribute) int {
	b.WriteString("    ")
	b.WriteString(a.Name)
	n := len(a.Name)
	if a.Resource != "" {
		b.WriteByte('.')
		b.WriteString(a.Resource)
		n += 1 + len(a.Resource)
	}
	b.WriteString(" = ")
	return n
}

// fold writes value, of which the first character comes to stand in column at
// (from 0): items are kept whole where they fit, else broken anywhere.
func fold(b *bufio.Writer, value string, at int) {
	limit := foldAt
	first := true
	for item := range strings.SplitSeq(value, ",") {
		if !first {
			b.WriteByte(',')
			at++
			if at+len(item) >= foldItemAt {
				b.WriteString("\n\t")
				at, limit = tabWidth, foldItemAt
			}
		}
		first = false
		if at+len(item) <= limit && strings.IndexByte(item, '\n') < 0 { // most of them
			b.WriteString(item)
			at += len(item)
			continue
		}
		for _, r := range item {
			if at+utf8.RuneLen(r) > limit {
				b.WriteString("\n\t")
				at, limit = tabWidth, foldAt
			}
			if r == '\n' {
				b.WriteString("\n\t")
				at = tabWidth
				continue
			}
			b.WriteRune(r)
			at += utf8.RuneLen(r)
		}
	}
}

// buffered returns w as a buffered writer. One that is buffered already is left
// for its owner to flush: a listing may have 100,000 objects.
func buffered(w io.Writer) (b *bufio.Writer, flush func()) {
	if b, ok := w.(*bufio.Writer); ok {
		return b, func() {}
	}
	b = bufio.NewWriter(w)
	return b, func() { _ = b.Flush() }
}

// Wide writes an object on one line: head, then name=value, with the delimiter
// between and escaped inside of values.
func Wide(w io.Writer, head string, o *api.Object, delimiter string, value func(*api.Attribute) string) {
	b, flush := buffered(w)
	defer flush()
	b.WriteString(head)
	for _, a := range o.Attributes {
		fmt.Fprintf(b, "%s%s=%s", delimiter, label(a), escape(value(a), delimiter))
	}
	b.WriteByte('\n')
}

// Dated returns the value function of qstat's DSV: moments as dates.
func Dated(zone *time.Location) func(*api.Attribute) string {
	return func(a *api.Attribute) string { return moment(a, zone) }
}

// escape marks what would be taken for the end of a value, and the mark itself, in a value that is printable.
func escape(value, delimiter string) string {
	return strings.NewReplacer(`\`, `\\`, delimiter, `\`+delimiter, "\n", `\n`).Replace(Printable(value))
}
