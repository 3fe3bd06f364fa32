package trace

import (
	"fmt"
	"io"
	"slices"
	"time"

	"rampart/cli/svg"
	"rampart/cli/terminal"
	"rampart/fsm/pbs"
)

// The measures of the picture, in its units.
const (
	pictureWide = 960
	margin      = 16
	legend      = 90 // wide, left of the fields
	field       = pictureWide - legend - 2*margin
	fieldHigh   = 120
	gap         = 36
	rowsHigh    = 640 // at most, of the runs on all vnodes
	rowHigh     = 14  // at most
	shades      = 6
)

const pictureStyle = `text{font:12px sans-serif;fill:#222}.head{font-weight:bold;font-size:14px}.end{text-anchor:end}.tick{fill:#555}` +
	`.field{fill:#f4f4f4}.busy{fill:#3b78b5}.other{fill:#d9a441}.queue{fill:#b5543b}.grid{stroke:#ccc}.name{font:10px monospace}` +
	`.s0{fill:#3b78b5}.s1{fill:#d9a441}.s2{fill:#5a9a5a}.s3{fill:#b5543b}.s4{fill:#7a5fa8}.s5{fill:#4aa3a3}`

// SVG writes the utilisation and the queue over time as a picture, and below it the runs of a stretch, if one was wished.
func (r *Report) SVG(w io.Writer) error {
	p := &picture{y: margin + 12}
	title := fmt.Sprintf("%s: %s to %s", siteName(r), r.Begin.Format(time.DateTime), r.End.Format(time.DateTime))
	p.text(margin, "head", title)
	p.graph("utilisation", "busy", r, func(x Point) float64 { return x.Utilisation }, 1, func(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) })
	most := 1.0
	for _, x := range r.Line {
		most = max(most, x.Queued)
	}
	p.graph("jobs queued", "queue", r, func(x Point) float64 { return x.Queued }, most, func(x float64) string { return fmt.Sprintf("%.0f", x) })
	if r.stretch != nil {
		p.runs(r.stretch)
	}
	return svg.Write(w, pictureWide, int(p.y)+margin, title, pictureStyle, p.shapes)
}

// A picture grows downwards.
type picture struct {
	y      svg.Units
	shapes []any
}

func (p *picture) add(shapes ...any) { p.shapes = append(p.shapes, shapes...) }

func (p *picture) text(x svg.Units, class, text string) {
	p.add(svg.Text{X: x, Y: p.y, Class: class, Text: text})
}

// graph draws a figure over time, a column for each unit of the picture's width.
func (p *picture) graph(title, class string, r *Report, of func(Point) float64, most float64, show func(float64) string) {
	p.y += gap
	top, left := p.y, svg.Units(margin+legend)
	p.add(svg.Rect{X: left, Y: top, Width: field, Height: fieldHigh, Class: "field"},
		svg.Text{X: left - 6, Y: top + 10, Class: "tick end", Text: show(most)}, svg.Text{X: left - 6, Y: top + fieldHigh, Class: "tick end", Text: show(0)},
		svg.Text{X: left, Y: top - 6, Text: title})
	all := r.End.Sub(r.Begin)
	if len(r.Line) > 0 && all > 0 {
		per := max(1, (len(r.Line)+field-1)/field)
		x := func(at time.Time) svg.Units { return left + field*svg.Units(float64(at.Sub(r.Begin))/float64(all)) }
		for i := 0; i < len(r.Line); i += per {
			some := r.Line[i:min(i+per, len(r.Line))]
			sum := 0.0
			for _, one := range some {
				sum += of(one)
			}
			end := r.End
			if i+per < len(r.Line) {
				end = r.Line[i+per].At
			}
			high := svg.Units(fieldHigh * min(1, sum/float64(len(some))/most))
			if from := max(left, x(some[0].At)); high > 0 {
				p.add(svg.Rect{X: from, Y: top + fieldHigh - high, Width: max(x(end)-from, 0.5), Height: high, Class: class})
			}
		}
	}
	p.y += fieldHigh + 14
	p.ticks(r.Begin, r.End)
}

// ticks writes the times below a field.
func (p *picture) ticks(from, until time.Time) {
	const n = 6
	layout := "Jan 2"
	if until.Sub(from) < 4*24*time.Hour {
		layout = "Jan 2 15:04"
	}
	for i := range n + 1 {
		at := from.Add(until.Sub(from) * time.Duration(i) / n)
		class, x := "tick", svg.Units(margin+legend)+field*svg.Units(i)/n
		if i == n {
			class += " end"
		}
		p.text(x, class, at.Format(layout))
	}
}

// runs draws the runs of a stretch, a row for each vnode that had any.
func (p *picture) runs(s *stretch) {
	from, until := moment(s.from), moment(s.until)
	p.y += gap
	top, left := p.y, svg.Units(margin+legend)
	p.add(svg.Text{X: left, Y: top - 6, Text: fmt.Sprintf("runs from %s to %s", from.Format(time.DateTime), until.Format(time.DateTime))})
	bars, rows := s.rows()
	if len(rows) == 0 {
		p.text(left, "tick", "there are none")
		return
	}
	high := min(svg.Units(rowHigh), svg.Units(rowsHigh)/svg.Units(len(rows)))
	p.add(svg.Rect{X: left, Y: top, Width: field, Height: high * svg.Units(len(rows)), Class: "field"})
	x := func(at pbs.Time) svg.Units {
		return left + field*svg.Units(float64(min(max(at, s.from), s.until)-s.from)/float64(s.until-s.from))
	}
	for i, name := range rows {
		y := top + high*svg.Units(i)
		if high >= 10 {
			p.add(svg.Text{X: left - 6, Y: y + high - 3, Class: "name end", Text: terminal.Short(terminal.Printable(name), 14), Title: name})
		}
		for _, b := range bars[name] {
			p.add(svg.Rect{
				X: x(b.from), Y: y, Width: max(x(b.until)-x(b.from), 0.5), Height: max(high-1, high*3/4), Class: fmt.Sprintf("s%d", shade(b.job)),
				Title: fmt.Sprintf("job %s, %s to %s", terminal.Printable(b.job), moment(b.from).Format(time.DateTime), moment(b.until).Format(time.DateTime)),
			})
		}
	}
	p.y += high*svg.Units(len(rows)) + 14
	p.ticks(from, until)
}

// shade returns the same for all bars of a job.
func shade(job string) int {
	n := 0
	for _, c := range []byte(job) {
		n = n*31 + int(c)
	}
	return ((n % shades) + shades) % shades
}

// rows returns the runs of each vnode, and the vnodes in the order of their names.
func (s *stretch) rows() (map[string][]*bar, []string) {
	all := slices.Clone(s.bars)
	for _, b := range s.open { // they were not over when the replay was
		b.until = s.until
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *bar) int { return int(a.from - b.from) })
	of := map[string][]*bar{}
	for _, b := range all {
		for _, v := range b.vnodes {
			of[string(v)] = append(of[string(v)], b)
		}
	}
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return of, names
}
