package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"rampart/fsm/pbs"
)

// Status is an error that has been told to the user already: only the exit
// status is left.
type Status int

// Error names the status.
func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Main runs a whole command line, argv[0] included, and returns the exit status.
// The command is named by the program, or by its first argument.
func Main(ctx context.Context, env *Env, argv []string, commands []*Command) int {
	name, args := program(argv)
	out := &checked{Writer: env.Stdout}
	inner := *env
	inner.Stdout = out
	status := dispatch(ctx, &inner, name, args, commands)
	if out.err != nil && status == 0 {
		fmt.Fprintf(env.Stderr, "%s: %v\n", name, out.err)
		return 1
	}
	return status
}

// checked remembers the first failure to write: what was asked for did not arrive.
type checked struct {
	io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	if c.err == nil {
		c.err = err
	}
	return n, err
}

// versionOption is one that every command takes, alone.
const versionOption = "--version"

func dispatch(ctx context.Context, env *Env, name string, args []string, commands []*Command) int {
	if name == "completion" {
		return Completion(env, args, commands)
	}
	i := slices.IndexFunc(commands, func(c *Command) bool { return c.Name == name })
	switch {
	case i < 0 && name != versionOption:
		return unknown(env, name, commands)
	case i < 0, len(args) == 1 && args[0] == versionOption:
		io.WriteString(env.Stdout, pbs.VersionLine)
		return 0
	}
	c := commands[i]
	return Finish(env.Stderr, c, run(ctx, env, c, args))
}

func run(ctx context.Context, env *Env, c *Command, args []string) error {
	line := c.Grammar.Parse(args)
	if len(line.Faults) > 0 || line.Misused {
		return c.usageError(line.Faults...)
	}
	opts := OptionsOf(line)
	opts.Raw = args
	// Only the command that runs: to describe the others would cost its start time.
	app := c.app(env, opts)
	return app.RunContext(ctx, []string{app.Name, c.Name})
}

func program(argv []string) (name string, args []string) {
	if len(argv) == 0 {
		return "", nil
	}
	name = filepath.Base(argv[0])
	if name == "pbs" && len(argv) > 1 {
		return argv[1], argv[2:]
	}
	return name, argv[1:]
}

// Environment lists the variables that every command reads.
const Environment = `environment:
  PBS_CONF_FILE   the configuration, instead of /etc/pbs.conf
  PBS_GATEWAY     sockets of daemons to ask, in order, with commas; else those in PBS_HOME/run
  PBS_TIMEOUT     seconds that a command may wait for an answer, 5 to 86400; 30 if it is not set
  PBS_REQUEST_ID  the request id of an earlier command whose outcome is unknown: to repeat that
                  command with it does nothing twice, and tells the outcome
`

func unknown(env *Env, name string, commands []*Command) int {
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.Name
	}
	if name != "pbs" {
		fmt.Fprintf(env.Stderr, "pbs: unknown command: %s\n", name)
	}
	fmt.Fprintf(env.Stderr, "usage: pbs COMMAND [argument ...]\ncommands: %s\n", strings.Join(names, " "))
	if name == "pbs" {
		io.WriteString(env.Stderr, Environment)
	}
	return 2
}

// Finish is the one place where an error becomes text and exit status.
func Finish(stderr io.Writer, c *Command, err error) int {
	var status Status
	var usage *UsageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &usage):
		for _, f := range usage.Faults {
			fmt.Fprintf(stderr, "%s: %s\n", c.Name, f)
		}
		io.WriteString(stderr, c.Usage)
		return max(c.UsageStatus, 1)
	}
	f := Explain(err)
	fmt.Fprintf(stderr, "%s: %s\n", c.Name, f.Text)
	return f.Status
}
