package transport

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// A LogLine is a line that the leader has written into its server log about a request: the replica that was asked, and has passed it
// on, writes it into its own, where whoever has asked there looks for it.
type LogLine struct {
	Event               uint16 // of package pbs, with LogForce if it is to be written whatever the mask says
	Class, Object, Text string
}

// headerNoted has a line of the log in a reply to a request that was passed on. Taken from replicas only, and never passed on.
const headerNoted = "Rampart-Noted"

// Bounds on the lines that a reply carries; further ones are in the leader's log alone.
const (
	maxNoted      = 64
	maxNotedBytes = 64 << 10
)

type notes struct {
	mu    sync.Mutex
	lines []string
	bytes int
}

type notesKey struct{}

// Note has the replica that has passed on the request that ctx belongs to write a line into its log, too. Of a request that was asked
// here it does nothing.
func Note(ctx context.Context, line LogLine) {
	n, ok := ctx.Value(notesKey{}).(*notes)
	if !ok {
		return
	}
	text := line.encode()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.lines) < maxNoted && n.bytes+len(text) <= maxNotedBytes {
		n.lines, n.bytes = append(n.lines, text), n.bytes+len(text)
	}
}

func (l LogLine) encode() string {
	parts := []string{strconv.FormatUint(uint64(l.Event), 16), l.Class, l.Object, l.Text}
	for i, part := range parts {
		parts[i] = url.QueryEscape(part) // a header takes few characters
	}
	return strings.Join(parts, "&")
}

func decodeLogLine(text string) (LogLine, bool) {
	parts := strings.Split(text, "&")
	if len(parts) != 4 {
		return LogLine{}, false
	}
	for i, part := range parts {
		var err error
		if parts[i], err = url.QueryUnescape(part); err != nil {
			return LogLine{}, false
		}
	}
	event, err := strconv.ParseUint(parts[0], 16, 16)
	return LogLine{uint16(event), parts[1], parts[2], parts[3]}, err == nil
}

// noting is the writer of a reply that carries what was noted until its head is written.
type noting struct {
	http.ResponseWriter
	notes *notes
	once  sync.Once
}

// withNotes prepares a request that another replica has passed on for notes.
func withNotes(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request) {
	n := new(notes)
	return &noting{ResponseWriter: w, notes: n}, r.WithContext(context.WithValue(r.Context(), notesKey{}, n))
}

func (n *noting) head() {
	n.once.Do(func() {
		n.notes.mu.Lock()
		defer n.notes.mu.Unlock()
		for _, line := range n.notes.lines {
			n.Header().Add(headerNoted, line)
		}
	})
}

// WriteHeader implements http.ResponseWriter.
func (n *noting) WriteHeader(status int) {
	if status >= http.StatusOK {
		n.head()
	}
	n.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (n *noting) Write(data []byte) (int, error) {
	n.head()
	return n.ResponseWriter.Write(data)
}

// Flush implements http.Flusher, which streams ask for.
func (n *noting) Flush() {
	n.head()
	_ = http.NewResponseController(n.ResponseWriter).Flush() // nothing below takes it: then it goes out later
}

// Unwrap lets a ResponseController find what the writer below can do.
func (n *noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// takeNotes takes the lines out of the leader's reply.
func takeNotes(h http.Header, logged func(LogLine)) {
	lines := h.Values(headerNoted)
	h.Del(headerNoted)
	if logged == nil {
		return
	}
	for i, text := range lines {
		if line, ok := decodeLogLine(text); ok && i < maxNoted {
			logged(line)
		}
	}
}
