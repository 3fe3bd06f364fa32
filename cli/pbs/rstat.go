package pbs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rampart/cli"
	"rampart/fsm/pbs"
)

// rstat shows reservations (specification: advance-reservations section 4). There are none
// yet: what is named is unknown, and of all there are nothing is shown.
func rstat() *cli.Command {
	c := &cli.Command{
		Name: "pbs_rstat", Summary: "show reservations", Grammar: own("BfFS"), UsageStatus: 1,
		Usage: "Usage:\n\tpbs_rstat [-fFBS] [reservation-id]\n\tpbs_rstat --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		s, err := open(env, c, opts)
		if err != nil {
			return rstatUnreachable(env, opts, err)
		}
		if err := s.showReservations(ctx, opts.Operands); err != nil {
			return rstatUnreachable(env, opts, err)
		}
		return s.end()
	}
	return c
}

// showReservations tells of each operand that it is unknown, which is no failure in PBS.
func (s *session) showReservations(ctx context.Context, operands []string) error {
	if len(operands) == 0 {
		return s.reach(ctx)
	}
	for _, id := range operands {
		if _, err := pbs.ParseJobID(id, "server"); err != nil && !pbs.NamesReservation(id) {
			s.complain("illegally formed reservation identifier: "+id, 1)
			continue
		}
		_, server, _ := strings.Cut(id, "@")
		if err := s.mean(server); err != nil {
			return err
		}
		if err := s.reach(ctx); err != nil {
			return err
		}
		s.complain(pbs.UnknownReservation.Text(), s.status)
	}
	return nil
}

// rstatUnreachable tells that there is no server in pbs_rstat's own words.
func rstatUnreachable(env *cli.Env, opts *cli.Options, err error) error {
	var down *cli.Unreachable
	if !errors.As(cli.Located(env.Target(opts.Last("server")).Server, err), &down) {
		return err
	}
	cause, code := "Connection refused", pbs.SystemError
	if errors.Is(down, pbs.Refuse(pbs.NoServer)) {
		cause, code = "Unknown Host.", pbs.UnknownHost
	}
	fmt.Fprintf(env.Stderr, "%s\npbs_rstat: cannot connect to server (errno=%d)\n", cause, code)
	return cli.Status(code.ExitStatus())
}
