package admin

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport/api"
)

func scheduleCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "schedule",
		Usage: "have every replica make backups, or show what is scheduled",
		Description: "A backup is a folder with a snapshot and the accounting that it counts. Each replica makes its\n" +
			"own, reads it back, and removes those that are too many.",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "every", Usage: "make one so often, such as 6h"},
			&cli.UintFlag{Name: "keep", Usage: "keep so many", Value: 8},
			&cli.StringFlag{Name: "dir", Usage: "in a folder of the replica's name in `DIR` (default: in PBS_HOME/backups)"},
			&cli.BoolFlag{Name: "off", Usage: "make no more; those that are there stay"},
			serverFlag,
		},
		Action: func(c *cli.Context) error {
			every := c.Duration("every")
			switch {
			case c.Bool("off") && every != 0:
				return errors.New("cluster snapshot schedule: --off and --every exclude each other")
			case c.Bool("off"):
				return Schedule(c.Context, env, c.String("server"), nil)
			case every == 0 && (c.IsSet("keep") || c.IsSet("dir")):
				return errors.New("cluster snapshot schedule: --every is missing")
			case every == 0:
				return ListBackups(c.Context, env, c.String("server"), true)
			}
			plan := &api.BackupPlan{EverySeconds: int64(every / time.Second), Keep: uint32(c.Uint("keep")), Dir: c.String("dir")}
			return Schedule(c.Context, env, c.String("server"), plan)
		},
	}
}

// Schedule has the replicas make backups; without a plan they make none any more.
func Schedule(ctx context.Context, env *Env, server string, plan *api.BackupPlan) error {
	client, err := env.Snapshots(server)
	if err != nil {
		return err
	}
	_, err = client.ScheduleBackups(env.WithRequestID(ctx), connect.NewRequest(&api.ScheduleBackupsRequest{Plan: plan}))
	if err != nil {
		return fmt.Errorf("cluster snapshot schedule: %w", err)
	}
	return nil
}

func listBackupsCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list the backups of the replica that answers: on its own host, that one",
		Flags: []cli.Flag{serverFlag},
		Action: func(c *cli.Context) error {
			return ListBackups(c.Context, env, c.String("server"), false)
		},
	}
}

// ListBackups prints the schedule and, unless that is all, the backups of a replica.
func ListBackups(ctx context.Context, env *Env, server string, planOnly bool) error {
	client, err := env.Snapshots(server)
	if err != nil {
		return err
	}
	r, err := client.ListBackups(ctx, connect.NewRequest(&api.ListBackupsRequest{}))
	if err != nil {
		return fmt.Errorf("cluster snapshot list: %w", err)
	}
	m := r.Msg
	if planOnly {
		_, err = fmt.Fprintln(env.Stdout, m.GetPlan())
		return err
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "replica %s, %s\nschedule: %s\n", m.GetReplica(), m.GetDir(), m.GetPlan())
	if m.GetTrouble() != "" {
		fmt.Fprintf(w, "trouble: %s\n", m.GetTrouble())
	}
	fmt.Fprintln(w, "BACKUP\tMADE\tINDEX\tJOBS\tBYTES")
	for _, b := range m.GetBackups() {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\n", b.GetName(), time.Unix(b.GetMade(), 0).UTC().Format(time.RFC3339), b.GetIndex(), b.GetJobs(), b.GetBytes())
	}
	return w.Flush()
}
