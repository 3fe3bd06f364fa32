package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"rampart/cli/terminal"
)

// A Forecast says when jobs start that wait now, if all take as long as they have asked for.
type Forecast struct {
	Now     time.Time  `json:"now"`
	Until   time.Time  `json:"until"`
	Changes []string   `json:"changes,omitempty"`
	Jobs    []Expected `json:"jobs"`
	Endless int        `json:"running_without_walltime"`
}

// Expected is when a job that waits is to start.
type Expected struct {
	Job   string    `json:"job"`
	User  string    `json:"user"`
	Queue string    `json:"queue"`
	Start time.Time `json:"start,omitzero"` // zero: not within the time that was looked at
	End   time.Time `json:"end,omitzero"`   // by its walltime
	Why   string    `json:"why,omitempty"`  // it does not start
	// With the changes.
	New     bool      `json:"new,omitempty"` // it is one of them, or of what they bring back into the queue
	Changed time.Time `json:"changed_start,omitzero"`
	Ended   time.Time `json:"changed_end,omitzero"`
	Whynot  string    `json:"changed_why,omitempty"`
}

// both puts what is expected with the changes beside what is expected without.
func both(plain, changed []Expected) []Expected {
	at := map[string]int{}
	for i, j := range plain {
		at[j.Job] = i
	}
	for _, j := range changed {
		i, ok := at[j.Job]
		if !ok {
			plain = append(plain, Expected{Job: j.Job, User: j.User, Queue: j.Queue, New: true})
			i = len(plain) - 1
		}
		plain[i].Changed, plain[i].Ended, plain[i].Whynot = j.Start, j.End, j.Why
	}
	return plain
}

// Text writes the forecast for people.
func (f *Forecast) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, if every job takes its walltime; looked ahead until %s\n", f.Now.Format(time.DateTime), f.Until.Format(time.DateTime))
	if f.Endless > 0 {
		fmt.Fprintf(&b, "%d running jobs have no walltime, and are taken to run on\n", f.Endless)
	}
	for _, c := range f.Changes {
		fmt.Fprintf(&b, "what if: %s\n", terminal.Printable(c))
	}
	if len(f.Jobs) == 0 {
		b.WriteString("no job waits\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	start := func(at time.Time, why string) string {
		switch {
		case !at.IsZero():
			return at.Format(time.DateTime)
		case why != "":
			return "not in that time"
		}
		return "-"
	}
	fmt.Fprintf(&b, "\n%-16s %-12s %-12s %-19s  %-9s", "job", "user", "queue", "start", "in")
	if len(f.Changes) > 0 {
		fmt.Fprintf(&b, "  %-19s  %s", "what if", "change")
	}
	b.WriteByte('\n')
	for _, j := range f.Jobs {
		wait := ""
		if !j.Start.IsZero() {
			wait = span(j.Start.Sub(f.Now).Seconds())
		}
		fmt.Fprintf(&b, "%-16s %-12s %-12s %-19s  %-9s", terminal.Short(terminal.Printable(j.Job), 16), terminal.Short(terminal.Printable(j.User), 12),
			terminal.Short(terminal.Printable(j.Queue), 12), start(j.Start, j.Why), wait)
		if len(f.Changes) > 0 {
			change := ""
			if d := j.Changed.Sub(j.Start); !j.Changed.IsZero() && !j.Start.IsZero() && d.Abs() >= time.Second {
				change = "+" + span(d.Seconds())
				if d < 0 {
					change = "-" + span(-d.Seconds())
				}
			}
			fmt.Fprintf(&b, "  %-19s  %s", start(j.Changed, j.Whynot), change)
		}
		b.WriteByte('\n')
		for i, why := range []string{j.Why, j.Whynot} {
			if why != "" && (i == 0 || why != j.Why) {
				fmt.Fprintf(&b, "    %s\n", terminal.Printable(why))
			}
		}
	}
	_, err := io.WriteString(w, trimmed(b.String()))
	return err
}

// trimmed takes the blanks off the ends of lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// JSON writes the forecast for programs.
func (f *Forecast) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(f)
}
