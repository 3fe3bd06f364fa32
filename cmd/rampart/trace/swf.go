package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/pbs"
)

// The fields of the Standard Workload Format, version 2.2 (D. Feitelson, Parallel Workloads Archive).
const (
	swfJob = iota
	swfSubmit
	swfWait
	swfRun
	swfProcs
	swfCPU
	swfMemory
	swfAskedProcs
	swfAskedTime
	swfAskedMemory
	swfStatus
	swfUser
	swfGroup
	swfExecutable
	swfQueue
	swfPartition
	swfPreceding
	swfThink
	swfFields
)

// The values of its field status.
const (
	swfFailed    = 0
	swfPart      = 2 // to 4: a part of a job that was checkpointed
	swfLastPart  = 4
	swfCancelled = 5
)

// standardBegin is when a trace begins that does not say: a Monday.
var standardBegin = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// A header is what the comments of a trace say of its machine.
type header struct {
	start        int64 // UnixStartTime; 0: it does not say
	nodes, procs int64
	queues       map[int64]string
}

// A swf reads the Standard Workload Format.
type swf struct {
	in       *input
	header   header
	troubles *Troubles
	held     *Job // was read to see all of the header
	last     pbs.Time
}

// openSWF reads traces in the Standard Workload Format, of which each goes on where the one before it ends.
func openSWF(in *input, troubles *Troubles) (*swf, error) {
	var err error
	s := &swf{in: in, troubles: troubles, header: header{queues: map[int64]string{}}}
	s.held, err = s.read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, in.close())
	}
	return s, nil
}

func (s *swf) Begin() pbs.Time {
	if s.held != nil {
		return s.held.Submit
	}
	return s.begin()
}

// begin returns the time that submit times count from.
func (s *swf) begin() pbs.Time {
	if s.header.start > 0 {
		return pbs.Time(s.header.start) * pbs.Time(time.Second)
	}
	return pbs.Time(standardBegin.UnixNano())
}

func (s *swf) Read() float64 { return s.in.part() }
func (s *swf) Close() error  { return s.in.close() }

func (s *swf) Next() (*Job, error) {
	if j := s.held; j != nil {
		s.held = nil
		return j, nil
	}
	return s.read()
}

func (s *swf) read() (*Job, error) {
	for {
		line, err := s.in.next()
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == ';':
			s.comment(string(line[1:]))
		default:
			if j := s.job(line); j != nil {
				return j, nil
			}
		}
	}
}

// comment takes what a line of the header says: "Label: value".
func (s *swf) comment(text string) {
	label, value, ok := strings.Cut(text, ":")
	value = strings.TrimSpace(value)
	number, _, _ := strings.Cut(value, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil {
		return
	}
	switch strings.TrimSpace(label) {
	case "UnixStartTime":
		if n > 0 && n < math.MaxInt32*4 {
			s.header.start = n
		}
	case "MaxNodes":
		s.header.nodes = n
	case "MaxProcs":
		s.header.procs = n
	case "Queue":
		if words := strings.Fields(value); len(words) > 1 {
			s.header.queues[n] = strings.Trim(words[1], `"`)
		}
	}
}

// longestRun is more than any job of a trace may take.
const longestRun = 10 * 366 * 24 * time.Hour

// shownWord is how many bytes are told at most of a word that is none.
const shownWord = 40

// job reads the line of a job; nil: it tells of none that could be replayed.
func (s *swf) job(line []byte) *Job {
	skip := func(kind, detail string) *Job {
		s.troubles.add(s.in.name, s.in.line, kind, detail, true)
		return nil
	}
	var f [swfFields]int64
	n := 0
	for word := range bytes.FieldsSeq(line) {
		if n == swfFields {
			n++
			break
		}
		v, err := strconv.ParseFloat(string(word), 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1<<53 {
			return skip("not a number", fmt.Sprintf(": field %d is %q", n+1, word[:min(len(word), shownWord)]))
		}
		f[n] = int64(v)
		n++
	}
	if n != swfFields {
		return skip("not 18 fields", "")
	}
	procs := f[swfAskedProcs]
	if procs <= 0 {
		procs = f[swfProcs]
	}
	switch {
	case f[swfSubmit] < 0:
		return skip("no submit time", fmt.Sprintf(": %d", f[swfSubmit]))
	case f[swfStatus] >= swfPart && f[swfStatus] <= swfLastPart:
		return skip("a part of a job whose whole stands in another line", "")
	case f[swfRun] < 0 && f[swfStatus] == swfCancelled:
		return skip("cancelled before it began", "")
	case f[swfRun] == -1:
		return skip("no run time", "")
	case f[swfRun] < 0:
		return skip("negative run time", fmt.Sprintf(": %d", f[swfRun]))
	case f[swfRun] > int64(longestRun/time.Second) || f[swfSubmit] > int64(longestRun/time.Second):
		return skip("a time of more than 10 years", "")
	case procs <= 0:
		return skip("no processors", "")
	}
	j := &Job{
		Name: strconv.FormatInt(f[swfJob], 10), File: s.in.name, Line: s.in.line,
		Submit: s.begin() + pbs.Time(f[swfSubmit])*pbs.Time(time.Second), Runs: time.Duration(f[swfRun]) * time.Second,
		CPUs: procs, Limit: time.Duration(min(max(0, f[swfAskedTime]), int64(longestRun/time.Second))) * time.Second, Mem: max(0, f[swfAskedMemory]),
		User: "user" + strconv.FormatInt(f[swfUser], 10), Group: "group" + strconv.FormatInt(f[swfGroup], 10), Queue: s.header.queues[f[swfQueue]],
	}
	if f[swfStatus] == swfFailed {
		j.Exit = 1
	}
	if f[swfWait] >= 0 {
		j.Began = j.Submit + pbs.Time(f[swfWait])*pbs.Time(time.Second)
	}
	if f[swfGroup] < 0 {
		j.Group = ""
	}
	if f[swfUser] < 0 {
		j.User = nobodys
		s.troubles.add(s.in.name, s.in.line, "no user", ": it is counted as "+nobodys+"'s", false)
	}
	if j.Submit < s.last {
		s.troubles.add(s.in.name, s.in.line, "the submit time goes back", ": it is taken for that of the line before", false)
		j.Submit = s.last
	}
	s.last = j.Submit
	return j
}

// nobodys is the user of jobs without one.
const nobodys = "nobody"
