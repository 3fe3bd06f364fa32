package admin

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/cli/timeline"
	"rampart/fsm/pbs"
	"rampart/transport/api"
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

// records asks a replica; lacking says that it does not have the latest ones yet.
func records(ctx context.Context, env *Env, o TimelineOptions) (j *timeline.Job, lacking bool, err error) {
	client, err := env.Cluster(o.Server)
	if err != nil {
		return nil, false, err
	}
	stream, err := client.JobRecords(ctx, connect.NewRequest(&api.JobRecordsRequest{Job: o.Job, Days: uint32(min(o.Days, 36500))}))
	if err != nil {
		return nil, false, fmt.Errorf("job timeline: %w", err)
	}
	defer stream.Close()
	var head *api.JobRecordsReply
	var lines [][]byte
	for stream.Receive() {
		if head == nil {
			head = stream.Msg()
		}
		lines = append(lines, stream.Msg().GetLines()...)
	}
	if err := stream.Err(); err != nil {
		return nil, false, fmt.Errorf("job timeline: %s: %w", o.Job, err)
	}
	if len(lines) == 0 {
		return nil, false, fmt.Errorf("job timeline: %s: no records of this job: if it is older than a week, --days says how far to look back", head.GetJob())
	}
	zone, err := time.LoadLocation(head.GetZone())
	if err != nil { // this host does not know it
		zone = time.UTC
	}
	return timeline.Read(head.GetJob(), lines, zone, time.Unix(head.GetNow(), 0)), head.GetLacking(), nil
}
