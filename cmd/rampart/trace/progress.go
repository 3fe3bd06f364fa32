package trace

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A Progress shows in one line of a terminal how far a replay is, and how long it will take yet.
type Progress struct {
	out   io.Writer
	begun time.Time
	shown time.Time
	wide  int
}

// NewProgress shows what begins now.
func NewProgress(out io.Writer) *Progress { return &Progress{out: out, begun: time.Now()} }

const (
	// redraw is how often the line is drawn.
	redraw = 200 * time.Millisecond
	// barWide is how many letters the bar has.
	barWide = 30
)

// Show tells that a part of all is done, and how far the clock of the replay is.
func (p *Progress) Show(part float64, at time.Time) {
	now := time.Now()
	if now.Sub(p.shown) < redraw {
		return
	}
	p.shown = now
	text := progress(part, now.Sub(p.begun)) + ", " + at.Format(time.DateTime)
	_, _ = fmt.Fprintf(p.out, "\r%s%s", text, strings.Repeat(" ", max(0, p.wide-len(text))))
	p.wide = len(text)
}

// Done takes the line away.
func (p *Progress) Done() {
	if p.wide > 0 {
		_, _ = fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.wide))
	}
}

// progress returns a bar, and the time that is left if the rest takes as long as what is done. How long the jobs take that are left
// when all of a trace is read, is not known.
func progress(part float64, spent time.Duration) string {
	part = min(1, max(0, part))
	done := int(part * barWide)
	text := fmt.Sprintf("[%s%s] %3.0f %%", strings.Repeat("#", done), strings.Repeat(".", barWide-done), 100*part)
	if part > 0.005 && part < 1 && spent > time.Second {
		text += ", " + span(time.Duration(float64(spent)*(1-part)/part).Seconds()) + " left"
	}
	return text
}
