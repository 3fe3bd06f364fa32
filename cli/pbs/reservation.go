package pbs

import (
	"context"

	"rampart/cli"
)

// reservations are PBS's commands for reservations, a feature to come: those that would make
// or change one are found, and the answer that the specification gives until then
// (cli-contract section 9). pbs_rstat is told what there is.
func reservations() []*cli.Command {
	return []*cli.Command{
		later("pbs_rsub", "reserve vnodes for a time", "D:E:g:G:H:I:l:m:M:N:q:r:R:u:U:W:",
			"usage: pbs_rsub [-D duration] [-E end] [-I block_time] -l resource_list [-N name] [-R start] ...\n       pbs_rsub --version\n"),
		later("pbs_rdel", "delete reservations", "W:",
			"usage: pbs_rdel [-W force] resv_id...\n       pbs_rdel --version\n"),
		later("pbs_ralter", "change a reservation", "D:E:G:I:l:m:M:N:R:U:W:",
			"usage: pbs_ralter [-D duration] [-E end] [-I block_time] [-l select=...] [-N name] [-R start] ... resv_id\n       pbs_ralter --version\n"),
		rstat(),
	}
}

func later(name, summary, letters, usage string) *cli.Command {
	return &cli.Command{
		Name: name, Summary: summary, Grammar: own(letters), Usage: usage, UsageStatus: 2,
		Run: func(context.Context, *cli.Env, *cli.Options) error { return noSupport() },
	}
}
