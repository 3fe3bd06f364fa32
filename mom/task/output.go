package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The two streams, by the ending of their files in the spool.
const (
	stdout = "OU"
	stderr = "ER"
)

// What Delivered says of the output of a run that counts: all of it is where its owner
// wants it, or some is in undelivered/.
const (
	stageOutDone   = 1
	stageOutFailed = -1
)

// The log events that tasks use, by PBS's numbers.
const (
	eventError  = 0x0001
	eventAdmin  = 0x0004
	eventJob    = 0x0008
	eventDebug  = 0x0080
	eventDebug2 = 0x0100
)

// deliver brings the output to where its owner wants it. It ends in every case: what
// cannot be delivered is kept in undelivered/.
func (s *Site) deliver(ctx context.Context, t Task) Event {
	s.Lines.Job(eventDebug, t.Key.Job, "copy file request received")
	a, accountErr := s.account(ctx, t)
	if ctx.Err() != nil {
		return nil
	}
	var failures []error
	streams := t.streams()
	for _, kind := range streams {
		err := accountErr
		if err == nil {
			err = s.deliverOne(t, a, kind)
		}
		if err != nil {
			failures = append(failures, err)
			s.keepUndelivered(t, kind, err)
		}
	}
	s.Lines.Job(eventDebug2, t.Key.Job,
		fmt.Sprintf("Staged %d/%d items out over 0:00:00", len(streams)-len(failures), len(streams)))
	if len(failures) > 0 {
		return Delivered{StageOut: stageOutFailed, Comment: "output not delivered: " + errors.Join(failures...).Error()}
	}
	return Delivered{StageOut: stageOutDone}
}

// streams returns the streams that have a file of their own; those of an interactive job
// go to its terminal.
func (t Task) streams() []string {
	if t.interactive() {
		return nil
	}
	switch t.Attrs.Get("Join_Path") {
	case "oe":
		return []string{stdout}
	case "eo":
		return []string{stderr}
	}
	return []string{stdout, stderr}
}

func (s *Site) deliverOne(t Task, a Account, kind string) error {
	target, err := s.target(t, a, kind)
	if err != nil {
		return err
	}
	file := s.Spool.Output(t.Key.Job, kind)
	if err := s.System.Move(s.owner(a), file, target, t.defaultName(kind)); err != nil {
		return fmt.Errorf("copy to %s: %w", target, err)
	}
	return nil
}

func (s *Site) keepUndelivered(t Task, kind string, cause error) {
	file, kept := s.Spool.Output(t.Key.Job, kind), s.Spool.Undelivered(t.Key.Job, kind)
	s.Lines.File(eventAdmin, t.Key.Job, fmt.Sprintf("Unable to copy file %s: %v", file, cause))
	err := os.Rename(file, kept)
	if errors.Is(err, os.ErrNotExist) {
		return // it was moved before the mom's last crash
	}
	if err != nil {
		s.Lines.File(eventError, t.Key.Job, fmt.Sprintf("Unable to keep file %s: %v", file, err))
		return
	}
	s.Lines.File(eventAdmin, t.Key.Job, "Output retained on that host in: "+kept)
}

// target returns the path on this host that a stream is to be delivered to.
func (s *Site) target(t Task, a Account, kind string) (string, error) {
	name, letter := "Output_Path", "o"
	if kind == stderr {
		name, letter = "Error_Path", "e"
	}
	// With "d" a stream goes to its own path, as if it were not kept at home.
	if keep := t.Attrs.Get("Keep_Files"); strings.Contains(keep, letter) && !strings.Contains(keep, "d") {
		return filepath.Join(a.Home, t.defaultName(kind)), nil
	}
	where := t.Attrs.Get(name)
	if where == "" {
		return filepath.Join(a.Home, t.defaultName(kind)), nil
	}
	host, path, named := strings.Cut(where, ":")
	if !named || strings.Contains(host, "/") {
		host, path = "", where
	}
	for _, u := range s.Settings().UseCopy {
		if rest, below := strings.CutPrefix(path, u.From); below && u.matches(host) {
			return u.To + rest, nil
		}
	}
	if host != "" && !s.local(host) {
		return "", fmt.Errorf("copy to %s: no $usecp line leads from here to that host", where)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Home, path)
	}
	return path, nil
}

// defaultName is the file's name when none was asked for: "STDIN.o12", of a subjob
// "STDIN.o12.3".
func (t Task) defaultName(kind string) string {
	letter := "o"
	if kind == stderr {
		letter = "e"
	}
	name := t.Attrs.Get("Job_Name")
	if name == "" {
		name = "STDIN"
	}
	name += "." + letter + t.Key.Job.Number()
	if index := t.Attrs.Get("array_index"); index != "" {
		name += "." + index
	}
	return name
}

// discard removes the output of a run that counts for nothing.
func (s *Site) discard(t Task) Event {
	for _, kind := range []string{stdout, stderr} {
		if err := os.Remove(s.Spool.Output(t.Key.Job, kind)); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.Logger.Warn("output not removed", "job", t.Key.Job, "err", err)
		}
	}
	return Delivered{}
}

// note appends PBS's words to the job's standard error, where its owner looks.
func (s *Site) note(t Task, text string) error { return s.write(t, stderr, text) }

// Write appends a line to the streams of a job that has them; without one it is the
// standard error.
func (r *Runner) Write(text string, output, failure bool) error {
	var errs []error
	t := r.Task()
	if output {
		errs = append(errs, r.site.write(t, stdout, text))
	}
	if failure || !output {
		errs = append(errs, r.site.write(t, stderr, text))
	}
	return errors.Join(errs...)
}

// write appends a line to a stream; joined ones are the same file.
func (s *Site) write(t Task, kind, text string) error {
	switch streams := t.streams(); len(streams) {
	case 0:
		return s.tell(t, text)
	case 1:
		kind = streams[0]
	}
	f, err := os.OpenFile(s.Spool.Output(t.Key.Job, kind), os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	return errors.Join(err, f.Close())
}

// clean removes what only a running job needs.
func (s *Site) clean(ctx context.Context, t Task) {
	a, err := s.account(ctx, t)
	if err == nil {
		err = s.System.RemoveDir(s.owner(a), s.tmpDir(t))
	}
	if err != nil && !errors.Is(err, ErrNoAccount) {
		s.Logger.Warn("TMPDIR not removed", "job", t.Key.Job, "err", err)
	}
	if err := os.Remove(s.Spool.NodeFile(t.Key.Job)); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Logger.Warn("node file not removed", "job", t.Key.Job, "err", err)
	}
}
