package lsf

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/transport/api"
)

// watchAgain is the pause before a watch that broke off goes on.
const watchAgain = 500 * time.Millisecond

// await is bsub -K: it tells when the job starts and ends, and has its exit status.
func (s *session) await(ctx context.Context, job string) error {
	fmt.Fprintln(s.env.Stderr, "<<Waiting for dispatch ...>>")
	return (&waiting{session: s}).end(ctx, job)
}

// end returns the exit status of the job once that is over.
func (w *waiting) end(ctx context.Context, job string) error {
	for {
		over, err := w.once(ctx, job)
		switch {
		case ctx.Err() != nil:
			return told(fmt.Sprintf("wait for job %s interrupted: %v", job, context.Cause(ctx)))
		case over:
			if w.exit == 0 {
				return nil
			}
			return cli.Status(w.exit & 0xff)
		case err != nil && !cli.Passing(err):
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(watchAgain):
		}
	}
}

// A waiting is what has been told of a job.
type waiting struct {
	*session
	quiet   bool // nothing is said of its start and its end
	started bool
	exit    int
}

func (w *waiting) once(ctx context.Context, name string) (over bool, err error) {
	stream, err := w.batch.Watch(ctx, connect.NewRequest(&api.WatchRequest{Names: []string{name}, Attributes: jobAttributes}))
	if err != nil {
		return false, err
	}
	defer stream.Close()
	for stream.Receive() {
		m := stream.Msg()
		for _, o := range m.Objects {
			if o.Refusal != nil {
				return w.over(failed), nil
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
				return w.over(exit), nil
			}
		}
		for _, g := range m.Gone {
			if !g.Exited {
				return w.over(failed), nil
			}
			return w.over(int(g.ExitStatus)), nil
		}
	}
	return false, stream.Err()
}

func (w *waiting) over(exit int) bool {
	w.exit = exit
	if !w.quiet {
		fmt.Fprintln(w.env.Stderr, "<<Job is finished>>")
	}
	return true
}
