// Command rampart is the batch server: replicas, moms, administration, and whole clusters
// for development. It owns the flags and the exit status; the work is done by the packages
// below it and by cluster and mom. A daemon ends with its signal, in order.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // records are dated in the cluster's zone, whatever the host has

	urfave "github.com/urfave/cli/v2"

	"rampart/cli"
	"rampart/cli/admin"
	"rampart/cluster/identity"
	"rampart/cluster/store"
	"rampart/cmd/rampart/dev"
	"rampart/cmd/rampart/dropin"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/build"
)

// exits are the statuses of a replica that stops by itself, for its supervisor: what
// each means and what to do is in docs/operations.md. The names come from sysexits.h.
var exits = []struct {
	err    error
	status int
}{
	{store.ErrFailed, 74},     // EX_IOERR: start it again
	{store.ErrDamaged, 65},    // EX_DATAERR
	{command.ErrDiffers, 75},  // EX_TEMPFAIL: start it again
	{command.ErrTooOld, 76},   // EX_PROTOCOL
	{identity.ErrOldDisk, 77}, // EX_NOPERM
	{identity.ErrTwice, 77},
	{identity.ErrExcluded, 77},
}

func main() { os.Exit(run()) }

func run() int {
	if name := filepath.Base(os.Args[0]); dropin.Knows(name) {
		return finish(name, runAs(name))
	}
	a := app()
	return finish("rampart", a.RunContext(context.Background(), admin.Arrange(a, arguments(os.Args))))
}

// arguments lets --version as the only argument ask for the version of PBS alone, as with
// every command of PBS: scripts parse it.
func arguments(args []string) []string {
	if len(args) == 2 && args[1] == "--version" {
		return []string{args[0], "version", "--pbs"}
	}
	return args
}

// untilSignal runs an action under a context that SIGINT, SIGTERM or one of the others
// ends. The mom does not use it: to it, signals differ.
func untilSignal(action urfave.ActionFunc, others ...os.Signal) urfave.ActionFunc {
	return func(c *urfave.Context) error {
		ctx, stop := signal.NotifyContext(c.Context, heard(append(others, syscall.SIGINT, syscall.SIGTERM))...)
		defer stop()
		c.Context = ctx
		return action(c)
	}
}

// heard returns signals without SIGHUP where that is ignored: a process under nohup goes on when the terminal has gone.
func heard(all []os.Signal) []os.Signal {
	return slices.DeleteFunc(slices.Clone(all), func(s os.Signal) bool { return s == syscall.SIGHUP && signal.Ignored(s) })
}

func app() *urfave.App {
	return &urfave.App{
		Name:                      "rampart",
		Usage:                     "a batch server that stays up when machines die",
		Description:               strings.TrimSuffix(cli.Environment, "\n"),
		Version:                   pbs.Version,
		EnableBashCompletion:      true,
		Suggest:                   true,
		DisableSliceFlagSeparator: true, // a comma separates the resources of a mom
		HideVersion:               true,
		ExitErrHandler:            func(*urfave.Context, error) {}, // finish does it, once
		Action:                    admin.NoSuchCommand,
		OnUsageError:              admin.RefuseUsage,
		Commands: admin.Strict(append([]*urfave.Command{
			serverCommand(), momCommand(), devCommand(), simCommand(), linksCommand(), completionCommand(), versionCommand(),
		}, withInspect(admin.Groups(admin.Commands(adminEnv())))...)),
	}
}

// finish turns an error into text and exit status, for all commands and daemons.
func finish(name string, err error) int {
	var exit *dev.ExitError
	var ended *dropin.StatusError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errScenarios):
		return 1
	case errors.As(err, &exit):
		return exit.Status
	case errors.As(err, &ended):
		fmt.Fprintln(os.Stderr, ended.Text) // which begins with its name
		return ended.Status
	}
	for _, x := range exits {
		if errors.Is(err, x.err) {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			return x.status
		}
	}
	return admin.Finish(os.Stderr, name, err)
}

func versionCommand() *urfave.Command {
	return &urfave.Command{
		Name:  "version",
		Usage: "print the version of Rampart, and of the PBS that it stands in for",
		Flags: []urfave.Flag{&urfave.BoolFlag{Name: "pbs", Usage: "that of PBS only, as rampart --version"}},
		Action: func(c *urfave.Context) error {
			text := pbs.VersionLine
			if !c.Bool("pbs") {
				text += "rampart_version = " + build.Version() + "\n"
			}
			_, err := io.WriteString(c.App.Writer, text)
			return err
		},
	}
}

func completionCommand() *urfave.Command {
	return &urfave.Command{
		Name:      "completion",
		Usage:     "print a script that completes command lines of rampart",
		ArgsUsage: "bash",
		Action: func(c *urfave.Context) error {
			if c.NArg() != 1 || c.Args().First() != "bash" {
				return errors.New("completion: only bash is known")
			}
			_, err := fmt.Fprint(c.App.Writer, bashCompletion)
			return err
		},
	}
}

// After "--" nothing is completed: there the question would be an operand, and the command
// would be carried out. "-" asks for options in its place.
const bashCompletion = `# bash completion for rampart
_rampart_complete() {
	local word=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]:0:COMP_CWORD}")
	[[ " ${words[*]} " != *" -- "* ]] || return
	case $word in
	--) words+=(-) ;;
	-*) words+=("$word") ;;
	esac
	COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$word"))
}
complete -o default -F _rampart_complete rampart
`
