package pbs

import (
	"context"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/transport/api"
)

// rdel removes reservations (specification: advance-reservations section 5).
func rdel() *cli.Command {
	c := &cli.Command{
		Name: "pbs_rdel", Summary: "delete reservations", Grammar: own("q:"), UsageStatus: 2,
		Usage: "usage:\tpbs_rdel [-q dest] resv_identifier...\n      \tpbs_rdel --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		server := strings.TrimPrefix(opts.Last("q"), "@")
		switch {
		case opts.Has("q") && server == "":
			return c.Misuse("illegal -q value")
		case len(opts.Operands) == 0:
			return c.Misuse()
		}
		s, err := open(env, c, opts)
		if err != nil {
			return err
		}
		for _, id := range opts.Operands {
			if s.deleteReservation(ctx, id, server) {
				break
			}
		}
		return s.end()
	}
	return c
}

// deleteReservation tells of a failure, and whether it makes trying the others useless.
func (s *session) deleteReservation(ctx context.Context, operand, server string) (fatal bool) {
	call := s.next(ctx)
	id, err := s.reservationOf(at(operand, server))
	if err != nil {
		return s.fail(err, nil)
	}
	if _, err = s.batch.DeleteReservation(call, connect.NewRequest(&api.DeleteReservationRequest{Reservation: id})); err != nil {
		return s.fail(err, func(text string) string { return text + " " + s.fullID(ctx, id) })
	}
	return false
}
