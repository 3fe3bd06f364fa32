package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"
)

// A Command is one user command: its grammar for the getopt layer, its usage as
// PBS prints it, and what it does.
type Command struct {
	Name    string
	Summary string
	Grammar Grammar
	Usage   string // whole text, ending in a newline
	// UsageStatus is the exit status of wrong usage, 2 unless PBS differs.
	UsageStatus int
	Run         func(ctx context.Context, env *Env, opts *Options) error
}

// Options is what a command line said, after getopt.
type Options struct {
	values   map[string]*Values
	Operands []string
	Dashed   bool     // "--" ended the options
	Before   int      // so many operands stood before it
	Raw      []string // the arguments as given, for Submit_arguments
}

// Values collects the values of a repeated option, commas and all.
type Values []string

// Set appends a value.
func (v *Values) Set(value string) error {
	*v = append(*v, value)
	return nil
}

// String returns the values for messages.
func (v *Values) String() string { return strings.Join(*v, " ") }

// Has reports whether the option was given.
func (o *Options) Has(name string) bool { return len(o.All(name)) > 0 }

// All returns every value of the option in the order given.
func (o *Options) All(name string) []string {
	if v := o.values[name]; v != nil {
		return *v
	}
	return nil
}

// Last returns the value that counts when an option may be given once.
func (o *Options) Last(name string) string {
	if v := o.All(name); len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// Only returns a copy of the options with the given operands.
func (o *Options) Only(operands []string) *Options {
	some := *o
	some.Operands = operands
	return &some
}

// Under returns the options with those of another line over them: an option that both have has the
// values of that line alone.
func (o *Options) Under(over *Options) *Options {
	both := &Options{values: maps.Clone(o.values), Operands: over.Operands, Dashed: over.Dashed, Before: over.Before, Raw: over.Raw}
	for name, values := range over.values {
		if len(*values) > 0 {
			both.values[name] = values
		}
	}
	return both
}

// OptionsOf returns the options of a line that did not come from a command line,
// such as a #PBS directive.
func OptionsOf(l Line) *Options {
	o := &Options{values: map[string]*Values{}, Operands: l.Operands, Dashed: l.Dashed, Before: l.Before}
	for _, opt := range l.Options {
		if o.values[opt.Name] == nil {
			o.values[opt.Name] = new(Values)
		}
		_ = o.values[opt.Name].Set(opt.Value) // never fails
	}
	return o
}

// OptionNames returns the letters and names of all options, sorted.
func (c *Command) OptionNames() []string {
	var names []string
	for i := range len(c.Grammar.Letters) {
		if known, _ := c.Grammar.letter(c.Grammar.Letters[i]); known {
			names = append(names, c.Grammar.Letters[i:i+1])
		}
	}
	for name := range c.Grammar.Long {
		names = append(names, name)
	}
	for name := range c.Grammar.Words {
		names = append(names, name)
	}
	for name := range c.Grammar.Dashed {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// app returns the command in urfave's form. What getopt has found goes to the command as it is: urfave sees no arguments, of
// which it has ideas of its own (-h, -v, bundles, options behind operands).
func (c *Command) app(env *Env, opts *Options) *urfave.App {
	return &urfave.App{
		Name: "pbs", Usage: "talk to the batch server", HideHelp: true, HideVersion: true,
		Reader: env.Stdin, Writer: env.Stdout, ErrWriter: env.Stderr,
		// Errors are returned, never turned into an exit: Main does that, once.
		ExitErrHandler: func(*urfave.Context, error) {},
		Commands: []*urfave.Command{{
			Name: c.Name, Usage: c.Summary, HideHelp: true,
			Action: func(ctx *urfave.Context) error { return c.Run(ctx.Context, env, opts) },
		}},
	}
}

func (c *Command) usageError(faults ...string) error {
	return &UsageError{Command: c, Faults: faults}
}

// A UsageError is a command line that PBS answers with its usage.
type UsageError struct {
	Command *Command
	Faults  []string // each is a line of its own before the usage
}

// Error returns the faults.
func (e *UsageError) Error() string {
	return fmt.Sprintf("%s: wrong usage: %s", e.Command.Name, strings.Join(e.Faults, ", "))
}

// Misuse returns the error for faults in the command line.
func (c *Command) Misuse(faults ...string) error { return c.usageError(faults...) }
