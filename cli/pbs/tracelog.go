package pbs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// read returns the messages of one log file about a job. A file that is not there, or not
// for this user's eyes, holds none.
func (t *trace) read(s traceSource, file, id string) []message {
	f, err := t.env.Open(file)
	if err != nil {
		if t.verbose {
			fmt.Fprintf(t.env.Stderr, "%s: %s\n", file, sentence(err))
		}
		return nil
	}
	defer f.Close()
	if t.verbose {
		fmt.Fprintf(t.env.Stderr, "%s: found\n", file)
	}
	return t.messages(s, f, id)
}

func (t *trace) messages(s traceSource, f fs.File, id string) []message {
	var all []message
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadString('\n')
		if m, ok := t.message(s, strings.TrimSuffix(line, "\n"), id); ok {
			all = append(all, m)
		}
		if err == nil {
			continue
		}
		if t.verbose && !errors.Is(err, io.EOF) {
			fmt.Fprintf(t.env.Stderr, "%s\n", sentence(err))
		}
		return all
	}
}

// message reads a line: MOMENT;EVENT;DAEMON;CLASS;OBJECT;TEXT of a daemon's log, and
// MOMENT;TYPE;ID;TEXT of an accounting file.
func (t *trace) message(s traceSource, line, id string) (message, bool) {
	n := 6
	if s.letter == "A" {
		n = 4
	}
	fields := strings.SplitN(line, ";", n)
	if len(fields) != n || !isOf(fields[n-2], id) {
		return message{}, false
	}
	at, ok := sortable(fields[0])
	if s.letter != "A" {
		event, err := strconv.ParseUint(fields[1], 16, 32)
		ok = ok && err == nil && event&t.skip == 0
	}
	return message{at: at, shown: fields[0], letter: s.letter, job: fields[n-2], text: fields[n-1]}, ok
}

// isOf reports whether an object of a log is the job; a name without a server matches the job of
// any server.
func isOf(object, id string) bool {
	return object == id || !strings.Contains(id, ".") && strings.HasPrefix(object, id+".")
}
