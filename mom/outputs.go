package mom

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// outputsEvery is how often it is looked for output of jobs that will not run again.
const outputsEvery = time.Hour

// keepOutputs removes, now and then, what runs that were sent back to the queue have left for later ones here, when the
// job has ended elsewhere.
func (m *Mom) keepOutputs(ctx context.Context, l *life) {
	if m.config.Objects == nil || !l.untilKnown(ctx) {
		return
	}
	tick := time.NewTicker(outputsEvery)
	defer tick.Stop()
	for {
		here := map[pbs.JobID]bool{}
		for _, r := range l.all() {
			here[r.Task().Key.Job] = true
		}
		if err := dropOutputs(ctx, m.config.path("spool"), here, m.runsNoMore); err != nil {
			m.config.Logger.Warn("output of earlier runs not removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// dropOutputs removes the output in a folder of jobs that are not here, and that over tells about.
func dropOutputs(ctx context.Context, dir string, here map[pbs.JobID]bool, over func(context.Context, pbs.JobID) (bool, error)) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		id, isOutput := strings.CutSuffix(e.Name(), ".OU")
		if !isOutput {
			id, isOutput = strings.CutSuffix(e.Name(), ".ER")
		}
		info, err := e.Info()
		if !isOutput || err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < outputsEvery || here[pbs.JobID(id)] {
			continue // one that has just ended here may be about to begin again
		}
		gone, err := over(ctx, pbs.JobID(id))
		if err == nil && gone {
			err = os.Remove(filepath.Join(dir, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// runsNoMore asks the servers whether a job has ended. One that runs may be on its way to this host.
func (m *Mom) runsNoMore(ctx context.Context, id pbs.JobID) (bool, error) {
	stream, err := m.config.Objects(ctx, connect.NewRequest(&api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: []string{string(id)}, Attributes: []string{"job_state"},
	}))
	if err != nil {
		return false, err
	}
	defer stream.Close()
	over := false
	for stream.Receive() {
		for _, o := range stream.Msg().GetObjects() {
			if r := o.GetRefusal(); r != nil {
				over = pbs.Code(r.GetCode()) == pbs.UnknownJob || pbs.Code(r.GetCode()) == pbs.HasFinished
				continue
			}
			for _, a := range o.GetAttributes() {
				over = over || a.GetName() == "job_state" && strings.Contains("FX", a.GetValue())
			}
		}
	}
	return over && stream.Err() == nil, stream.Err()
}
