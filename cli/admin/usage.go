package admin

import (
	"errors"
	"fmt"
	"io"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"rampart/cli"
	"rampart/fsm/pbs"
)

// Strict gives all commands one way to refuse a command line: an error that names the
// flag. urfave/cli would print the help, and on standard output, where scripts read results.
func Strict(commands []*urfave.Command) []*urfave.Command {
	needed := map[*urfave.Command][]string{}
	each(commands, func(c *urfave.Command) { needed[c] = required(c) })
	each(commands, func(c *urfave.Command) {
		c.OnUsageError = RefuseUsage
		for _, f := range c.Flags {
			relax(f)
		}
		if names := needed[c]; len(names) > 0 {
			c.Action = wanting(names, c.Action)
		}
		if c.ArgsUsage == "" && len(c.Subcommands) == 0 {
			c.Action = withoutOperands(c.Action)
		}
	})
	return commands
}

// Groups gives commands that only hold others an answer to an unknown word.
func Groups(commands []*urfave.Command) []*urfave.Command {
	for _, c := range commands {
		if c.Action == nil {
			c.Action = NoSuchCommand
		}
		Groups(c.Subcommands)
	}
	return commands
}

// NoSuchCommand shows the help to those who named no command, and refuses any other word.
func NoSuchCommand(c *urfave.Context) error {
	if c.NArg() == 0 {
		return urfave.ShowSubcommandHelp(c)
	}
	return fmt.Errorf("%q is no command; see rampart help", c.Args().First())
}

func each(commands []*urfave.Command, do func(*urfave.Command)) {
	for _, c := range commands {
		do(c)
		each(c.Subcommands, do)
	}
}

// RefuseUsage hands the error on.
func RefuseUsage(_ *urfave.Context, err error, _ bool) error { return err }

// required returns the names of the flags that the command cannot do without.
func required(c *urfave.Command) []string {
	var names []string
	for _, f := range c.Flags {
		if r, ok := f.(urfave.RequiredFlag); ok && r.IsRequired() {
			names = append(names, f.Names()[0])
		}
	}
	return names
}

func relax(f urfave.Flag) {
	switch f := f.(type) {
	case *urfave.StringFlag:
		f.Required = false
	case *urfave.StringSliceFlag:
		f.Required = false
	}
}

// wanting carries the action out when all the flags were given.
func wanting(names []string, action urfave.ActionFunc) urfave.ActionFunc {
	return func(c *urfave.Context) error {
		for _, name := range names {
			if !c.IsSet(name) {
				return fmt.Errorf("%s: --%s is missing", FullName(c), name)
			}
		}
		return action(c)
	}
}

// withoutOperands runs the action if there are no operands, which it would ignore.
func withoutOperands(action urfave.ActionFunc) urfave.ActionFunc {
	return func(c *urfave.Context) error {
		if c.NArg() > 0 {
			return fmt.Errorf("%s: %q is one word too many", FullName(c), c.Args().First())
		}
		return action(c)
	}
}

// FullName returns the words of a command.
func FullName(c *urfave.Context) string {
	return strings.TrimPrefix(c.Command.HelpName, c.App.Name+" ")
}

// Finish turns the error of an administration command into text and exit status.
func Finish(stderr io.Writer, name string, err error) int {
	if err == nil {
		return 0
	}
	if u, ok := errors.AsType[*UnhealthyError](err); ok {
		return u.Status // the table has said why
	}
	if refusal, ok := errors.AsType[*pbs.Error](err); ok {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return max(1, refusal.Code.ExitStatus())
	}
	f := cli.Explain(err)
	fmt.Fprintf(stderr, "%s: %s\n", name, f.Text)
	return f.Status
}
