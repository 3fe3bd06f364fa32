package timeline

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"rampart/cli/svg"
	"rampart/cli/terminal"
)

// The measures of the picture, in its units.
const (
	svgWide    = 960
	svgMargin  = 16
	svgNames   = 200 // wide
	svgRow     = 20  // high
	svgLine    = 18
	svgLetters = 26 // of a name at most
	svgFont    = 12
	svgBar     = svgWide - svgNames - 2*svgMargin
)

const svgStyle = `text{font:12px sans-serif;fill:#222}.head{font-weight:bold;font-size:14px}.end{text-anchor:end}` +
	`.name{font-family:monospace}.row{fill:#eee}.held{fill:#3b78b5}.suspended{fill:#d9a441}.border{stroke:#fff;stroke-width:1.5}.tick{fill:#555}`

// SVG writes the same picture as Text as a document of its own, without scripts and without
// anything that it would have to load.
func SVG(w io.Writer, j *Job) error {
	d := drawing{job: j, y: svgMargin + svgLine}
	d.text(svgMargin, "head", j.headline())
	for i := range j.Runs {
		d.y += svgLine
		d.run(&j.Runs[i])
	}
	for _, e := range j.Events {
		d.y += svgLine
		d.text(svgMargin, "", e.At.Format(time.DateTime)+" "+e.Text)
	}
	return svg.Write(w, svgWide, int(d.y)+svgMargin, j.headline(), svgStyle, d.items)
}

// A drawing grows downwards: y is the base line of the last text.
type drawing struct {
	job   *Job
	y     svg.Units
	items []any
}

func (d *drawing) text(x svg.Units, class, text string) {
	d.items = append(d.items, svg.Text{X: x, Y: d.y, Class: class, Text: text})
}

func (d *drawing) run(run *Run) {
	from, to := run.Start, d.job.until(run)
	layout := d.job.layout(run)
	d.y += svgLine
	d.text(svgMargin, "head", d.job.runline(run))
	d.y += svgLine
	d.text(svgMargin+svgNames, "tick", from.Format(layout))
	d.text(svgWide-svgMargin, "tick end", to.Format(layout))
	x := func(t time.Time) svg.Units {
		return svgMargin + svgNames + svgBar*svg.Units(float64(t.Sub(from))/float64(to.Sub(from)))
	}
	top := d.y + svgLine - svgFont
	for _, r := range rows(run) {
		d.row(run, r, to, x)
	}
	bottom := d.y + svgRow - svgFont
	d.y += svgLine
	for k, p := range run.Phases {
		if k > 0 {
			d.items = append(d.items, svg.Line{X1: x(p.Start), Y1: top, X2: x(p.Start), Y2: bottom, Class: "border"})
		}
		d.text(x(p.Start), "tick", strconv.Itoa(k+1))
	}
	d.table(run)
}

func (d *drawing) row(run *Run, r row, to time.Time, x func(time.Time) svg.Units) {
	d.y += svgRow
	name := svg.Text{X: svgMargin, Y: d.y, Class: "name", Text: terminal.Short(r.name, svgLetters)}
	if name.Text != r.name {
		name.Title = r.name
	}
	top := d.y - svgFont
	d.items = append(d.items, name, svg.Rect{X: x(run.Start), Y: top, Width: svgBar, Height: svgRow - 4, Class: "row"})
	bar := func(s Span, class, title string) {
		d.items = append(d.items, svg.Rect{X: x(s.Start), Y: top, Width: x(s.end(to)) - x(s.Start), Height: svgRow - 4, Class: class, Title: title})
	}
	for k, p := range run.Phases {
		if !r.held[k] {
			continue
		}
		bar(p.Span, "held", fmt.Sprintf("%s, phase %d: %s", r.name, k+1, p.share(r.name)))
		for _, s := range run.Suspended {
			if both, ok := overlap(s.Span, p.Span); ok {
				bar(both, "suspended", "suspended")
			}
		}
	}
}

// share writes what the job has of a vnode.
func (p Phase) share(vnode string) string {
	for _, s := range p.Vnodes {
		if s.Vnode == vnode {
			return fmt.Sprintf("%d ncpus, %s", s.NCPUs, size(s.MemKB))
		}
	}
	return "vnodes with the same times"
}

// overlap returns what two spans have in common.
func overlap(a, b Span) (Span, bool) {
	both := a
	if b.Start.After(a.Start) {
		both.Start = b.Start
	}
	if a.End.IsZero() || !b.End.IsZero() && b.End.Before(a.End) {
		both.End = b.End
	}
	return both, both.End.IsZero() || both.End.After(both.Start)
}

// The columns of the table of phases: where each begins.
var svgColumns = []struct {
	head string
	x    svg.Units
}{
	{"phase", 0}, {"from", 50}, {"to", 200}, {"time", 350}, {"vnodes", 430}, {"ncpus", 490}, {"mem", 550}, {"cput", 620}, {"mem used", 700}, {"began", 790},
}

func (d *drawing) table(run *Run) {
	d.y += svgLine
	for _, c := range svgColumns {
		d.text(svgMargin+c.x, "tick", c.head)
	}
	for _, cells := range d.job.cells(run) {
		d.y += svgLine
		for i, text := range cells {
			if text != "" {
				d.text(svgMargin+svgColumns[i].x, "", text)
			}
		}
	}
}
