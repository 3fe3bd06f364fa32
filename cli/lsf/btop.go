package lsf

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

func btop() *cli.Command {
	return placing("btop", "have a job that waits come first", "top", func(r *api.SwapRequest, n uint32) { r.FromTop = n })
}

func bbot() *cli.Command {
	return placing("bbot", "have a job that waits come last", "bottom", func(r *api.SwapRequest, n uint32) { r.FromBottom = n })
}

// placing makes a command that gives a job a place in its queue, counted from an end of it.
func placing(name, summary, end string, set func(*api.SwapRequest, uint32)) *cli.Command {
	return command(name, summary, name+" [-h] [-V] job_ID [position]\n", cli.Grammar{}, func(ctx context.Context, s *session, opts *cli.Options) error {
		if len(opts.Operands) < 1 || len(opts.Operands) > 2 {
			return s.command.Misuse("Job ID must be specified")
		}
		position := 1
		if len(opts.Operands) == 2 {
			n, err := strconv.Atoi(opts.Operands[1])
			if err != nil || n < 1 || n > math.MaxInt32 {
				return told(opts.Operands[1] + ": Illegal position, expected a number from 1 on")
			}
			position = n
		}
		return s.one(ctx, opts.Operands[0], fmt.Sprintf("has been moved to position %d from %s.", position, end), func(ctx context.Context, j job) error {
			if !j.pending() && !j.isArray() && !j.finished() {
				return pbs.Errorf(pbs.NotSupported, "Job has already started")
			}
			r := &api.SwapRequest{Job: j.Name}
			set(r, uint32(position))
			_, err := s.batch.Swap(ctx, connect.NewRequest(r))
			return err
		})
	})
}
