package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	urfave "github.com/urfave/cli/v2"

	"rampart/cli"
	"rampart/cli/admin"
	"rampart/cli/lsf"
	"rampart/cli/pbs"
	"rampart/transport"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
)

// administration is the program whose subcommands are the administration commands.
const administration = "rampart"

// commands returns the commands of users.
func commands() []*cli.Command { return slices.Concat(pbs.Commands(), lsf.Commands()) }

// isCommand reports whether a scenario may run a command of that name.
func isCommand(name string) bool {
	return name == administration || slices.ContainsFunc(commands(), func(c *cli.Command) bool { return c.Name == name })
}

// A caller is one command as it runs: who has started it, and what it sees.
type caller struct {
	r       *run
	user    string
	first   int // the replica that is asked first
	clients []*client.Client
	stdout  bytes.Buffer
	stderr  bytes.Buffer
	stdin   io.Reader
}

// command runs a command line of a user to its end.
func (r *run) command(ctx context.Context, user string, argv []string) {
	c := &caller{r: r, user: user, first: r.first, stdin: bytes.NewReader(r.stdin)}
	r.stdin = nil
	r.status = c.carryOut(ctx, argv)
	r.stdout, r.stderr, r.last = r.files.shown(c.stdout.String()), r.files.shown(c.stderr.String()), strings.Join(argv, " ")
	r.show()
	if r.o.Verbose && r.status != 0 {
		fmt.Fprintf(r.out, "\texit status %d\n", r.status)
	}
}

// carryOut runs a command line to its end.
func (c *caller) carryOut(ctx context.Context, argv []string) (status int) {
	if argv[0] == administration {
		status = c.administrate(ctx, argv)
	} else {
		status = cli.Main(ctx, c.env(), argv, commands())
	}
	for _, one := range c.clients {
		one.Close()
	}
	return status
}

// show shows what was printed, if that is wished.
func (r *run) show() {
	if r.o.Verbose {
		_, _ = io.WriteString(r.out, indent(r.stdout)+indent(r.stderr))
	}
}

// administrate runs rampart SUBCOMMAND.
func (c *caller) administrate(ctx context.Context, argv []string) int {
	env := c.adminEnv()
	env.Foresee = c.twin().Begins
	app := &urfave.App{
		Name: administration, Writer: &c.stdout, ErrWriter: &c.stderr, Reader: c.stdin, HideVersion: true, DisableSliceFlagSeparator: true,
		ExitErrHandler: func(*urfave.Context, error) {}, Action: admin.NoSuchCommand, OnUsageError: admin.RefuseUsage,
		Commands: admin.Strict(append(admin.Groups(admin.Commands(env)), c.simCommand())),
	}
	return admin.Finish(&c.stderr, administration, app.RunContext(ctx, admin.Arrange(app, argv)))
}

// ask returns a client for the command. Root is asked for by a host of the replicas, as where it administrates.
func (c *caller) ask(servers []string, budget time.Duration) (*client.Client, error) {
	role := transport.RoleSubmit
	if c.user == "root" {
		role = transport.RoleReplica
	}
	one, err := c.r.world.Ask(login, role, c.first, client.Options{User: c.user, Servers: servers, Budget: budget})
	if err == nil {
		c.clients = append(c.clients, one)
	}
	return one, err
}

func (c *caller) target(t cli.Target) (*client.Client, error) {
	budget, err := t.Budget()
	if err != nil {
		return nil, err
	}
	return c.ask(t.Names, budget)
}

// environ returns what the shell of the user would have.
func (c *caller) environ() []string {
	env := []string{"HOME=/home/" + c.user, "LOGNAME=" + c.user, "PATH=/usr/bin:/bin", "SHELL=/bin/sh", "PWD=" + workAs}
	for name, value := range c.r.env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return append(env, "USER="+c.user)
}

func (c *caller) lookup(name string) string {
	e := &cli.Env{Environ: c.environ}
	return e.Getenv(name)
}

func (c *caller) env() *cli.Env {
	return &cli.Env{
		Stdin: c.stdin, Stdout: &c.stdout, Stderr: &c.stderr,
		Environ: c.environ, Now: time.Now, Zone: c.r.s.begin.Location(),
		Hostname: func() (string, error) { return login, nil },
		Getwd:    func() (string, error) { return workAs, nil },
		Open:     func(name string) (fs.File, error) { return c.r.files.open(name) },
		Stat: func(name string) (fs.FileInfo, error) {
			file, err := c.r.files.real(name)
			if err != nil {
				return nil, err
			}
			return os.Stat(file)
		},
		WriteFile: func(name string, data []byte) error {
			file, err := c.r.files.real(name)
			if err != nil {
				return err
			}
			return os.WriteFile(file, data, 0o600)
		},
		MakeFolder: func(name string) error {
			file, err := c.r.files.real(name)
			if err != nil {
				return err
			}
			return os.MkdirAll(file, 0o755)
		},
		Terminal: func() bool { return false },
		Console:  func() (cli.Console, bool) { return nil, false },
		Editor:   func(string) cli.LineEditor { return nil },
		Batch: func(t cli.Target) (apiconnect.BatchClient, error) {
			one, err := c.target(t)
			if err != nil {
				return nil, err
			}
			return one.Batch(), nil
		},
		Cluster: func(t cli.Target) (apiconnect.ClusterClient, error) {
			one, err := c.target(t)
			if err != nil {
				return nil, err
			}
			return one.Cluster(), nil
		},
		Halt: func(t cli.Target) (apiconnect.HaltClient, error) {
			one, err := c.target(t)
			if err != nil {
				return nil, err
			}
			return one.Halt(), nil
		},
		Gone:  c.gone,
		Start: func([]string) (cli.Child, error) { return nil, errors.New("a scenario has no other programs") },
		WithRequestID: func(ctx context.Context, id string) context.Context {
			return client.WithRequestID(ctx, transport.RequestID(id))
		},
		NewRequestID: func() string { return string(client.NewRequestID()) },
	}
}

// gone is cli.Env's.
func (c *caller) gone(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := c.r.world.Network(login).Dial(ctx, address)
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// of returns what makes clients of a service for the administration commands.
func of[T any](c *caller, service func(*client.Client) T) func(server string) (T, error) {
	return func(server string) (T, error) {
		var servers []string
		if server != "" {
			servers = []string{server}
		}
		one, err := c.ask(servers, 0)
		if err != nil {
			var none T
			return none, err
		}
		return service(one), nil
	}
}

func (c *caller) adminEnv() *admin.Env {
	return &admin.Env{
		Stdout:    &c.stdout,
		Cluster:   of(c, (*client.Client).Cluster),
		Batch:     of(c, (*client.Client).Batch),
		Trust:     of(c, (*client.Client).Trust),
		Members:   of(c, (*client.Client).Members),
		Recovery:  of(c, (*client.Client).Recovery),
		Snapshots: of(c, (*client.Client).Snapshots),
		Open:      func(name string) (io.ReadCloser, error) { return c.r.files.open(name) },
		Create: func(name string) (io.WriteCloser, error) {
			file, err := c.r.files.real(name)
			if err != nil {
				return nil, err
			}
			return os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		},
		WriteFile: func(name string, data []byte) error {
			file, err := c.r.files.real(name)
			if err != nil {
				return err
			}
			return os.WriteFile(file, data, 0o644)
		},
		Getenv:        c.lookup,
		WithRequestID: client.RequestIDs(c.lookup("PBS_REQUEST_ID")),
	}
}
