package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/mom/files"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// stagedIn goes on when the files of the job have come, or will not.
func (t mother) stagedIn(ev StagedIn) (Task, []Action, error) {
	if t.State() != Accepted || !t.Staging.underWay() {
		return t.Task, nil, nil
	}
	come := t.Staging.step(comeWord)
	t.Staging = t.Staging.step(notComeWord)
	switch {
	case t.Life.Causes.has(Aborted):
		return t.lost("the mom was stopped")
	case t.Life.Causes.has(Fenced):
		return t.neverStarted(spool.Ended{ExitStatus: pbs.ExitRetry, Comment: fencedComment})
	case t.Life.Kill.ordered():
		return t.neverStarted(spool.Ended{ExitStatus: pbs.ExitTerminated})
	case ev.Failure != "":
		return t.neverStarted(spool.Ended{ExitStatus: pbs.ExitRetry, Comment: ev.Failure, StageInFailed: true})
	}
	t.Staging = come
	return t.fetched()
}

// stagedOut goes on to the output; what could not be moved is told with it.
func (t mother) stagedOut(ev StagedOut) (Task, []Action, error) {
	if t.State() != Delivering || t.Result.NeverStarted {
		return t.Task, nil, nil
	}
	t.Staging = t.Staging.out(ev)
	return t.Task, t.delivery(), nil
}

// itemsIn and itemsOut are the job's lists.
func (o Order) itemsIn() []pbs.Staged  { return pbs.ParseStagedList(o.Attrs.Get("stagein")) }
func (o Order) itemsOut() []pbs.Staged { return pbs.ParseStagedList(o.Attrs.Get("stageout")) }

// A Mover copies files of jobs. A *files.Error or a refusal in the chain of its error would come
// again, files.ErrUnreachable says that the other host does not answer.
type Mover interface {
	Do(ctx context.Context, e files.Transfer) (files.Moved, error)
}

// A place is a path of a host: of this one if host is empty, and then it is absolute. It is the
// folder's if folder is set.
type place struct{ host, path string }

// stager brings files of jobs to this host and away from it.
type stager struct {
	host     pbs.HostName
	owners   owners
	folders  *folders
	mover    Mover // nil: files stay on this host
	spool    *spool.Spool
	settings func() Settings
	lines    Lines
	logger   *slog.Logger
}

// route finds out where a path of a host is reached from here: $usecp leads to a path of this
// host, and so does its own name.
func (g *stager) route(a Account, host, path string) place {
	for _, u := range g.settings().UseCopy {
		if rest, below := strings.CutPrefix(path, u.From); below && u.matches(host) {
			return place{path: u.To + rest}
		}
	}
	if host != "" && !isLocal(g.host, host) {
		return place{host, path}
	}
	return place{path: files.Absolute(a.Home, path)}
}

// transfer returns what is to be done for one item.
func (g *stager) transfer(t Task, a Account, item pbs.Staged, out bool) files.Transfer {
	there := g.route(a, item.Host, item.Remote)
	e := g.carriage(t, a)
	e.Out, e.Here, e.Host, e.There = out, files.Absolute(g.folders.jobDir(t, a), item.Local), there.host, there.path
	return e
}

// carriage returns what all transfers of a job have in common.
func (g *stager) carriage(t Task, a Account) files.Transfer {
	remote, _, _ := strings.Cut(t.Attrs.Get("Job_Owner"), "@")
	return files.Transfer{
		Job: t.Key.Job, Run: t.Key.Run, Owner: g.owners.owner(a), User: a.Name, Home: a.Home, Remote: remote,
	}
}

// do carries a transfer out, but not to a host that has not answered to the last one.
func (g *stager) do(ctx context.Context, e files.Transfer, dead map[string]error) (files.Moved, error) {
	if err, known := dead[e.Host]; known {
		return files.Moved{}, err
	}
	if g.mover == nil {
		return files.Moved{}, &files.Error{Reason: "this mom does not move files"}
	}
	moved, err := g.mover.Do(ctx, e)
	if errors.Is(err, files.ErrUnreachable) {
		dead[e.Host] = err
	}
	return moved, err
}

// in brings the files that the job needs. A job whose files do not all come keeps none.
func (g *stager) in(ctx context.Context, t Task) StagedIn {
	a, err := g.owners.account(ctx, t)
	dead := make(map[string]error)
	if err == nil {
		g.takeOver(ctx, t, a, dead)
	}
	if len(t.itemsIn()) == 0 {
		return StagedIn{} // what is wrong with the account the start tells
	}
	g.lines.Job(pbs.LogDebug, t.Key.Job, "copy file request received")
	if err == nil {
		err = g.folders.make(ctx, t, a)
	}
	if err != nil {
		return StagedIn{Failure: "File stage in failed: " + err.Error()}
	}
	for _, item := range t.itemsIn() {
		moved, err := g.do(ctx, g.transfer(t, a, item, false), dead)
		if note := g.spool.NoteStaged(t.Key, moved.Wrote); err == nil {
			err = note
		}
		if err != nil {
			text := fmt.Sprintf("Unable to copy file %s from %s:%s: %v", item.Local, item.Host, item.Remote, err)
			if ctx.Err() == nil {
				g.lines.File(pbs.LogAdmin, t.Key.Job, text)
			}
			sweeping, done := context.WithTimeout(context.WithoutCancel(ctx), sweepFor)
			g.sweep(sweeping, t)
			done()
			return StagedIn{Failure: "File stage in failed: " + text}
		}
	}
	n := len(t.itemsIn())
	g.lines.Job(pbs.LogDebug2, t.Key.Job, fmt.Sprintf("Staged %d/%d items in over 0:00:00", n, n))
	return StagedIn{}
}

