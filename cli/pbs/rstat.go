package pbs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"

	"rampart/cli"
	"rampart/cli/render"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// narrowSequence is the greatest max_job_sequence_id whose identifiers fit into the narrow tables of pbs_rstat and qstat.
const narrowSequence = 9999999

// rstat shows reservations (specification: advance-reservations section 4).
func rstat() *cli.Command {
	c := &cli.Command{
		Name: "pbs_rstat", Summary: "show reservations", Grammar: own("BfFS"), UsageStatus: 1,
		Usage: "Usage:\n\tpbs_rstat [-fFBS] [reservation-id]\n\tpbs_rstat --version\n",
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		server := env.Target(opts.Last("server")).Server
		s, err := open(env, c, opts)
		if err != nil {
			return unreachable(env, c, server, err)
		}
		shown := &shownReservations{s: s, out: bufio.NewWriter(env.Stdout), long: opts.Has("f") || opts.Has("F"), names: opts.Has("B")}
		err = shown.all(ctx, opts.Operands)
		if flushed := shown.out.Flush(); err == nil {
			err = flushed
		}
		if err != nil {
			return unreachable(env, c, s.meant, err)
		}
		return s.end()
	}
	return c
}

// shownReservations is the output of pbs_rstat in the making.
type shownReservations struct {
	s     *session
	out   *bufio.Writer
	long  bool
	names bool
	table *render.ReservationTable // once its head is written
}

// all shows all reservations, or those that are named.
func (v *shownReservations) all(ctx context.Context, operands []string) error {
	if len(operands) == 0 {
		return v.show(ctx)
	}
	for _, operand := range operands {
		id, err := v.s.reservationOf(operand)
		if errors.Is(err, pbs.Refuse(pbs.BadJobID)) {
			v.complain(err.Error(), 1)
			continue
		}
		if err == nil {
			err = v.show(ctx, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// show shows the reservations of these names, or all. That one is unknown is no failure in PBS.
func (v *shownReservations) show(ctx context.Context, ids ...string) error {
	r := &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_RESERVATION, Names: ids}
	switch {
	case v.long:
	case v.names:
		r.Attributes = []string{"reserve_state"}
	default:
		r.Attributes = render.ReservationColumns
	}
	err := v.s.list(ctx, r, nil, func(o *api.Object) error {
		if o.Refusal != nil {
			return refusal(o)
		}
		return v.one(ctx, o)
	})
	if errors.Is(err, pbs.Refuse(pbs.UnknownReservation)) {
		v.complain(pbs.UnknownReservation.Text(), v.s.status)
		return nil
	}
	return err
}

// complain tells of an operand, and keeps output and errors in their order on a terminal.
func (v *shownReservations) complain(text string, status int) {
	_ = v.out.Flush()
	v.s.complain(text, status)
}

func (v *shownReservations) one(ctx context.Context, o *api.Object) error {
	switch {
	case v.long:
		render.Reservation(v.out, o, v.s.env.Zone)
		return nil
	case v.names:
		fmt.Fprintf(v.out, "Resv ID: %s\n", o.Name)
		return nil
	}
	if v.table == nil {
		wide, err := v.s.wideSequence(ctx, false)
		if err != nil {
			return err
		}
		v.table = &render.ReservationTable{Wide: wide, Now: v.s.env.Now().In(v.s.env.Zone)}
		v.table.Head(v.out)
	}
	v.table.Row(v.out, o)
	return nil
}

// wideSequence asks whether the server's identifiers may be longer than usual, stale as what they are shown of.
func (s *session) wideSequence(ctx context.Context, stale bool) (bool, error) {
	_, servers, err := s.objects(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"max_job_sequence_id"}, Stale: stale,
	})
	if err != nil || len(servers) == 0 {
		return false, err
	}
	most, err := strconv.ParseInt(value(servers[0], "max_job_sequence_id"), 10, 64)
	return err == nil && most > narrowSequence, nil
}
