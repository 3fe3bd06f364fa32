package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"rampart/chaos/real"
)

// A row is one line of the table: a figure, what it is compared with, and the aim.
type row struct{ what, measured, reference, ratio, aim string }

func (b *bench) note(r row) { b.table = append(b.table, r) }

func printTable(w io.Writer, rows []row) {
	all := append([]row{{"what", "measured", "reference", "ratio", "aim"}}, rows...)
	var widths [5]int
	for _, r := range all {
		for i, cell := range r.cells() {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, r := range all {
		fmt.Fprintln(w, line(r.cells(), widths))
		if n == 0 {
			var rule [5]string
			for i := range rule {
				rule[i] = strings.Repeat("-", widths[i])
			}
			fmt.Fprintln(w, line(rule, widths))
		}
	}
}

func (r row) cells() [5]string { return [5]string{r.what, r.measured, r.reference, r.ratio, r.aim} }

// line returns a row of Markdown, so that a table can be pasted into the documentation.
func line(cells [5]string, widths [5]int) string {
	var b strings.Builder
	for i, c := range cells {
		b.WriteString("| " + c + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+1))
	}
	return b.String() + "|"
}

// times is a sample of durations.
type times real.Times

// at returns the quantile q (0 to 1).
func (t times) at(q float64) time.Duration { return real.Times(t).At(q) }

// seconds and millis print the median, the 99th of a hundred, and the greatest.
func (t times) seconds() string { return t.text("%.2f s", time.Second) }
func (t times) millis() string  { return t.text("%.1f ms", time.Millisecond) }

func (t times) text(format string, unit time.Duration) string {
	in := func(d time.Duration) string { return fmt.Sprintf(format, float64(d)/float64(unit)) }
	return "p50 " + in(t.at(0.5)) + ", p99 " + in(t.at(0.99)) + ", max " + in(t.at(1))
}

func perSecond(n int, took time.Duration) float64 { return float64(n) / took.Seconds() }

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

func sec(d time.Duration) string {
	return fmt.Sprintf("%.2f s", d.Seconds())
}
func rate(r float64) string     { return fmt.Sprintf("%.0f/s", r) }
func ratio(a, b float64) string { return fmt.Sprintf("%.2f", a/b) }