// takeOver fetches what earlier runs have written on another host, behind which this one goes on. What cannot be had is missing in the
// job's output, and keeps nobody from running.
func (g *stager) takeOver(ctx context.Context, t Task, a Account, dead map[string]error) {
	if t.OutputAt == "" {
		return
	}
	for _, kind := range []string{stdout, stderr} { // both, also if they were joined meanwhile
		if t.kept(kind) || t.interactive() {
			continue
		}
		e := g.carriage(t, a)
		e.Output, e.Here, e.Host, e.There = true, g.spool.Output(t.Key.Job, kind), t.OutputAt, kind
		if _, err := g.do(ctx, e, dead); err != nil && ctx.Err() == nil && slices.Contains(t.streams(), kind) {
			g.lines.File(pbs.LogAdmin, t.Key.Job, fmt.Sprintf("Unable to fetch earlier output %s from %s: %v", kind, t.OutputAt, err))
		}
	}
}

// out brings what the job has made to where its owner wants it. What was moved is noted
// for its removal, which begins when it is on record that all of it was.
func (g *stager) out(ctx context.Context, t Task) StagedOut {
	g.lines.Job(pbs.LogDebug, t.Key.Job, "copy file request received")
	g.announceExiting(t)
	a, err := g.owners.account(ctx, t)
	if err != nil {
		return StagedOut{Failure: "File stage out failed: " + err.Error()}
	}
	dead := make(map[string]error)
	var failures, sent []string
	for _, item := range t.itemsOut() {
		moved, err := g.do(ctx, g.transfer(t, a, item, true), dead)
		if err != nil {
			text := fmt.Sprintf("Unable to copy file %s to %s:%s: %v", item.Local, item.Host, item.Remote, err)
			failures = append(failures, text)
			if ctx.Err() == nil {
				g.lines.File(pbs.LogAdmin, t.Key.Job, text)
			}
			continue
		}
		if !moved.Same {
			sent = append(sent, moved.Sent...)
		}
	}
	n := len(t.itemsOut())
	g.lines.Job(pbs.LogDebug2, t.Key.Job, fmt.Sprintf("Staged %d/%d items out over 0:00:00", n-len(failures), n))
	if len(failures) > 0 {
		out := StagedOut{Failure: "File stage out failed: " + strings.Join(failures, "; ")}
		for host, err := range dead {
			if out.Dead == nil {
				out.Dead = make(map[string]string)
			}
			out.Dead[host] = err.Error()
		}
		return out
	}
	if err := g.spool.NoteStaged(t.Key, sent); err != nil {
		g.logger.Warn("staged files stay", "job", t.Key.Job, "err", err)
	}
	return StagedOut{}
}

// announceExiting lets users see that the job's files are on their way, which may take long.
func (g *stager) announceExiting(t Task) {
	if err := g.spool.Append(spool.Fact{Task: t.Key, Exiting: &spool.Exiting{}}); err != nil {
		g.logger.Warn("stage-out not reported", "job", t.Key.Job, "err", err)
	}
}

// sweep removes files that were staged and are needed no more.
func (g *stager) sweep(ctx context.Context, t Task) {
	paths, err := g.spool.Staged(t.Key)
	if err == nil && len(paths) > 0 {
		var a Account
		if a, err = g.owners.account(ctx, t); err == nil {
			err = proc.AsOwner(ctx, g.owners.owner(a), func() error { return files.Remove(paths) })
		}
	}
	if err != nil && ctx.Err() == nil {
		g.lines.File(pbs.LogAdmin, t.Key.Job, fmt.Sprintf("Unable to delete file %v", err))
	}
}

// jobDir returns the staging and execution folder of the job, as sandbox says.
func (f *folders) jobDir(t Task, a Account) string {
	switch t.Attrs.Get("sandbox") {
	case "PRIVATE":
		parent := f.settings().JobDirRoot
		if parent == "" {
			parent = a.Home
		}
		return filepath.Join(parent, "pbs."+string(t.Key.Job)+".x8z") // as PBS calls it
	case "O_WORKDIR":
		for _, v := range splitVariables(t.Attrs.Get("Variable_List")) {
			if v.name == "PBS_O_WORKDIR" && filepath.IsAbs(v.value) {
				return v.value
			}
		}
	}
	return a.Home
}

// private reports whether the job has a folder of its own.
func (o Order) private() bool { return o.Attrs.Get("sandbox") == "PRIVATE" }

func (f *folders) makeJobDir(t Task, a Account) error {
	if !t.private() {
		return nil
	}
	dir := f.jobDir(t, a)
	var err error
	if f.settings().JobDirRoot == "" {
		err = f.system.MakeDir(f.owners.owner(a), dir)
	} else {
		err = f.takePlace(t, a, dir)
	}
	if err != nil {
		return fmt.Errorf("make job directory: %w", err)
	}
	return nil
}

// removeJobDir leaves the folder of a job whose files could not be staged out.
func (f *folders) removeJobDir(t Task, a Account) error {
	if !t.private() || t.Staging.Failure != "" {
		return nil
	}
	dir := f.jobDir(t, a)
	err := f.system.RemoveDir(f.owners.owner(a), dir)
	if f.settings().JobDirRoot != "" {
		err = proc.RemoveEmptyDir(dir)
	}
	return err
}
