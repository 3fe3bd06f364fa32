package main

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	urfave "github.com/urfave/cli/v2"

	"rampart/cli/admin"
	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/mom"
	"rampart/transport"
)

func momCommand() *urfave.Command {
	return &urfave.Command{
		Name:  "mom",
		Usage: "run the agent of an execution host; join makes one",
		Flags: []urfave.Flag{
			homeFlag,
			&urfave.BoolFlag{Name: "p", Usage: "adopt the jobs that are still there (the default)"},
			&urfave.BoolFlag{Name: "r", Usage: "kill the jobs that are still there and requeue them"},
			&urfave.StringFlag{Name: "s", Usage: "manage vnode definition files and end: `WORD` is list, show NAME, insert NAME FILE, replace NAME FILE or remove NAME"},
			&urfave.BoolFlag{Name: "submit-only", Usage: "be a login host's gateway, with no vnodes"},
		},
		Action: runMom,
		Subcommands: []*urfave.Command{{
			Name:  "join",
			Usage: "make this host an execution host of a cluster, or a login host with a token for that",
			Flags: append(addressFlags("host", 15002, 15004),
				tokenFlag("mom"), tokenFileFlag,
				&urfave.StringSliceFlag{Name: "replica", Usage: "`HOST:PORT` of a replica; may be repeated", Required: true}),
			Action: joinMom,
		}},
	}
}

func joinMom(c *urfave.Context) error {
	hostname, err := os.Hostname()
	if err != nil {
		return err
	}
	if h := c.String("host"); h != "" {
		hostname = h
	}
	config := mom.Default(hostname, hostAddress())
	config.Home = home.Home(c.String("home"))
	config.Replicas = c.StringSlice("replica")
	override(&config.Host, c.String("host"))
	override(&config.Listen, c.String("listen"))
	override(&config.Advertise, c.String("advertise"))
	override(&config.Gossip, c.String("gossip"))
	token, err := tokenOf(c)
	if err != nil {
		return err
	}
	return mom.Join(c.Context, transport.System{}, config, token)
}

func runMom(c *urfave.Context) error {
	if c.IsSet("s") {
		return mom.Define(home.Home(c.String("home")), c.App.Writer, c.String("s"), c.Args().Slice())
	}
	if c.NArg() > 0 {
		return admin.NoSuchCommand(c)
	}
	if c.Bool("p") && c.Bool("r") {
		return errors.New("mom: -p and -r: one of them")
	}
	config, err := mom.Load(home.Home(c.String("home")))
	if err != nil {
		return err
	}
	config.SubmitOnly = config.SubmitOnly || c.Bool("submit-only")
	program, err := os.Executable()
	if err != nil {
		return err
	}
	// Which signal it was matters: SIGTERM ends the jobs, SIGINT leaves them.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(signals)
	return mom.Run(c.Context, config, mom.Options{
		Shim: filepath.Join(filepath.Dir(program), "pbs"), KillJobs: c.Bool("r"), Signals: signals, Logger: newLogger(config.Host),
	})
}
