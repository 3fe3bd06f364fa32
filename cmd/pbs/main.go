// Command pbs is every PBS and LSF user command, by the name of the link it is started
// through, and the shim that a mom leaves behind for each job. People start it
// thousands of times: it carries nothing of the daemons, and nothing is set up
// that the one command does not need; the runtime, too, is kept from looking for limits
// of processors that a process of milliseconds would not use.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"rampart/cli"
	"rampart/cli/lsf"
	"rampart/cli/pbs"
	fsmpbs "rampart/fsm/pbs"
	"rampart/mom/proc"
)

func main() { os.Exit(run()) }

func run() int {
	if filepath.Base(os.Args[0]) == proc.ShimName {
		return proc.ShimMain(os.Args[1:])
	}
	if local := localCommand(filepath.Base(os.Args[0])); local != nil {
		if slices.Equal(os.Args[1:], []string{"--version"}) {
			fmt.Print(fsmpbs.VersionLine)
			return 0
		}
		return local(os.Args[1:])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Main(ctx, world(), os.Args, slices.Concat(pbs.Commands(), lsf.Commands()))
}
