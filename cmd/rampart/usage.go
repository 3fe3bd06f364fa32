package main

import (
	"fmt"
	"strings"

	urfave "github.com/urfave/cli/v2"
)

// strict gives all commands one way to refuse a command line: an error that names the
// flag. urfave would print the help, and on standard output, where scripts read results.
func strict(commands []*urfave.Command) []*urfave.Command {
	needed := map[*urfave.Command][]string{}
	each(commands, func(c *urfave.Command) { needed[c] = required(c) })
	each(commands, func(c *urfave.Command) {
		c.OnUsageError = refuseUsage
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

func each(commands []*urfave.Command, do func(*urfave.Command)) {
	for _, c := range commands {
		do(c)
		each(c.Subcommands, do)
	}
}

func refuseUsage(_ *urfave.Context, err error, _ bool) error { return err }

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
				return fmt.Errorf("%s: --%s is missing", fullName(c), name)
			}
		}
		return action(c)
	}
}

// withoutOperands carries the action out when there are no words that it would not heed.
func withoutOperands(action urfave.ActionFunc) urfave.ActionFunc {
	return func(c *urfave.Context) error {
		if c.NArg() > 0 {
			return fmt.Errorf("%s: %q is one word too many", fullName(c), c.Args().First())
		}
		return action(c)
	}
}

func fullName(c *urfave.Context) string {
	return strings.TrimPrefix(c.Command.HelpName, c.App.Name+" ")
}
