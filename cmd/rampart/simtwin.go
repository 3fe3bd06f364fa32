package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"
	urfave "github.com/urfave/cli/v2"

	"rampart/cli/admin"
	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/trace"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// foresee tells when the jobs of a cluster start, and what would be if.
func foresee(c *urfave.Context) error {
	if c.Bool("from-cluster") && c.IsSet("from-snapshot") {
		return errors.New("sim: --from-cluster and --from-snapshot are two states")
	}
	if days := c.Uint("days"); days < 1 || days > admin.MostDays {
		return fmt.Errorf("sim: --days: %d, want 1 to %d", days, admin.MostDays)
	}
	var changes []trace.Change
	for _, text := range c.StringSlice("down") {
		hosts, at, err := readDown(text, time.Now())
		if err != nil {
			return fmt.Errorf("sim: --down: %w", err)
		}
		for _, h := range hosts {
			changes = append(changes, trace.Change{At: at, Down: h})
		}
	}
	for _, text := range c.StringSlice("qmgr") {
		changes = append(changes, trace.Change{Qmgr: text})
	}
	for _, text := range c.StringSlice("submit") {
		changes = append(changes, trace.Change{Submit: text})
	}
	saved, err := savedState(c)
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	quit, restore := onSignal()
	defer restore()
	user := os.Getenv("LOGNAME")
	if user == "" {
		user = "root"
	}
	f, err := trace.Foresee(saved, trace.TwinOptions{User: user, Changes: changes, Ahead: time.Duration(c.Uint("days")) * 24 * time.Hour, Quit: quit})
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	name := c.String("json")
	if name == "" {
		return f.Text(c.App.Writer)
	}
	if err := writeTo(c.App.Writer, name, f.JSON); err != nil || name == "-" {
		return err
	}
	return f.Text(c.App.Writer)
}

// begins says when a job of the living cluster starts.
func begins(ctx context.Context, server, job string, days uint) (admin.Foreseen, error) {
	saved, err := clusterState(ctx, server)
	if err != nil {
		return admin.Foreseen{}, err
	}
	quit, restore := onSignal()
	defer restore()
	x, until, err := trace.Begin(saved, pbs.JobID(job), time.Duration(days)*24*time.Hour, quit)
	if err != nil {
		return admin.Foreseen{}, err
	}
	return admin.Foreseen{Start: x.Start.Truncate(time.Second), End: x.End.Truncate(time.Second), Why: x.Why, Until: until.Truncate(time.Second)}, nil
}

// readDown reads HOST[,HOST...][@WHEN]; hh:mm is of today, or of tomorrow if that is over.
func readDown(text string, now time.Time) (hosts []string, at time.Time, err error) {
	names, when, timed := strings.Cut(text, "@")
	for name := range strings.SplitSeq(names, ",") {
		if name == "" {
			return nil, time.Time{}, fmt.Errorf("%q: want HOST[,HOST...][@WHEN]", text)
		}
		hosts = append(hosts, name)
	}
	if !timed {
		return hosts, time.Time{}, nil
	}
	if clock, err := time.Parse("15:04", when); err == nil {
		at = time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
		if at.Before(now) {
			at = at.AddDate(0, 0, 1)
		}
		return hosts, at, nil
	}
	if at, err = time.ParseInLocation("2006-01-02T15:04:05", when, now.Location()); err != nil {
		return nil, time.Time{}, fmt.Errorf("%q is no time hh:mm or YYYY-MM-DDThh:mm:ss", when)
	}
	return hosts, at, nil
}

// savedState is the state of the cluster, or of a file.
func savedState(c *urfave.Context) ([]byte, error) {
	if file := c.String("from-snapshot"); file != "" {
		home.WarnShared(c.App.ErrWriter, file)
		return os.ReadFile(file)
	}
	return clusterState(c.Context, "")
}

// clusterState takes a snapshot of the living cluster.
func clusterState(ctx context.Context, server string) ([]byte, error) {
	client, err := clusterClient(server)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.SaveSnapshot(ctx, connect.NewRequest(&api.SaveSnapshotRequest{}))
	if err != nil {
		return nil, fmt.Errorf("ask the cluster for its state: %w", err)
	}
	defer stream.Close()
	var b bytes.Buffer
	for stream.Receive() {
		_, _ = b.Write(stream.Msg().GetData())
	}
	if err := stream.Err(); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("ask the cluster for its state: %w", err)
	}
	return b.Bytes(), nil
}
