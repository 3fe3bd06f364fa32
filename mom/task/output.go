package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/files"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// The two streams, by the ending of their files in the spool.
const (
	stdout = "OU"
	stderr = "ER"
)

// Values of Delivered for a run that counts: all of its output is where its owner wants it, or some
// is in undelivered/.
const (
	stageOutDone   = 1
	stageOutFailed = -1
)

// noteWait bounds a line into a file of the owner's.
const noteWait = 5 * time.Second

// output is what programs of jobs write to their two streams: collected in the spool, or written into its
// place from the beginning, and delivered in the end.
type output struct {
	host    pbs.HostName
	owners  owners
	staging *stager
	spool   *spool.Spool
	system  proc.System
	lines   Lines
	logger  *slog.Logger
}

// deliver brings the output to where its owner wants it, and removes what was staged. It ends
// in every case: what cannot be delivered is kept in undelivered/.
func (o *output) deliver(ctx context.Context, t Task) Event {
	if !t.Staging.isOut() { // else it was asked for before
		o.lines.Job(pbs.LogDebug, t.Key.Job, "copy file request received")
	}
	a, accountErr := o.owners.account(ctx, t)
	if ctx.Err() != nil {
		return nil
	}
	if accountErr == nil && t.Staging.Failure == "" && !t.private() {
		o.staging.sweep(ctx, t)
	}
	var failures []error
	streams, dead := t.streams(), make(map[string]error)
	for host, why := range t.Staging.Dead {
		dead[host] = errors.New(why)
	}
	for _, kind := range streams {
		err := accountErr
		if err == nil {
			err = o.deliverOne(ctx, t, a, kind, dead)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			failures = append(failures, err)
			o.keepUndelivered(t, kind, err)
		}
	}
	o.lines.Job(pbs.LogDebug2, t.Key.Job,
		fmt.Sprintf("Staged %d/%d items out over 0:00:00", len(streams)-len(failures), len(streams)))
	if len(failures) > 0 {
		return Delivered{StageOut: stageOutFailed, Comment: "output not delivered: " + errors.Join(failures...).Error()}
	}
	return Delivered{StageOut: stageOutDone}
}

// streams returns the streams that have a file of their own; those of an interactive job
// go to its terminal.
func (o Order) streams() []string {
	if o.interactive() {
		return nil
	}
	switch o.Attrs.Get("Join_Path") {
	case "oe":
		return []string{stdout}
	case "eo":
		return []string{stderr}
	}
	return []string{stdout, stderr}
}

// deliverOne delivers what a stream has in the spool. What is not there was delivered before,
// or was written into its place by the program itself.
func (o *output) deliverOne(ctx context.Context, t Task, a Account, kind string, dead map[string]error) error {
	file := o.spool.Output(t.Key.Job, kind)
	if t.Result.ExitStatus == 0 && strings.Contains(t.Attrs.Get("Remove_Files"), letterOf(kind)) {
		return o.removeOutput(ctx, t, a, kind)
	}
	target := o.target(t, a, kind)
	if target.host == "" {
		if err := o.system.Move(o.owners.owner(a), file, target.path, t.nameInFolder(kind)); err != nil {
			return fmt.Errorf("copy to %s: %w", target.path, err)
		}
		return nil
	}
	if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	o.staging.announceExiting(t)
	e := o.staging.carriage(t, a)
	e.Out, e.Output, e.Here, e.Host, e.There, e.Name = true, true, file, target.host, target.path, t.nameInFolder(kind)
	if _, err := o.staging.do(ctx, e, dead); err != nil {
		return fmt.Errorf("copy to %s:%s: %w", target.host, target.path, err)
	}
	return os.Remove(file)
}

// removeOutput removes the output that -R names when the job has ended well.
func (o *output) removeOutput(ctx context.Context, t Task, a Account, kind string) error {
	err := os.Remove(o.spool.Output(t.Key.Job, kind))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if path := o.direct(t, a, kind); path != "" {
		err = errors.Join(err, proc.AsOwner(ctx, o.owners.owner(a), func() error { return files.Remove([]string{path}) }))
	}
	return err
}

func (o *output) keepUndelivered(t Task, kind string, cause error) {
	file, kept := o.spool.Output(t.Key.Job, kind), o.spool.Undelivered(t.Key.Job, kind)
	o.lines.File(pbs.LogAdmin, t.Key.Job, fmt.Sprintf("Unable to copy file %s: %v", file, cause))
	err := os.Rename(file, kept)
	if errors.Is(err, os.ErrNotExist) {
		return // it was moved before the mom's last crash
	}
	if err != nil { // under a name that no look for leftovers removes
		o.lines.File(pbs.LogError, t.Key.Job, fmt.Sprintf("Unable to keep file %s: %v", file, err))
		kept = file + ".undelivered"
		err = os.Rename(file, kept)
	}
	if err != nil {
		return
	}
	o.lines.File(pbs.LogAdmin, t.Key.Job, "Output retained on that host in: "+kept)
}

// target returns where a stream is to be delivered to.
func (o *output) target(t Task, a Account, kind string) place {
	if t.kept(kind) && !strings.Contains(t.Attrs.Get("Keep_Files"), "d") {
		return place{path: filepath.Join(a.Home, t.defaultName(kind))}
	}
	name := "Output_Path"
	if kind == stderr {
		name = "Error_Path"
	}
	where := t.Attrs.Get(name)
	if where == "" {
		return place{path: filepath.Join(a.Home, t.defaultName(kind))}
	}
	host, path, named := strings.Cut(where, ":")
	if !named || strings.Contains(host, "/") {
		host, path = "", where
	}
	return o.staging.route(a, host, path)
}

