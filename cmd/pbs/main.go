// Command pbs is every PBS user command, by the name of the link it is started
// through, and the shim that a mom leaves behind for each job. People start it
// thousands of times: it carries nothing of the daemons, and nothing is set up
// that the one command does not need.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"rampart/cli"
	"rampart/cli/pbs"
	"rampart/mom/proc"
)

func main() { os.Exit(run()) }

func run() int {
	if filepath.Base(os.Args[0]) == proc.ShimName {
		return proc.ShimMain(os.Args[1:])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Main(ctx, world(), os.Args, pbs.Commands())
}
