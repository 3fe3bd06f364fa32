package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"rampart/cli"
	"rampart/mom/hook"
)

// hookFlag makes pbs_python run a hook by hand.
const hookFlag = "--hook"

const hookUsage = "usage: pbs_python --hook [-e log_event_mask] [-i event_input] [-L path] [-l logname] [-o event_output] [-r resourcedef] [-s site_data] [script]\n" +
	"       pbs_python --hook event.in [script]"

// replay is pbs_python --hook: it runs a hook on an event that was kept because its debug was true. Resources and what a site has
// put into its hooks are in the event, so files of them are not read.
func replay(args []string) int {
	line := cli.Grammar{Letters: "e:i:L:l:o:r:s:"}.Parse(args)
	options := map[string]string{}
	for _, o := range line.Options {
		options[o.Name] = o.Value
	}
	files := line.Operands
	saved, given := options["i"]
	if !given && len(files) > 0 {
		saved, files = files[0], files[1:]
	}
	if len(line.Faults) > 0 || saved == "" || len(files) > 1 {
		fmt.Fprintln(os.Stderr, hookUsage)
		return 1
	}
	r := hook.Replaying{Saved: saved, Out: os.Stdout, Log: os.Stdout, Lines: given}
	if len(files) == 1 {
		r.Script = files[0]
	}
	if err := played(r, options); err != nil {
		fmt.Fprintf(os.Stderr, "pbs_python: %v\n", err)
		return 1
	}
	return 0
}

// played plays an event with its output where options want it.
func played(r hook.Replaying, options map[string]string) (err error) {
	open := func(to *io.Writer, path string, how int) {
		f, failed := os.OpenFile(path, how|os.O_CREATE|os.O_WRONLY, 0o644)
		if failed != nil {
			err = errors.Join(err, failed)
			return
		}
		*to = f
	}
	if path := options["o"]; path != "" {
		open(&r.Out, path, os.O_TRUNC)
	}
	if name := options["l"]; name != "" {
		if !filepath.IsAbs(name) {
			name = filepath.Join(options["L"], name)
		}
		open(&r.Log, name, os.O_APPEND)
	}
	if err != nil {
		return err
	}
	err = hook.Replay(context.Background(), r)
	for _, to := range []io.Writer{r.Out, r.Log} {
		if f, ok := to.(*os.File); ok && f != os.Stdout {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}
