package lsf

import (
	"context"
	"fmt"
	"io"

	"rampart/cli"
	"rampart/fsm/pbs"
)

// failed is the exit status of everything that goes wrong.
const failed = 255

// Commands returns all LSF commands.
func Commands() []*cli.Command {
	return []*cli.Command{
		bsub(), bmod(), bswitch(), btop(), bbot(), bjobs(), bhist(), bacct(), bkill(), bstop(), bresume(), brequeue(), bresize(), bqueues(), bhosts(), bresources(), bapp(), bmgroup(), bugroup(), bjgroup(), bjdepinfo(), bclusters(), lsclusters(), busers(), bparams(), badmin(), lshosts(), lsload(), lsid(),
		bpeek(), bpost(), bread(), bstatus(), blimits(), bsla(), bchkpnt(), bmig(), lsinfo(),
	}
}

// A work is what a command does.
type work func(ctx context.Context, s *session, opts *cli.Options) error

// command makes a command that knows -h and -V besides its own options, and whose every failure has
// LSF's exit status.
func command(name, summary, usage string, g cli.Grammar, do work) *cli.Command {
	g.Letters += "hV"
	g.Long = map[string]bool{"server": true}
	c := &cli.Command{Name: name, Summary: summary, Grammar: g, Usage: "Usage: " + usage, UsageStatus: failed}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		switch {
		case opts.Has("h"):
			_, err := io.WriteString(env.Stderr, c.Usage)
			return err
		case opts.Has("V"):
			_, err := io.WriteString(env.Stderr, pbs.VersionLine)
			return err
		}
		s, err := open(env, c, opts)
		if err == nil {
			err = do(ctx, s, opts)
		}
		if err != nil {
			return s.failure(err)
		}
		return s.end()
	}
	return c
}

// refusedOption says that an option of LSF is known, and not there.
func refusedOption(option, instead string) error {
	if instead != "" {
		instead = ": " + instead
	}
	return told(fmt.Sprintf("option -%s is not supported%s", option, instead))
}
