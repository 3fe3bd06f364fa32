package pbs

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/transport/api"
)

const ralterUsage = `usage: pbs_ralter [-I seconds] [-m mail_points] [-M mail_list]
                [-N reservation_name] [-R start_time] [-E end_time]
                [-U (+/-)username[,(+/-)username]...]
                [-G [(+/-)group[,(+/-)group]...]]
                [-D duration]
                [-W force]
                resv_id
       pbs_ralter --version
`

// ralter changes a reservation (specification: advance-reservations section 6).
func ralter() *cli.Command {
	c := &cli.Command{
		Name: "pbs_ralter", Summary: "change a reservation", Grammar: own("D:E:G:I:l:m:M:N:R:U:W:"), Usage: ralterUsage, UsageStatus: 2,
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		b := &booking{request: request{env: env, qalter: true}}
		if err := b.readAlteration(c, opts); err != nil {
			return err
		}
		s, err := open(env, c, opts)
		if err != nil {
			return err
		}
		return s.alterReservation(ctx, &api.AlterReservationRequest{
			Reservation: opts.Operands[0], Changes: b.changes, Force: opts.Has("W"),
		}, opts.Has("I"))
	}
	return c
}

func (b *booking) readAlteration(c *cli.Command, opts *cli.Options) error {
	b.common(opts)
	if opts.Has("D") {
		length, err := resource.Parse(resource.Time, opts.Last("D"))
		if err != nil {
			b.bad("D", "")
		}
		b.set("reserve_duration", "", strconv.FormatInt(length.Int(), 10))
	}
	for _, v := range opts.All("l") {
		if !b.amounts(v) {
			b.bad("l", "")
		}
	}
	forced := opts.Has("W")
	for _, v := range opts.All("W") {
		if v != "force" {
			b.bad("W", "")
			forced = false
		}
	}
	if forced && !timed(opts) && !opts.Has("D") {
		b.faults = append(b.faults, noSupport().Error())
	}
	for _, a := range b.changes {
		if a.Name == "Resource_List" && (a.Resource != "select" || a.Value == "") {
			fmt.Fprintf(b.env.Stderr, "%s -l only allows for select\n", c.Name)
			return c.Misuse(b.faults...)
		}
	}
	if len(b.faults) > 0 || len(opts.Operands) != 1 {
		return c.Misuse(b.faults...)
	}
	return b.tooLong(c)
}

// alterReservation asks the server; wait: until it is decided.
func (s *session) alterReservation(ctx context.Context, m *api.AlterReservationRequest, wait bool) error {
	id, err := s.reservationOf(m.Reservation)
	if errors.Is(err, pbs.Refuse(pbs.BadJobID)) {
		s.complain(err.Error(), s.command.UsageStatus)
		return s.end()
	}
	var reply *connect.Response[api.AlterReservationReply]
	if err == nil {
		m.Reservation = id
		reply, err = s.batch.AlterReservation(s.only(ctx), connect.NewRequest(m))
	}
	if err != nil {
		s.fail(err, nil)
		return s.end()
	}
	outcome := "ALTER REQUESTED"
	if wait {
		outcome = reserved(reply.Msg.Outcome)
	}
	_, err = fmt.Fprintf(s.env.Stdout, "%s: %s %s\n", s.command.Name, s.fullID(ctx, id), outcome)
	return err
}
