package plan

import (
	"fmt"
	"io"
	"slices"
	"time"

	"rampart/cli/svg"
	"rampart/cli/terminal"
)

// The measures of the picture, in its units.
const (
	wide   = 960
	margin = 16
	names  = 200 // wide
	high   = 20  // of a row
	font   = 12
	most   = 26 // letters of a name
	area   = wide - names - 2*margin
)

const style = `text{font:12px sans-serif;fill:#222}.head{font-weight:bold;font-size:14px}.end{text-anchor:end}.tick{fill:#555}` +
	`.name{font-family:monospace}.row{fill:#eee}.run{fill:#3b78b5}.reservation{fill:#d9a441}.expected{fill:#9bc29b}.suspended{fill:#d9d9c3}.closed{fill:#bbb}`

// SVG writes the picture of Text as a document.
func SVG(w io.Writer, p *Plan) error {
	rows, idle := p.rows()
	y := svg.Units(margin + font)
	title := fmt.Sprintf("plan from %s to %s", p.Now.Format(time.DateTime), p.Until.Format(time.DateTime))
	shapes := []any{svg.Text{X: margin, Y: y, Class: "head", Text: title}}
	y += high
	shapes = append(
		shapes,
		svg.Text{X: margin + names, Y: y, Class: "tick", Text: p.Now.Format(p.layout())},
		svg.Text{X: wide - margin, Y: y, Class: "tick end", Text: p.Until.Format(p.layout())},
	)
	x := func(t time.Time) svg.Units {
		return margin + names + area*svg.Units(float64(t.Sub(p.Now))/float64(p.Until.Sub(p.Now)))
	}
	for _, r := range rows {
		y += high
		background := "row"
		if len(r.bars) == 0 {
			background = "closed"
		}
		shapes = append(shapes, svg.Text{X: margin, Y: y, Class: "name", Text: terminal.Short(r.name, most), Title: r.name},
			svg.Rect{X: margin + names, Y: y - font, Width: area, Height: high - 4, Class: background})
		bars := slices.Clone(r.bars)
		slices.SortStableFunc(bars, func(a, b Bar) int { return a.Kind.strength() - b.Kind.strength() })
		for _, b := range bars {
			from, to := x(p.begin(b)), x(p.end(b))
			shapes = append(shapes, svg.Rect{
				X: from, Y: y - font, Width: max(to-from, 1), Height: high - 4, Class: string(b.Kind), Title: b.Of + ": " + b.What,
			})
		}
	}
	if idle > 0 {
		y += high
		shapes = append(shapes, svg.Text{X: margin, Y: y, Class: "tick", Text: others(idle)})
	}
	return svg.Write(w, wide, int(y)+margin, title, style, shapes)
}

// sorted returns the bars in the order in which they begin.
func sorted(bars []Bar) []Bar {
	all := slices.Clone(bars)
	slices.SortStableFunc(all, func(a, b Bar) int { return a.From.Compare(b.From) })
	return all
}
