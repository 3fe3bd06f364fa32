package hook

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// A Note is a line about a hook for the log of its daemon, in PBS's words.
type Note struct {
	Kind   NoteKind
	Object string // the hook, or the job; empty: the daemon
	Text   string
}

// NoteKind says what a Note is about, and so how it is logged.
type NoteKind uint8

// The kinds of notes.
const (
	NoteVerdict NoteKind = iota // a hook has refused or failed
	NoteMessage                 // what it said when it refused
	NoteFault                   // why a script has failed, line by line
	NoteChange                  // what a hook has set of a job
	NotePerf                    // how long it took
)

// noted adds what the log is to have of the answer of one hook.
func (o *Outcome) noted(h *Hook, e *Event, a *Answer) {
	if a.Failure != "" {
		o.failed(h, e, a)
	} else {
		o.changed(h, a)
	}
	if a.Accept {
		return
	}
	o.note(NoteVerdict, h.Name, fmt.Sprintf("%s request rejected by '%s'", e.Event, h.Name))
	if a.Failure == "" && a.Message != "" {
		o.note(NoteMessage, h.Name, a.Message)
	}
}

func (o *Outcome) note(kind NoteKind, object, text string) {
	o.Notes = append(o.Notes, Note{kind, object, strings.ReplaceAll(text, "\n", " ")})
}

// timed says how long a hook took, for the daemon that asked it and by itself: what the daemon did meanwhile in its own process is next to nothing, so
// the processor time of both is the script's.
func (o *Outcome) timed(h *Hook, e *Event, wall time.Duration, own Took) {
	label := fmt.Sprintf("label=hook_%s_%s_%d", e.Event, h.Name, os.Getpid())
	what := "server_process_hooks"
	if e.Mom {
		what = "mom_process_hooks"
	}
	perf := func(text string) { o.note(NotePerf, "hook_perf_stat", label+" action="+text) }
	stop := func(action string, t Took) {
		perf(fmt.Sprintf("%s walltime=%f cputime=%f profile_stop", action, t.Wall, t.CPU))
	}
	perf(what + " profile_start")
	perf("run_code profile_start")
	stop("run_code", own)
	stop(what, Took{wall.Seconds(), own.CPU})
}

// failed says why a hook has not come to its end.
func (o *Outcome) failed(h *Hook, e *Event, a *Answer) {
	for line := range strings.Lines(a.Traceback) {
		o.note(NoteFault, "", "PBS server internal error (15011) in Error evaluating Python script, "+strings.TrimRight(line, "\n"))
	}
	switch {
	case a.TimedOut:
		o.note(NoteVerdict, h.Name, fmt.Sprintf("alarm call while running %s hook '%s', request rejected", e.Event, h.Name))
	default:
		if a.Traceback == "" {
			o.note(NoteVerdict, h.Name, fmt.Sprintf("hook '%s' failed: %s", h.Name, a.Failure))
		}
		o.note(NoteVerdict, h.Name, fmt.Sprintf("%s hook '%s' encountered an exception, request rejected", e.Event, h.Name))
	}
	if e.Event == "exechost_periodic" {
		o.note(NoteVerdict, h.Name, fmt.Sprintf("Non-zero exit status %d encountered for periodic hook", exitStatus(a)))
	}
}

// exitStatus returns the status of PBS's interpreter for a hook that has failed.
func exitStatus(a *Answer) int {
	if a.TimedOut {
		return 253
	}
	return 254
}

// changed says what a hook has set of the job.
func (o *Outcome) changed(h *Hook, a *Answer) {
	if a.Job == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(a.Job.Set)) {
		text := "'" + h.Name + "' hook set job's " + name + " = "
		if value := a.Job.Set[name]; value != nil {
			text += *value
		}
		o.note(NoteChange, "", text)
	}
}
