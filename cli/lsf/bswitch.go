package lsf

import (
	"context"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

func bswitch() *cli.Command {
	g := cli.Grammar{Letters: "J:m:q:u:", Dashed: map[string]bool{"app": true, "g": true, "sla": true, "a": true}}
	usage := "bswitch [-h] [-V] [-J job_name] [-m host_name] [-q queue_name]\n             [-u user_name | -u all] destination_queue [job_ID | \"job_ID[index]\" | 0] ...\n"
	return command("bswitch", "move jobs that wait to another queue", usage, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "app", "g", "sla", "a"); err != nil {
			return err
		}
		if len(opts.Operands) == 0 {
			return s.command.Misuse("Destination queue must be specified")
		}
		queue := opts.Operands[0]
		return s.tellEach(ctx, opts.Only(opts.Operands[1:]), "is switched to queue <"+queue+">", func(ctx context.Context, j job) error {
			_, err := s.batch.Move(ctx, connect.NewRequest(&api.MoveRequest{Job: j.Name, Destination: queue}))
			if refusedWith(err, pbs.UnknownQueue) {
				return pbs.Errorf(pbs.UnknownQueue, "%s: No such queue", queue)
			}
			return err
		})
	})
}
