package mom

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
)

// discardFor bounds what is done about folders of the owner when a checkpoint is dropped.
const discardFor = 10 * time.Second

// checkpointJob has a job checkpointed and ended, or drops what is kept of its checkpoint.
func (d *delivery) checkpointJob(ctx context.Context, k spool.TaskKey, order *api.CheckpointJob) error {
	if order.GetDiscard() {
		d.mom.lines.Job(pbs.LogDebug, k.Job, "drop checkpoint request received")
		ctx, cancel := context.WithTimeout(ctx, discardFor)
		defer cancel()
		return d.life.site.DiscardCheckpoint(ctx, k, !d.life.here(k.Job))
	}
	d.mom.lines.Job(pbs.LogDebug, k.Job, "hold job request received")
	s := d.mom.settings.Load()
	err := d.life.tell(ctx, k, task.Checkpoint{Able: s.CheckpointAbort != nil, Joint: s.Checkpoint != nil})
	if err == nil {
		d.mom.lines.Job(pbs.LogDebug, k.Job, "req_holdjob: Checkpoint initiated.")
	}
	return err
}

// here reports whether a run of the job is on this host.
func (l *life) here(job pbs.JobID) bool {
	for _, r := range l.all() {
		if t := r.Task(); t.Key.Job == job && t.State() != task.Ended {
			return true
		}
	}
	return false
}

// action reads a line $action NAME TIMEOUT !PATH ARG... Actions that the mom does by itself in
// one way only are passed over.
func (s *settings) action(f []string) error {
	names := map[string]**task.ActionScript{"checkpoint": &s.Checkpoint, "checkpoint_abort": &s.CheckpointAbort, "restart": &s.Restart, "terminate": &s.Terminate}
	if len(f) < 2 {
		return errors.New("$action wants NAME TIMEOUT !PATH and arguments")
	}
	to, known := names[f[1]]
	if !known {
		return nil
	}
	if len(f) < 4 || !strings.HasPrefix(f[3], "!") {
		return fmt.Errorf("$action %s wants TIMEOUT !PATH and arguments", f[1])
	}
	seconds, err := strconv.ParseUint(f[2], 10, 31)
	if err != nil {
		return fmt.Errorf("$action %s: %q is no number of seconds", f[1], f[2])
	}
	path := strings.TrimPrefix(f[3], "!")
	if !filepath.IsAbs(path) {
		return fmt.Errorf("$action %s: %q is no absolute path", f[1], path)
	}
	*to = &task.ActionScript{Timeout: time.Duration(seconds) * time.Second, Path: path, Args: f[4:]}
	return nil
}
