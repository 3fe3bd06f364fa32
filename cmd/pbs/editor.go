package main

import (
	"os"
	"strings"

	"github.com/peterh/liner"

	"rampart/cli"
)

// historyLines is how many lines a history file holds at most when a session begins.
const historyLines = liner.HistoryLimit

// An editing is a cli.LineEditor at our own terminal.
type editing struct {
	line *liner.State
	past []string
	kept *os.File // nil if there is no file
}

// editor returns nil where a line cannot be edited, and the caller prompts by itself: at a
// dumb terminal, or when what is printed goes elsewhere. A history that cannot be read or
// written does not keep anybody from working.
func editor(history string) cli.LineEditor {
	if !terminal() || !isTerminal(os.Stdout) || !liner.TerminalSupported() {
		return nil
	}
	e := &editing{line: liner.NewLiner()}
	if history != "" {
		e.past = readHistory(history)
		e.kept, _ = os.OpenFile(history, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}
	for _, line := range e.past {
		e.line.AppendHistory(line)
	}
	return e
}

// readHistory returns the newest lines, and takes the others off a file that has grown.
func readHistory(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if n := len(lines) - historyLines; n > 0 {
		lines = lines[n:]
		_ = os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
	}
	return lines
}

func (e *editing) Read(prompt string) (string, error) { return e.line.Prompt(prompt) }

func (e *editing) Past() []string { return e.past }

func (e *editing) Keep(line string) {
	e.line.AppendHistory(line)
	if e.kept != nil {
		_, _ = e.kept.WriteString(line + "\n")
	}
}

func (e *editing) Close() error {
	if e.kept != nil {
		_ = e.kept.Close()
	}
	return e.line.Close()
}
