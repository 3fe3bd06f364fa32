package pbs

import (
	"slices"

	"rampart/cli"
)

// Commands returns all PBS commands.
func Commands() []*cli.Command {
	return slices.Concat([]*cli.Command{
		qsub(), qstat(), qdel(), qalter(), qhold(), qrls(), qsig(), qrerun(), releaseNodes(), qrun(), qmove(), qorder(), qmsg(),
		qselect(), tracejob(), pbsnodes(), qmgr(), qterm(), pbsdsh(), pbsTmrsh(), pbsAttach(),
	}, queueStates(), reservations())
}

// own adds Rampart's long options to a getopt option string.
func own(letters string, switches ...string) cli.Grammar {
	long := map[string]bool{"server": true}
	for _, name := range switches {
		long[name] = false
	}
	return cli.Grammar{Letters: letters, Long: long}
}
