package mom

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/own"
)

// defaultPrologAlarm is how long a prologue or an epilogue may take; $prologalarm says another.
const defaultPrologAlarm = 30 * time.Second

// prologue runs mom_priv/prologue before the program of a job. Exit status 1 deletes the job; any other but 0 sends it back to the queue.
func (r hookRunner) prologue(ctx context.Context, t task.Task) error {
	err := r.pelog(ctx, t, "prologue", r.life.site.Prologue)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	refusal := task.ErrHook
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		refusal = task.ErrHookDelete
		r.append(t.Key, &spool.Hook{Name: "prologue", Delete: []spool.TaskKey{t.Key}})
	}
	return fmt.Errorf("prologue failed, %w: %w", err, refusal)
}

// epilogue runs mom_priv/epilogue when the last process of a job is gone.
func (r hookRunner) epilogue(ctx context.Context, t task.Task) {
	var asked, used []string
	for _, a := range t.Attrs {
		if a.Name == "Resource_List" {
			asked = append(asked, a.Resource+"="+a.Value)
		}
	}
	for _, u := range t.Result.Used {
		used = append(used, u.Resource+"="+u.Value)
	}
	account := t.Attrs.Get("Account_Name")
	_ = r.pelog(ctx, t, "epilogue", r.life.site.Epilogue, t.Attrs.Get("Job_Name"), strconv.Itoa(t.Handle.Session), strings.Join(asked, ","), strings.Join(used, ","),
		t.Attrs.Get("queue"), account, strconv.Itoa(t.Result.ExitStatus)) // it is over, whatever comes of this
}

type pelogRun func(ctx context.Context, t task.Task, path string, most time.Duration, args ...string) error

// pelog runs one of the two with the arguments that it has in a PBS, if the site has it.
func (r hookRunner) pelog(ctx context.Context, t task.Task, name string, run pelogRun, more ...string) error {
	path := r.mom.config.path("mom_priv", name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	args := append([]string{string(t.Key.Job), t.Attrs.Get("euser"), t.Attrs.Get("egroup")}, more...)
	err := own.Closed(path)
	if err == nil {
		err = run(ctx, t, path, r.mom.settings.Load().prologAlarm, args...)
	}
	if err != nil {
		r.mom.lines.Job(pbs.LogError, t.Key.Job, name+" failed: "+err.Error())
		return err
	}
	r.mom.lines.Job(pbs.LogJob, t.Key.Job, "running "+name)
	return nil
}
