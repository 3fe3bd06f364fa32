package admin

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"rampart/cli/timeline"
	"rampart/fsm/pbs"
)

// TimelineOptions says whose timeline is drawn, and how.
type TimelineOptions struct {
	Server string
	Job    string
	Days   uint // how far to look back for a job that the servers know no more; 0: a week
	form
}

func jobCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:        "job",
		Usage:       "look at what jobs did",
		Subcommands: []*cli.Command{timelineCommand(env)},
	}
}

func timelineCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "timeline",
		Usage:     "draw which vnodes a job held when, its phases, and what it used in each",
		ArgsUsage: "JOB",
		Description: "It is drawn from the accounting records that the asked replica has. Managers see every job, owners\n" +
			"theirs while qstat -x knows them.",
		Flags: append(
			formFlags(),
			&cli.UintFlag{Name: "days", Usage: "look so many days back for a job that qstat -x does not know (default: 7)"},
			serverFlag,
		),
		Action: func(c *cli.Context) error {
			job, err := Operand(c, "job timeline", "job")
			if err != nil {
				return err
			}
			return Timeline(c.Context, env, TimelineOptions{
				Server: c.String("server"), Job: job, Days: c.Uint("days"), form: formOf(env, c),
			})
		},
	}
}

// Timeline draws the timeline of a job.
func Timeline(ctx context.Context, env *Env, o TimelineOptions) error {
	if err := o.check(); err != nil {
		return fmt.Errorf("job timeline: %w", err)
	}
	if err := oneJob(o.Job); err != nil {
		return err
	}
	j, lacking, err := records(ctx, env, o)
	if err != nil {
		return err
	}
	err = o.draw(env, j, func(w io.Writer) error { return timeline.SVG(w, j) }, func(w io.Writer) error {
		err := timeline.Text(w, j, o.Columns)
		if err == nil && lacking {
			_, err = fmt.Fprintln(w, "\nthe latest records are not in the files of this replica yet")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("job timeline: %w", err)
	}
	return nil
}

// oneJob refuses arrays and ranges of subjobs: each subjob has records of its own.
func oneJob(text string) error {
	id, err := pbs.ParseJobID(text, "server")
	if err != nil {
		return nil // the servers say what is wrong
	}
	if _, several := id.Indices(); id.Sub() > 0 || !several && !id.IsArray() {
		return nil
	}
	return fmt.Errorf("job timeline: %s is not one job: name a subjob, such as %s", text, strings.TrimSuffix(string(id.Parent().Subjob(1)), ".server"))
}
