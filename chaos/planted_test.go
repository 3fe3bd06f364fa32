//go:build bug_planted

package chaos

import (
	"flag"

	"rampart/fsm/planted"
)

// bug is the bug of this run: one build has them all.
var bug = flag.String("bug", "", "the bug that is planted in this run")

func plant() { planted.Bug = *bug }
