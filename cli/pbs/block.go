package pbs

import (
	"context"
	"fmt"
	"strconv"

	"rampart/cli"
	"rampart/transport/api"
)

// The exit statuses of a qsub that waits and has none of its job to tell.
const (
	blockInterrupted = 2
	blockNeverRan    = 3
)

// block waits for the end of a job and returns its exit status as qsub's own (qsub -W
// block=true). The job goes on when the wait is interrupted.
func (s *session) block(ctx context.Context, job string) error {
	exit := 0
	r := &api.WatchRequest{Names: []string{job}, Attributes: []string{"job_state", "Exit_status"}}
	err := s.watch(ctx, r, true, func(m *api.WatchReply) (bool, error) {
		for _, o := range m.Objects {
			switch {
			case o.Refusal != nil:
				return true, refusal(o)
			case value(o, "job_state") == "F":
				exit = blockNeverRan
				if n, err := strconv.Atoi(value(o, "Exit_status")); err == nil {
					exit = n
				}
				return true, nil
			}
		}
		if len(m.Gone) > 0 {
			exit = blockNeverRan
			if g := m.Gone[0]; g.Exited {
				exit = int(g.ExitStatus)
			}
		}
		return len(m.Gone) > 0, nil
	})
	switch {
	case ctx.Err() != nil:
		s.complain(fmt.Sprintf("wait for job %s interrupted: %v", job, context.Cause(ctx)), blockInterrupted)
	case err != nil:
		s.fail(err, func(text string) string { return text + " " + job })
	case exit != 0:
		return cli.Status(exit & 0xff)
	}
	return s.end()
}
