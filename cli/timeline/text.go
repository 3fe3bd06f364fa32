package timeline

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"rampart/cli/terminal"
)

// minBar is the least width of a bar, however narrow the terminal is.
const minBar = 20

// Text draws every run for a terminal that has so many columns.
func Text(w io.Writer, j *Job, columns int) error {
	var b strings.Builder
	fmt.Fprintln(&b, terminal.Printable(j.headline()))
	if !j.Queued.IsZero() {
		fmt.Fprintf(&b, "queued %s\n", j.Queued.Format(time.DateTime))
	}
	for i := range j.Runs {
		run := &j.Runs[i]
		fmt.Fprintf(&b, "\n%s\n\n", terminal.Printable(j.runline(run)))
		j.bars(&b, run, columns)
		b.WriteByte('\n')
		j.table(&b, run)
	}
	if len(j.Runs) == 0 {
		fmt.Fprintln(&b, "it has not started")
	}
	if len(j.Events) > 0 {
		b.WriteByte('\n')
	}
	for _, e := range j.Events {
		fmt.Fprintf(&b, "%s %s\n", e.At.Format(time.DateTime), terminal.Printable(e.Text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// bars draws a line per vnode: # where the job had it, - where it was suspended, . where it had
// given it back or had it not yet.
func (j *Job) bars(b *strings.Builder, run *Run, columns int) {
	all := rows(run)
	names := len("VNODE")
	for _, r := range all {
		names = max(names, utf8.RuneCountInString(r.name))
	}
	names = min(names, max(columns/3, len("VNODE")))
	wide := max(columns-names-2, minBar)
	from, to := run.Start, j.until(run)
	left, right := from.Format(j.layout(run)), to.Format(j.layout(run))
	if wide < len(left)+len(right)+1 {
		right = ""
	}
	fmt.Fprintf(b, "%-*s  %s%*s\n", names, "VNODE", left, max(wide-len(left), 0), right)
	for _, r := range all {
		fmt.Fprintf(b, "%-*s  %s\n", names, terminal.Short(terminal.Printable(r.name), names), j.bar(run, r, from, to, wide))
	}
	fmt.Fprintf(b, "%-*s  %s\n", names, "PHASE", strings.TrimRight(ruler(run, from, to, wide), " "))
}

func (j *Job) bar(run *Run, r row, from, to time.Time, wide int) string {
	bar := bytes.Repeat([]byte{'.'}, wide)
	at := func(t time.Time) int { return int(float64(t.Sub(from)) / float64(to.Sub(from)) * float64(wide)) }
	mark := func(s Span, from, to byte) {
		first := max(min(at(s.Start), wide-1), 0)
		for i := first; i < min(max(at(s.end(j.until(run))), first+1), wide); i++ { // what was short is seen, too
			if from == 0 || bar[i] == from {
				bar[i] = to
			}
		}
	}
	for k, p := range run.Phases {
		if r.held[k] {
			mark(p.Span, 0, '#')
		}
	}
	for _, s := range run.Suspended {
		mark(s.Span, '#', '-')
	}
	return string(bar)
}

// ruler writes the number of each phase where it begins, as far as there is room.
func ruler(run *Run, from, to time.Time, wide int) string {
	line := []byte(strings.Repeat(" ", wide))
	free := 0
	for k, p := range run.Phases {
		number := "|" + strconv.Itoa(k+1)
		at := int(float64(p.Start.Sub(from)) / float64(to.Sub(from)) * float64(wide))
		if at < free || at+len(number) > wide {
			continue
		}
		copy(line[at:], number)
		free = at + len(number) + 1
	}
	return string(line)
}

func (j *Job) table(b *strings.Builder, run *Run) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PHASE\tFROM\tTO\tTIME\tVNODES\tNCPUS\tMEM\tCPUT\tMEM USED\tBEGAN")
	for _, cells := range j.cells(run) {
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	_ = t.Flush() // a strings.Builder takes everything
}

// cells returns the table of a run's phases: what both pictures write under the bars. The last
// one, of the whole run, has its walltime, in which it was not suspended.
func (j *Job) cells(run *Run) (lines [][]string) {
	layout := j.layout(run)
	for k, p := range run.Phases {
		ncpus, mem := p.sums()
		to := "now"
		if !p.End.IsZero() {
			to = p.End.Format(layout)
		}
		lines = append(lines, []string{
			strconv.Itoa(k + 1), p.Start.Format(layout), to, duration(p.end(j.Now).Sub(p.Start)), strconv.Itoa(len(p.Vnodes)),
			strconv.FormatInt(ncpus, 10), size(mem), usedText(p.Used, "cput"), usedSize(p.Used, "mem"), p.Began,
		})
	}
	if run.Used != nil && len(run.Phases) > 1 {
		lines = append(lines, []string{"all", "", "", usedText(run.Used, "walltime"), "", "", "", usedText(run.Used, "cput"), usedSize(run.Used, "mem"), "(walltime)"})
	}
	return lines
}
