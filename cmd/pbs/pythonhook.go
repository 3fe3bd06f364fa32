package main

import (
	"context"
	"fmt"
	"os"

	"rampart/mom/hook"
)

// hookFlag makes pbs_python run a hook by hand.
const hookFlag = "--hook"

// replay is pbs_python --hook EVENT.in [SCRIPT]: it runs a hook on an event that was kept
// because its debug was true.
func replay(args []string) int {
	if len(args) < 1 || len(args) > 2 {
		fmt.Fprintln(os.Stderr, "usage: pbs_python --hook event.in [script]")
		return 1
	}
	script := ""
	if len(args) == 2 {
		script = args[1]
	}
	if err := hook.Replay(context.Background(), args[0], script, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "pbs_python: %v\n", err)
		return 1
	}
	return 0
}
