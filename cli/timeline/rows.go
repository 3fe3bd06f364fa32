package timeline

import (
	"fmt"
	"strings"
	"time"
)

// maxRows is how many rows of vnodes are drawn one by one. Where there are more, vnodes with the
// same story share a row.
const maxRows = 64

// A row is one bar: for each phase, whether the job has the vnode.
type row struct {
	name string
	held []bool
}

// rows returns those of a run, in the order in which the job got the vnodes.
func rows(run *Run) []row {
	var all []row
	at := map[string]int{}
	for i, p := range run.Phases {
		for _, s := range p.Vnodes {
			k, ok := at[s.Vnode]
			if !ok {
				k = len(all)
				at[s.Vnode] = k
				all = append(all, row{s.Vnode, make([]bool, len(run.Phases))})
			}
			all[k].held[i] = true
		}
	}
	if len(all) <= maxRows {
		return all
	}
	return together(all)
}

// together makes one row of all that are alike.
func together(all []row) []row {
	var few []row
	at, more := map[string]int{}, map[int]int{}
	for _, r := range all {
		key := fmt.Sprint(r.held)
		if k, ok := at[key]; ok {
			more[k]++
			continue
		}
		at[key] = len(few)
		few = append(few, r)
	}
	for k, n := range more {
		few[k].name = fmt.Sprintf("%s and %d more", few[k].name, n)
	}
	return few
}

// until returns the end of a run, or the moment of the picture.
func (j *Job) until(run *Run) time.Time {
	end := run.End
	if end.IsZero() {
		end = j.Now
	}
	if !end.After(run.Start) {
		return run.Start.Add(time.Second) // so that there is something to draw
	}
	return end
}

// end returns the end of a span, or now while it lasts.
func (s Span) end(now time.Time) time.Time {
	if s.End.IsZero() {
		return now
	}
	return s.End
}

// layout returns how times are written: with their day where a run is longer than that.
func (j *Job) layout(run *Run) string {
	if run.Start.Format(time.DateOnly) == j.until(run).Format(time.DateOnly) {
		return time.TimeOnly
	}
	return time.DateTime
}

// sums returns what the job has in a phase.
func (p Phase) sums() (ncpus, memKB int64) {
	for _, s := range p.Vnodes {
		ncpus += s.NCPUs
		memKB += s.MemKB
	}
	return ncpus, memKB
}

// duration writes HH:MM:SS.
func duration(d time.Duration) string {
	s := int64(d / time.Second)
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// size writes kilobytes in the largest unit in which they are at least one.
func size(kb int64) string {
	n, units := float64(kb), []string{"kb", "mb", "gb", "tb", "pb"}
	i := 0
	for n >= 1024 && i < len(units)-1 {
		n /= 1024
		i++
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") + units[i]
}

// usedSize writes a size of resources_used, "-" where none is known.
func usedSize(used map[string]string, name string) string {
	if text, ok := used[name]; ok {
		return size(kilobytes(text))
	}
	return "-"
}

func usedText(used map[string]string, name string) string {
	if text, ok := used[name]; ok {
		return text
	}
	return "-"
}

// headline tells which job it is.
func (j *Job) headline() string {
	words := []string{"Job " + j.ID}
	for _, w := range []struct{ label, value string }{{"", j.Name}, {"user ", j.User}, {"queue ", j.Queue}} {
		if w.value != "" {
			words = append(words, w.label+w.value)
		}
	}
	return strings.Join(words, ", ")
}

// runline tells when a run was and how it ended.
func (j *Job) runline(run *Run) string {
	to := "now"
	if !run.End.IsZero() {
		to = run.End.Format(j.layout(run))
	}
	return fmt.Sprintf("Run %d: %s to %s (%s), %s", run.Number, run.Start.Format(time.DateTime), to, duration(run.span().end(j.Now).Sub(run.Start)), run.Ending)
}

func (run *Run) span() Span { return Span{run.Start, run.End} }
