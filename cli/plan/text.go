package plan

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"rampart/cli/terminal"
)

// minBar is the least width of a bar, however narrow the terminal is.
const minBar = 24

// marks are what stands for each kind.
var marks = map[Kind]byte{Reservation: 'R', Run: '#', Expected: '+', Suspended: '-'}

// Text draws the plan for a terminal that has so many columns, and lists what holds what below it.
func Text(w io.Writer, p *Plan, columns int) error {
	var b strings.Builder
	rows, idle := p.rows()
	names := len("VNODE")
	for _, r := range rows {
		names = max(names, utf8.RuneCountInString(r.name))
	}
	names = min(names, max(columns/3, len("VNODE")))
	wide := max(columns-names-2, minBar)
	left, right := p.Now.Format(p.layout()), p.Until.Format(p.layout())
	fmt.Fprintf(&b, "%-*s  %s%*s\n", names, "VNODE", left, max(wide-len(left), 0), right)
	for _, r := range rows {
		fmt.Fprintf(&b, "%-*s  %s\n", names, terminal.Short(terminal.Printable(r.name), names), p.line(r, wide))
	}
	switch {
	case len(rows) == 0:
		fmt.Fprintln(&b, "nothing is planned")
	case idle > 0:
		fmt.Fprintln(&b, others(idle))
	}
	if len(p.Bars) > 0 {
		suspended := ""
		if slices.ContainsFunc(p.Bars, func(b Bar) bool { return b.Kind == Suspended }) {
			suspended = "- suspended job   "
		}
		fmt.Fprintf(&b, "\n# runs   R reserved   + expected to start   %sx takes nothing\n", suspended)
		p.list(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Plan) line(r row, wide int) string {
	line := bytes.Repeat([]byte{'.'}, wide)
	if len(r.bars) == 0 {
		return strings.Repeat("x", wide)
	}
	drawn := make([]int, wide)
	for _, bar := range r.bars {
		first := min(p.column(p.begin(bar), wide), wide-1)
		for i := first; i < min(max(p.column(p.end(bar), wide), first+1), wide); i++ {
			if s := bar.Kind.strength() + 1; s > drawn[i] {
				drawn[i], line[i] = s, marks[bar.Kind]
			}
		}
	}
	return string(line)
}

func (p *Plan) column(t time.Time, wide int) int {
	return int(float64(t.Sub(p.Now)) / float64(p.Until.Sub(p.Now)) * float64(wide))
}

// list names each job and reservation once, in the order in which they begin.
func (p *Plan) list(b *strings.Builder) {
	seen := map[string]bool{}
	for _, bar := range sorted(p.Bars) {
		key := bar.Of + bar.From.String()
		if seen[key] {
			continue
		}
		seen[key] = true
		until := "with no walltime"
		switch {
		case bar.Kind == Suspended:
			until = "until nobody knows when"
		case !bar.Until.IsZero():
			until = "until " + bar.Until.Format(time.DateTime)
		}
		fmt.Fprintf(b, "%c %-16s from %s %s, %s\n", marks[bar.Kind], terminal.Printable(bar.Of), bar.From.Format(time.DateTime), until, p.where(bar))
	}
}

// where names the first vnode of a job or reservation, and counts the others.
func (p *Plan) where(of Bar) string {
	n := 0
	for _, b := range p.Bars {
		if b.Of == of.Of && b.From.Equal(of.From) {
			n++
		}
	}
	if n == 1 {
		return "on " + terminal.Printable(of.Vnode)
	}
	return "on " + terminal.Printable(of.Vnode) + " and " + strconv.Itoa(n-1) + " more"
}

// others counts the vnodes that are not drawn.
func others(n int) string {
	if n == 1 {
		return "1 other has nothing to do"
	}
	return strconv.Itoa(n) + " others have nothing to do"
}
