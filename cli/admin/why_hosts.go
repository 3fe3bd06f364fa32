package admin

import (
	"strings"
	"time"
)

// printHosts says what would have to end where.
func (w *why) printHosts(line func(string, ...any)) {
	if len(w.Room) > 0 {
		line("room for one of %d times %s now: %s", w.Chunks, w.Chunk, strings.Join(w.Room, " "))
	}
	if len(w.Nearest) > 0 {
		line("nearest to having %s:", w.Chunk)
	}
	for _, n := range w.Nearest {
		line("  %s: %s", strings.Join(n.Vnodes, " "), n.lacking())
		w.printHolds(line, n.Holds, n.Others, "    ")
	}
	if w.More > 0 {
		line("%d more hosts have no room now", w.More)
	}
	if w.Ineligible > 0 {
		line("%d hosts can never have it", w.Ineligible)
	}
}

// printHolds says who holds what, and how many others do.
func (w *why) printHolds(line func(string, ...any), holds []held, others uint32, indent string) {
	for _, h := range holds {
		line("%s%s", indent, h.words(w.Now))
	}
	if others > 0 {
		line("%sand %d others", indent, others)
	}
}

// lacking says what a host lacks, and until when.
func (n nearest) lacking() string {
	if n.Closed != "" {
		return n.Closed
	}
	var all []string
	for _, l := range n.Lacks {
		all = append(all, l.Free+" of "+l.Total+" "+l.Resource+" free, "+l.Wants+" wanted")
	}
	if len(all) == 0 {
		all = []string{"in use, and wanted by one alone"}
	}
	if n.At.IsZero() {
		return strings.Join(all, "; ")
	}
	return strings.Join(all, "; ") + "; has room at " + n.At.Format(time.DateTime)
}

// words says who holds what, until when, and what would change if it ended now.
func (h held) words(now time.Time) string {
	text := h.Kind + " " + h.By
	if h.What != "" {
		text += " has " + h.What
	}
	if h.From.After(now) {
		text += " from " + h.From.Format(time.DateTime)
	}
	switch text += " " + h.ends(); {
	case h.Without.IsZero():
		return text
	case h.Without.After(now):
		return text + "; without it the job can start at " + h.Without.Format(time.DateTime)
	}
	return text + "; without it the job can start now"
}
