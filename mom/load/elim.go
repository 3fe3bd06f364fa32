package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rampart/transport/head"
	"rampart/transport/pause"
)

const (
	// firstPause is how long a program that has ended is not started again; each time it is twice as long, up to longestPause.
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	// steady is for how long a program runs after which its next end counts as the first.
	steady = time.Minute
	// sayAgain is how often the log is told of rubbish.
	sayAgain = time.Minute
	// longestLine bounds a report.
	longestLine = 64 << 10
	// killWithin is how long what a program has left behind may hold its output.
	killWithin = time.Second
)

// An Elim is the source of what a program of the site finds out: LSF's external load information manager. It prints reports for as long as
// it runs, and is started again when it has ended.
type Elim struct {
	Command string               // run by /bin/sh
	Log     func(problem string) // takes what is wrong

	pause time.Duration // firstPause but in tests
	said  time.Time     // when the log was told of rubbish last
}

// Run implements Source. While the program does not run it has no values.
func (e *Elim) Run(ctx context.Context, tell func(Values)) {
	shortest := max(e.pause, 0)
	if shortest == 0 {
		shortest = firstPause
	}
	for wait := shortest; ; {
		began := time.Now()
		err := e.once(ctx, tell)
		if ctx.Err() != nil {
			return
		}
		tell(nil)
		if time.Since(began) >= steady {
			wait = shortest
		}
		e.Log(fmt.Sprintf("%s: %v; it is started again in %s", e.Command, err, wait))
		if !pause.For(ctx, wait) {
			return
		}
		wait = min(2*wait, longestPause)
	}
}

// once runs the program until it ends, and says how it did.
func (e *Elim) once(ctx context.Context, tell func(Values)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", e.Command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = killWithin
	var complaints head.Buffer
	cmd.Stderr = &complaints
	r, w := io.Pipe()
	cmd.Stdout = w
	read := make(chan struct{})
	go func() {
		defer close(read)
		err := e.reports(r, tell)
		if err != nil {
			cancel(err)
		}
		r.CloseWithError(err)
	}()
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has left behind
	}
	w.Close()
	<-read
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err == nil {
		err = errors.New("exit status 0")
	}
	if line, _, _ := strings.Cut(strings.TrimSpace(complaints.String()), "\n"); line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	return err
}

// reports reads what the program prints, to the end.
func (e *Elim) reports(r io.Reader, tell func(Values)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		values, err := parseReport(lines.Text())
		if err != nil && (e.said.IsZero() || time.Since(e.said) >= sayAgain) {
			e.said = time.Now()
			e.Log(fmt.Sprintf("%s printed %.200q: %v", e.Command, lines.Text(), err))
		}
		if values != nil {
			tell(values)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("it printed a line of more than %d bytes", longestLine)
	}
	return lines.Err()
}

// parseReport reads a report: how many values there are, then the name and the value of each; a value of "-" is not known. No values are
// returned of what is no report; a value that cannot be is left out. The error names the first thing that is wrong.
func parseReport(line string) (Values, error) {
	words := strings.Fields(line)
	n, err := strconv.Atoi(words[0])
	switch {
	case err != nil || n < 0:
		return nil, fmt.Errorf("a report begins with the number of its values, not with %q", words[0])
	case len(words)-1 != 2*n:
		return nil, fmt.Errorf("a report of %d values has %d words behind that, not %d", n, 2*n, len(words)-1)
	}
	v := Values{}
	var first error
	for pair := words[1:]; len(pair) > 0; pair = pair[2:] {
		name, text := pair[0], pair[1]
		if text == "-" {
			continue
		}
		number, err := strconv.ParseFloat(text, 64)
		_, twice := v[name]
		switch {
		case err != nil || math.IsNaN(number) || math.IsInf(number, 0):
			err = fmt.Errorf("%s is %q, no number", name, text)
		case number < 0:
			err = fmt.Errorf("%s is %q, a negative number", name, text)
		case twice:
			err = fmt.Errorf("%s is there twice", name)
		default:
			v[name] = number
		}
		if first == nil {
			first = err
		}
	}
	return v, first
}
