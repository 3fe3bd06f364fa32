package lsf

import (
	"context"
	"fmt"
	"strconv"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// await is bsub -K: it tells when the job starts and ends, and has its exit status.
func (s *session) await(ctx context.Context, job string) error {
	if !s.hushed("BSUB_QUIET") {
		fmt.Fprintln(s.env.Stderr, "<<Waiting for dispatch ...>>")
	}
	return (&waiting{session: s}).end(ctx, job)
}

// hushed reports whether the environment has a variable by which LSF says less: BSUB_QUIET, BSUB_QUIET2, or elsewhere: BSUB_STDERR.
func (s *session) hushed(name string) bool {
	_, said := s.env.Lookup(name)
	return said
}

// end returns the exit status of the job once that is over.
func (w *waiting) end(ctx context.Context, job string) error {
	r := &api.WatchRequest{Names: []string{job}, Attributes: jobAttributes}
	err := cli.Watch(ctx, w.batch, r, true, func(m *api.WatchReply) (over bool, err error) { return w.hear(m), nil })
	switch {
	case ctx.Err() != nil:
		return told(fmt.Sprintf("wait for job %s interrupted: %v", job, context.Cause(ctx)))
	case err != nil:
		return err
	case w.exit != 0:
		return cli.Status(shellStatus(w.exit))
	}
	return nil
}

// shellStatus returns an exit status of PBS as a shell has it: of a job that a signal has ended 128 and its number.
func shellStatus(exit int) int {
	if exit >= pbs.ExitSignal {
		exit += 128 - pbs.ExitSignal
	}
	return exit & 0xff
}

// A waiting is what has been told of a job.
type waiting struct {
	*session
	quiet   bool // nothing is said of its start and its end
	started bool
	exit    int
}

// hear tells of what has become of the job, and reports whether it is over.
func (w *waiting) hear(m *api.WatchReply) (over bool) {
	for _, o := range m.Objects {
		if o.Refusal != nil {
			return w.over(failed)
		}
		j := newJob(o)
		if hosts := j.shares(); !w.started && !w.quiet && len(hosts) > 0 && !j.pending() {
			w.started = true
			fmt.Fprintf(w.env.Stderr, "<<Starting on %s>>\n", hosts[0].host)
		}
		if j.get("job_state") == "F" {
			exit, err := strconv.Atoi(j.get("Exit_status"))
			if err != nil {
				exit = failed
			}
			return w.over(exit)
		}
	}
	if len(m.Gone) == 0 {
		return false
	}
	if g := m.Gone[0]; g.Exited {
		return w.over(int(g.ExitStatus))
	}
	return w.over(failed)
}

func (w *waiting) over(exit int) bool {
	w.exit = exit
	if !w.quiet && !w.hushed("BSUB_QUIET2") {
		fmt.Fprintln(w.env.Stderr, "<<Job is finished>>")
	}
	return true
}
