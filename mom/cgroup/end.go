package cgroup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Kill kills what is left in a run's cgroup, which stays.
func (m *Manager) Kill(ctx context.Context, job string, run uint32) (left int, err error) {
	return m.empty(ctx, m.Room(job, run).Folders)
}

const (
	endEvery = 10 * time.Millisecond // between looks at what is being killed
	endFor   = 10 * time.Second      // then a process counts as one that survives SIGKILL
)

// End kills whatever is left in a run's cgroup and removes it; cpus and GPUs are free then. It
// returns how many processes have survived, of which nothing can be done.
func (m *Manager) End(ctx context.Context, job string, run uint32) (left int, err error) {
	m.mu.Lock()
	e, ok := m.jobs[job]
	m.mu.Unlock()
	if !ok {
		return 0, nil
	}
	e.Lock()
	defer e.Unlock()
	if e.Run != run {
		return 0, nil
	}
	left, err = m.empty(ctx, e.Folders)
	if err == nil && left == 0 {
		err = m.options.Remove(e.Folders)
	}
	if err == nil && left == 0 {
		if err = os.Remove(m.file(job)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil || left > 0 {
		return left, err // Sweep tries again
	}
	m.forget(job)
	return 0, nil
}

// empty kills until nothing is left, or the time is over.
func (m *Manager) empty(ctx context.Context, folders []string) (left int, err error) {
	if len(folders) == 0 {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, endFor)
	defer cancel()
	tick := time.NewTicker(endEvery)
	defer tick.Stop()
	for {
		if left, err = m.options.Kill(folders); err != nil || left == 0 {
			return left, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return left, nil
		}
	}
}

// Sweep ends what belongs to no live run: of an earlier mom, or what could not be removed in
// time. It returns the jobs.
func (m *Manager) Sweep(ctx context.Context, live func(job string, run uint32) bool) (ended []string, err error) {
	m.mu.Lock()
	all := make([]assignment, 0, len(m.jobs))
	for _, e := range m.jobs {
		all = append(all, assignment{Job: e.Job, Run: e.Run})
	}
	m.mu.Unlock()
	slices.SortFunc(all, func(a, b assignment) int { return strings.Compare(a.Job, b.Job) })
	var errs []error
	for _, a := range all {
		if live(a.Job, a.Run) {
			continue
		}
		if _, err := m.End(ctx, a.Job, a.Run); err != nil {
			errs = append(errs, err)
			continue
		}
		ended = append(ended, a.Job)
	}
	return ended, errors.Join(errs...)
}

func (m *Manager) file(job string) string { return filepath.Join(m.options.Dir, job) }

// write notes what a job has, for the next mom. It need not outlive the host's crash.
func (m *Manager) write(a assignment) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(m.options.Dir, 0o700); err != nil {
		return fmt.Errorf("note the cgroup of a job: %w", err)
	}
	tmp := filepath.Join(m.options.Dir, "."+a.Job+".tmp")
	if err := os.WriteFile(tmp, text, 0o600); err != nil {
		return fmt.Errorf("note the cgroup of a job: %w", err)
	}
	return os.Rename(tmp, m.file(a.Job))
}
