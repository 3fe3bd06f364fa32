package main

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	urfave "github.com/urfave/cli/v2"

	"rampart/cli/admin"
	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/server"
	"rampart/fsm/pbs"
	"rampart/transport"
)

var homeFlag = &urfave.StringFlag{Name: "home", Usage: "PBS_HOME of this daemon", Value: home.Of()}

// addressFlags are common to all that make a replica or a host; the ports are listed in design
// section 3.
func addressFlags(what string, port, gossip int) []urfave.Flag {
	return []urfave.Flag{
		homeFlag,
		&urfave.StringFlag{Name: "host", Usage: "name of this " + what + " (default: the short host name)"},
		&urfave.StringFlag{Name: "listen", Usage: fmt.Sprintf("`HOST:PORT` of the port for everything (default: this host's address, port %d)", port)},
		&urfave.StringFlag{Name: "advertise", Usage: "`HOST:PORT` that others use (default: as --listen)"},
		&urfave.StringFlag{Name: "gossip", Usage: fmt.Sprintf("`IP:PORT` of the gossip (default: this host's address, port %d)", gossip)},
	}
}

var zoneFlag = &urfave.StringFlag{Name: "zone", Usage: "`LABEL` of what fails together with this host: a site, a room, a rack"}

func serverCommand() *urfave.Command {
	return &urfave.Command{
		Name:   "server",
		Usage:  "run a replica; init or join makes one",
		Flags:  []urfave.Flag{homeFlag},
		Action: untilSignal(runServer),
		Subcommands: []*urfave.Command{
			{
				Name:  "init",
				Usage: "make a new cluster with this host as its first replica",
				Flags: append(addressFlags("replica", 15001, 15003), zoneFlag, &urfave.StringFlag{Name: "name", Usage: "name of the cluster: the suffix of job ids (default: the name of the replica)"},
					&urfave.StringFlag{Name: "from", Usage: "begin with the state in `FILE`, a snapshot, or with that and the accounting in a folder of backups"},
					&urfave.StringFlag{Name: "rtt-class", Usage: "how far the replicas will be from each other: `lan`, metro or wan (default: lan)"}),
				Action: func(c *urfave.Context) error {
					config, err := serverConfig(c)
					if err != nil {
						return err
					}
					config.RTTClass = pbs.RTTClass(c.String("rtt-class"))
					if config.Manager, err = server.Manager(c.Context, config.Host); err != nil {
						return err
					}
					if from := c.String("from"); from != "" {
						home.WarnShared(c.App.ErrWriter, from)
						return server.InitFrom(c.Context, config, from, c.String("name") == "")
					}
					return server.Init(config)
				},
			},
			{
				Name:  "join",
				Usage: "make this host a replica of a cluster",
				Flags: append(addressFlags("replica", 15001, 15003), zoneFlag,
					tokenFlag("replica"), tokenFileFlag,
					&urfave.StringSliceFlag{Name: "replica", Usage: "`HOST:PORT` of a replica; may be repeated", Required: true}),
				Action: func(c *urfave.Context) error {
					config, err := serverConfig(c)
					if err != nil {
						return err
					}
					config.Replicas = c.StringSlice("replica")
					token, err := tokenOf(c)
					if err != nil {
						return err
					}
					return server.Join(c.Context, transport.System{}, config, token)
				},
			},
		},
	}
}

func serverConfig(c *urfave.Context) (server.Config, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return server.Config{}, err
	}
	if h := c.String("host"); h != "" {
		hostname = h
	}
	config := server.Default(hostname, hostAddress())
	config.Home = home.Home(c.String("home"))
	override(&config.Host, c.String("host"))
	override(&config.Server, c.String("name"))
	override(&config.Listen, c.String("listen"))
	override(&config.Advertise, c.String("advertise"))
	override(&config.Gossip, c.String("gossip"))
	override(&config.Zone, c.String("zone"))
	return config, nil
}

func override(field *string, value string) {
	if value != "" {
		*field = value
	}
}

// hostAddress returns the first address of this host that others can reach, or that of
// the loopback.
func hostAddress() string {
	addresses, err := net.InterfaceAddrs()
	if err == nil {
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
				return n.IP.String()
			}
		}
	}
	return "127.0.0.1"
}

func runServer(c *urfave.Context) error {
	if c.NArg() > 0 {
		return admin.NoSuchCommand(c)
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	config, err := server.Load(home.Home(c.String("home")))
	if err != nil {
		return err
	}
	lock, err := home.Lock(config.Home.ServerLock())
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	defer lock.Close()
	return server.Run(c.Context, config, server.Process{Hangups: hangups, PID: os.Getpid()}, newLogger(config.Host))
}

// newLogger writes structured logs to standard error; PBS's own logs are files.
func newLogger(name string) *slog.Logger {
	level := slog.LevelInfo
	if os.Getenv("RAMPART_DEBUG") != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})).With("daemon", name)
}
