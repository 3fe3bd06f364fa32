package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	urfave "github.com/urfave/cli/v2"

	"rampart/cli/lsf"
	"rampart/cli/pbs"
	"rampart/cmd/rampart/dev"
	"rampart/cmd/rampart/dropin"
)

func devCommand() *urfave.Command {
	return &urfave.Command{
		Name:  "dev",
		Usage: "run a whole cluster of real processes on this machine",
		Flags: []urfave.Flag{
			&urfave.IntFlag{Name: "replicas", Usage: "how many replicas", Value: 3},
			&urfave.StringFlag{Name: "zones", Usage: "zones of the replicas in turn, as in a,b,c"},
			&urfave.BoolFlag{Name: "ipv6", Usage: "on ::1, each process with ports of its own"},
			&urfave.IntFlag{Name: "moms", Usage: "how many execution hosts", Value: 5},
			&urfave.StringSliceFlag{Name: "mom", Usage: "an execution host, `NAME[:RES=VALUE,...][/VNODE[:RES=VALUE,...]]...`; may be repeated"},
			&urfave.StringFlag{Name: "name", Usage: "name of the cluster: the suffix of job ids", Value: "srv"},
			&urfave.StringFlag{Name: "dir", Usage: "keep the cluster in this folder (default: a temporary one, removed at the end)"},
			&urfave.StringFlag{Name: "exec", Usage: "run this shell line in the cluster and exit with its status"},
		},
		Action:      untilSignal(runDev, syscall.SIGHUP),
		Subcommands: []*urfave.Command{devRestartCommand(), devKeepCommand()},
	}
}

func runDev(c *urfave.Context) error {
	if c.NArg() > 0 {
		return fmt.Errorf("dev: %q is not an option", c.Args().First())
	}
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	moms, err := devMoms(c.StringSlice("mom"), c.Int("moms"))
	if err != nil {
		return err
	}
	return dev.Run(c.Context, dev.Options{
		Server: c.String("name"), Replicas: c.Int("replicas"), Zones: zonesOf(c.String("zones")), IPv6: c.Bool("ipv6"), Moms: moms,
		Dir: c.String("dir"), Exec: c.String("exec"), Binary: binary, Commands: userCommands(),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	})
}

func zonesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

func devMoms(specs []string, n int) ([]dev.Mom, error) {
	if len(specs) == 0 {
		if n < 0 {
			return nil, fmt.Errorf("--moms: %d, want 0 or more", n)
		}
		return dev.DefaultMoms(n), nil
	}
	var moms []dev.Mom
	var faults []error
	for _, s := range specs {
		m, err := dev.ParseMom(s)
		moms, faults = append(moms, m), append(faults, err)
	}
	return moms, errors.Join(faults...)
}

var devDirFlag = &urfave.StringFlag{Name: "dir", Usage: "the folder of the cluster", EnvVars: []string{"RAMPART_DEV"}, Required: true}

func devRestartCommand() *urfave.Command {
	return &urfave.Command{
		Name:      "restart",
		Usage:     "start processes that have ended again, with their old homes",
		ArgsUsage: "NAME... | --dead",
		Flags:     []urfave.Flag{devDirFlag, &urfave.BoolFlag{Name: "dead", Usage: "all that have ended"}},
		Action: func(c *urfave.Context) error {
			names := c.Args().Slice()
			if c.Bool("dead") {
				names = append(names, "--dead")
			}
			return dev.Restart(c.Context, c.String("dir"), names)
		},
	}
}

func devKeepCommand() *urfave.Command {
	return &urfave.Command{
		Name:   "keep",
		Usage:  "end the processes of a cluster when standard input ends",
		Hidden: true,
		Flags:  []urfave.Flag{devDirFlag},
		Action: func(c *urfave.Context) error {
			signal.Ignore(os.Interrupt)
			return dev.Keep(c.Context, c.String("dir"), os.Stdin)
		},
	}
}

func linksCommand() *urfave.Command {
	return &urfave.Command{
		Name:   "links",
		Usage:  "make a link for every user command beside the programs in a folder, and for PBS's daemons in another; write the manual pages",
		Hidden: true,
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "dir", Usage: "the folder", Required: true},
			&urfave.StringFlag{Name: "manuals", Usage: "the folder for manual pages"},
			&urfave.StringFlag{Name: "daemons", Usage: "the folder for links that are called as PBS's daemons, beside the other one"},
		},
		Action: func(c *urfave.Context) error {
			dir, err := filepath.Abs(c.String("dir"))
			if err != nil {
				return err
			}
			err = dev.Link(dir, filepath.Join(dir, "rampart"), userCommands())
			if err == nil && c.IsSet("daemons") {
				err = linkInstallation(dir, c.String("daemons"))
			}
			if err == nil && c.IsSet("manuals") {
				err = writeManuals(c.String("manuals"))
			}
			return err
		},
	}
}

// writeManuals writes the manual pages of the user commands.
func writeManuals(dir string) error {
	for _, p := range slices.Concat(pbs.Pages(), lsf.Pages()) {
		file := filepath.Join(dir, p.File)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(p.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// linkInstallation makes the links that an installation has besides the user commands: PBS's
// daemons, and its programs that say what does their job.
func linkInstallation(dir, daemons string) error {
	beside := filepath.Join("..", filepath.Base(dir))
	return errors.Join(
		dev.LinkPrograms(daemons, filepath.Join(beside, "rampart"), dropin.Names()),
		dev.LinkPrograms(daemons, filepath.Join(beside, "pbs"), pbs.AbsentNames(true)),
		dev.LinkPrograms(dir, "pbs", pbs.AbsentNames(false)),
		dev.LinkPrograms(dir, "rampart", dropin.UserNames()),
	)
}

// userCommands names the commands that pbs is.
func userCommands() []string {
	var names []string
	for _, c := range slices.Concat(pbs.Commands(), lsf.Commands()) {
		names = append(names, c.Name)
	}
	return append(names, pbs.LocalNames()...)
}
