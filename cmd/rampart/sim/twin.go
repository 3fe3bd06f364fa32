package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"
	urfave "github.com/urfave/cli/v2"

	"rampart/cli/admin"
	"rampart/cmd/rampart/trace"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// TwinFlags returns the options of rampart sim that ask what becomes of a cluster.
func TwinFlags() []urfave.Flag {
	return []urfave.Flag{
		&urfave.BoolFlag{Name: "from-cluster", Usage: "tell when the jobs start that wait in this host's cluster now; nothing is changed there"},
		&urfave.StringFlag{Name: "from-snapshot", Usage: "the same of a `FILE` of rampart cluster snapshot save"},
		&urfave.StringSliceFlag{Name: "down", Usage: "what if a host goes down: `HOST[,HOST...][@WHEN]`, WHEN is hh:mm or YYYY-MM-DDThh:mm:ss, now if it is not there; may be repeated"},
		&urfave.StringSliceFlag{Name: "qmgr", Usage: "what if a `LINE` is given to qmgr; may be repeated"},
		&urfave.StringSliceFlag{Name: "submit", Usage: "what if a `SCRIPT` is submitted; may be repeated"},
		&urfave.UintFlag{Name: "days", Usage: "of --from-cluster: look so many `days` ahead", Value: 30},
	}
}

// A TwinEnv is what a twin of a cluster needs of the world around it.
type TwinEnv struct {
	Out     io.Writer
	User    string // who submits
	Now     func() time.Time
	Cluster func(server string) (apiconnect.ClusterClient, error)
	Open    func(name string) (fs.File, error)
	Write   func(name string, write func(io.Writer) error) error // to a file, or to Out for "-"
	Quit    func() bool                                          // somebody has had enough; nil: nobody has
}

// Foresee tells when the jobs of a cluster start, and what would be if, as the flags say.
func (e TwinEnv) Foresee(c *urfave.Context) error {
	if c.Bool("from-cluster") && c.IsSet("from-snapshot") {
		return errors.New("sim: --from-cluster and --from-snapshot are two states")
	}
	if days := c.Uint("days"); days < 1 || days > admin.MostDays {
		return fmt.Errorf("sim: --days: %d, want 1 to %d", days, admin.MostDays)
	}
	var changes []trace.Change
	for _, text := range c.StringSlice("down") {
		hosts, at, err := readDown(text, e.Now())
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
	saved, err := e.state(c.Context, c.String("from-snapshot"))
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	f, err := trace.Foresee(saved, trace.TwinOptions{
		User: e.User, Changes: changes, Ahead: time.Duration(c.Uint("days")) * 24 * time.Hour, Quit: e.Quit, Open: e.Open,
	})
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	name := c.String("json")
	if name == "" {
		return f.Text(e.Out)
	}
	if err := e.Write(name, f.JSON); err != nil || name == "-" {
		return err
	}
	return f.Text(e.Out)
}

// Begins says when a job of the living cluster starts: it is admin.Env's.
func (e TwinEnv) Begins(ctx context.Context, server, job string, days uint) (admin.Foreseen, error) {
	saved, err := e.clusterState(ctx, server)
	if err != nil {
		return admin.Foreseen{}, err
	}
	x, until, err := trace.Begin(saved, pbs.JobID(job), time.Duration(days)*24*time.Hour, e.Quit)
	if err != nil {
		return admin.Foreseen{}, err
	}
	return admin.Foreseen{Start: x.Start.Truncate(time.Second), End: x.End.Truncate(time.Second), Why: x.Why, Until: until.Truncate(time.Second)}, nil
}

// state returns the state of the cluster, or of a file.
func (e TwinEnv) state(ctx context.Context, file string) ([]byte, error) {
	if file == "" {
		return e.clusterState(ctx, "")
	}
	f, err := e.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// clusterState takes a snapshot of the living cluster.
func (e TwinEnv) clusterState(ctx context.Context, server string) ([]byte, error) {
	client, err := e.Cluster(server)
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

// twin returns what a twin of the scenario's cluster sees.
func (c *caller) twin() TwinEnv {
	return TwinEnv{
		Out: &c.stdout, User: c.user, Now: c.r.now, Quit: c.r.o.Quit,
		Cluster: c.adminEnv().Cluster,
		Open:    func(name string) (fs.File, error) { return c.r.files.open(name) },
		Write: func(name string, write func(io.Writer) error) error {
			if name == "-" {
				return write(&c.stdout)
			}
			file, err := c.r.files.real(name)
			if err != nil {
				return err
			}
			f, err := os.Create(file)
			if err != nil {
				return err
			}
			return errors.Join(write(f), f.Close())
		},
	}
}

// simCommand is rampart sim within a scenario: it plays a twin of the scenario's cluster, and nothing else.
func (c *caller) simCommand() *urfave.Command {
	return &urfave.Command{
		Name: "sim", Usage: "tell when the jobs start that wait now",
		Flags: append(TwinFlags(), &urfave.StringFlag{Name: "json", Usage: "write everything to a `FILE`"}),
		Action: func(u *urfave.Context) error {
			if !u.Bool("from-cluster") && !u.IsSet("from-snapshot") {
				return errors.New("sim: in a scenario it plays --from-cluster and --from-snapshot only")
			}
			return c.twin().Foresee(u)
		},
	}
}
