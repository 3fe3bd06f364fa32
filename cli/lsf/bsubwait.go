package lsf

import (
	"context"
	"fmt"
	"strconv"

	"rampart/cli"
	"rampart/transport/api"
)

// await is bsub -K: it tells when the job starts and ends, and has its exit status.
func (s *session) await(ctx context.Context, job string) error {
	fmt.Fprintln(s.env.Stderr, "<<Waiting for dispatch ...>>")
	return (&waiting{session: s}).end(ctx, job)
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
		return cli.Status(w.exit & 0xff)
	}
	return nil
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
	if !w.quiet {
		fmt.Fprintln(w.env.Stderr, "<<Job is finished>>")
	}
	return true
}