// letterOf returns the letter of a stream in -k, -R and -j.
func letterOf(kind string) string {
	if kind == stderr {
		return "e"
	}
	return "o"
}

// kept reports whether -k names the stream: it is written into its place from the beginning, which
// is a file at home, or with "d" that of its own path.
func (o Order) kept(kind string) bool {
	return strings.Contains(o.Attrs.Get("Keep_Files"), letterOf(kind))
}

// direct returns the file that the program itself writes into its place, "" if it is collected
// in the spool.
func (o *output) direct(t Task, a Account, kind string) string {
	if streams := t.streams(); len(streams) == 1 {
		kind = streams[0]
	}
	target := o.target(t, a, kind)
	switch {
	case !t.kept(kind) || target.host != "" || t.interactive():
		return ""
	case strings.HasSuffix(target.path, "/"):
		return target.path + t.nameInFolder(kind)
	}
	return target.path
}

// tellIndirect says in the log which streams are collected in the spool although the job wants them in their places from the beginning:
// those places are of another host.
func (o *output) tellIndirect(t Task, a Account) {
	for _, kind := range t.streams() {
		if to := o.target(t, a, kind); t.kept(kind) && to.host != "" {
			o.lines.File(pbs.LogDebug2, t.Key.Job, fmt.Sprintf("Direct write is requested for job: %s, but the destination: %s:%s is not usecp-able from %s",
				t.Key.Job, to.host, to.path, o.host))
		}
	}
}

// defaultName returns the file's name when none was asked for: "STDIN.o12", of a subjob
// "STDIN.o12.3".
func (o Order) defaultName(kind string) string {
	letter := "o"
	if kind == stderr {
		letter = "e"
	}
	name := o.Attrs.Get("Job_Name")
	if name == "" {
		name = "STDIN"
	}
	name += "." + letter + o.Key.Job.Number()
	if index := o.Attrs.Get("array_index"); index != "" {
		name += "." + index
	}
	return name
}

// nameInFolder returns the file's name in a folder that was asked for: "12.srv.OU", of a subjob
// "12[3].srv.OU".
func (o Order) nameInFolder(kind string) string { return string(o.Key.Job) + "." + kind }

// discard removes the output of a run that counts for nothing, unless the next one is to go on behind it, and the files that were staged
// for it: its next run brings its own. A job's own folder goes with all that is in it. A run that was lost leaves its files: the next one may
// be there by now, on another host with the same home.
func (o *output) discard(ctx context.Context, t Task) Event {
	sweeping, done := context.WithTimeout(ctx, sweepFor)
	defer done()
	if lost := t.Result != nil && t.Result.Lost; !lost && !t.private() {
		o.staging.sweep(sweeping, t)
	}
	if ctx.Err() != nil {
		return nil
	}
	if !t.leavesOutput() {
		o.drop(t)
	}
	return Delivered{}
}

// leavesOutput reports whether what the job has written stays in the spool for its next run here, which goes on behind it: of a run that
// somebody has sent back to the queue, and of the runs before one that never started.
func (t Task) leavesOutput() bool {
	return t.Life.Kill.Requeue || t.Result != nil && t.Result.NeverStarted && t.Key.Run > 1
}

// drop removes what a job has written.
func (o *output) drop(t Task) {
	for _, kind := range []string{stdout, stderr} {
		if err := os.Remove(o.spool.Output(t.Key.Job, kind)); err != nil && !errors.Is(err, os.ErrNotExist) {
			o.logger.Warn("output not removed", "job", t.Key.Job, "err", err)
		}
	}
}

// note appends PBS's words to the job's standard error, where its owner looks.
func (o *output) note(t Task, text string) error { return o.write(t, stderr, text) }

// Write appends a line to the streams of a job that has them; without one it is the
// standard error.
func (r *Runner) Write(text string, output, failure bool) error {
	var errs []error
	t := r.Task()
	if output {
		errs = append(errs, r.site.output().write(t, stdout, text))
	}
	if failure || !output {
		errs = append(errs, r.site.output().write(t, stderr, text))
	}
	return errors.Join(errs...)
}

// Append adds output of a program to that of the job, if this host keeps it.
func (r *Runner) Append(output, failure []byte) error {
	t := r.Task()
	if t.Sister() || t.interactive() {
		return nil
	}
	return errors.Join(r.site.output().append(t, stdout, output), r.site.output().append(t, stderr, failure))
}

func (o *output) append(t Task, kind string, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if streams := t.streams(); len(streams) == 1 {
		kind = streams[0]
	}
	f, err := os.OpenFile(o.spool.Output(t.Key.Job, kind), os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) && t.kept(kind) {
		return o.writeDirect(t, kind, data)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// write appends a line to a stream; joined ones are the same file.
func (o *output) write(t Task, kind, text string) error {
	switch streams := t.streams(); len(streams) {
	case 0:
		return o.tell(t, text)
	case 1:
		kind = streams[0]
	}
	f, err := os.OpenFile(o.spool.Output(t.Key.Job, kind), os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) && t.kept(kind) {
		return o.writeDirect(t, kind, []byte(text+"\n"))
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	return errors.Join(err, f.Close())
}

// writeDirect appends to a file that the program writes in its place.
func (o *output) writeDirect(t Task, kind string, data []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), noteWait)
	defer cancel()
	a, err := o.owners.account(ctx, t)
	if err != nil {
		return err
	}
	path := o.direct(t, a, kind)
	return proc.AsOwner(ctx, o.owners.owner(a), func() error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	})
}
