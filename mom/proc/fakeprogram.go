package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Program is what a scripted process does.
type Program struct {
	Runs        time.Duration // then it exits
	Status      int
	Output      string // on standard output, at its start
	IgnoresTerm bool
	CPU         float64 // seconds of cpu time per second
	RSS         int64
	StartError  error // Start fails with it
}

// Scripted reads the Lines of a program and understands those of the forms "sleep SECONDS", "exit STATUS" and "echo TEXT".
func Scripted(spec Spec) Program {
	p := Program{CPU: 1, RSS: 1 << 20}
	for _, line := range Lines(spec) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch filepath.Base(word) {
		case "sleep":
			s, _ := strconv.ParseFloat(rest, 64)
			p.Runs += time.Duration(s * float64(time.Second))
		case "exit":
			p.Status, _ = strconv.Atoi(rest)
		case "echo":
			p.Output += rest + "\n"
		}
	}
	return p
}

// Lines returns the lines of the script whose path is on standard input, those that a shell is given by -c, or the arguments as
// one line.
func Lines(spec Spec) []string {
	if path := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(spec.Stdin), "exec ")); path != "" {
		if script, err := os.ReadFile(strings.Trim(path, "'")); err == nil {
			return strings.Split(string(script), "\n")
		}
	}
	if a := spec.Args; len(a) >= 3 && a[len(a)-2] == "-c" && filepath.Base(a[len(a)-3]) == "sh" {
		return strings.Split(a[len(a)-1], "\n")
	}
	return []string{strings.Join(spec.Args, " ")}
}

func scale(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }
