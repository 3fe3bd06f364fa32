package trace

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"rampart/cli/terminal"
)

// A Comparison says what came of the same workload at two sites.
type Comparison struct {
	One   *Report `json:"one"`
	Other *Report `json:"other"`
}

// A pair is a figure of both.
type pair struct {
	class, name string
	one, other  float64
}

// pairs returns the figures that either has, in the order of the first.
func (c Comparison) pairs() []pair {
	type key struct{ class, name string }
	others := map[key]float64{}
	for _, f := range c.Other.figures() {
		others[key{f.class, f.name}] = f.value
	}
	var all []pair
	for _, f := range c.One.figures() {
		k := key{f.class, f.name}
		all = append(all, pair{f.class, f.name, f.value, others[k]})
		delete(others, k)
	}
	for _, f := range c.Other.figures() { // what the first has not
		if _, left := others[key{f.class, f.name}]; left {
			all = append(all, pair{f.class, f.name, 0, f.value})
		}
	}
	return all
}

// Text writes both beside each other: the whole, and the classes that fare otherwise.
func (c Comparison) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "one:   %s\nother: %s\n%s to %s, %d jobs\n\n", siteName(c.One), siteName(c.Other),
		c.One.Begin.Format(time.DateTime), c.One.End.Format(time.DateTime), c.One.Figures.Jobs)
	fmt.Fprintf(&b, "%-38s %11s %11s %12s\n", "", "one", "other", "difference")
	for _, p := range c.pairs() {
		if strings.HasPrefix(p.class, "user ") || strings.HasSuffix(p.name, "_mean") {
			continue
		}
		if p.one == 0 && p.other == 0 || p.class != "" && p.class != "all" && p.alike() {
			continue
		}
		show := p.writer()
		fmt.Fprintf(&b, "%-38s %11s %11s %12s\n", terminal.Short(terminal.Printable(p.title()), 38), show(p.one), show(p.other), p.change(show))
	}
	b.WriteString(c.Warnings())
	_, err := io.WriteString(w, trimmed(b.String()))
	return err
}

// Warnings lists what was not taken as it stands of each, as Text does; empty: everything was.
func (c Comparison) Warnings() string {
	var b strings.Builder
	for i, r := range []*Report{c.One, c.Other} {
		if warned := r.Warnings(); warned != "" {
			fmt.Fprintf(&b, "\n%s:\n%s", []string{"one", "other"}[i], strings.TrimPrefix(warned, "\n"))
		}
	}
	return b.String()
}

func siteName(r *Report) string {
	if r.Site == "" {
		return "a new cluster"
	}
	return r.Site
}

func (p pair) title() string {
	return strings.TrimSpace(p.class + " " + strings.ReplaceAll(p.name, "_", " "))
}

// alike reports whether a figure is the same, but for what a histogram blurs.
func (p pair) alike() bool {
	return math.Abs(p.one-p.other) <= 0.01*max(math.Abs(p.one), math.Abs(p.other))
}

// writer returns how the figure is written.
func (p pair) writer() func(float64) string {
	switch {
	case strings.HasPrefix(p.name, "wait_"):
		return span
	case p.name == "utilisation" || p.name == "unfairness":
		return func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
	case strings.HasPrefix(p.name, "bounded") || strings.HasSuffix(p.name, "hours") || p.name == "jobs_per_hour":
		return func(x float64) string { return fmt.Sprintf("%.2f", x) }
	}
	return func(x float64) string { return fmt.Sprintf("%.0f", x) }
}

func (p pair) change(show func(float64) string) string {
	d := p.other - p.one
	if text := show(math.Abs(d)); text != show(0) {
		if d < 0 {
			return "-" + text
		}
		return "+" + text
	}
	return ""
}

// JSON writes both reports.
func (c Comparison) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

// CSV writes a table with the columns class, figure, one, other and difference.
func (c Comparison) CSV(w io.Writer) error {
	rows := [][]string{{"class", "figure", "one", "other", "difference"}}
	for _, p := range c.pairs() {
		rows = append(rows, []string{p.class, p.name, number(p.one), number(p.other), number(p.other - p.one)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}
