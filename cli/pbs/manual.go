package pbs

import (
	_ "embed"

	"rampart/cli"
)

// manualText is what the manual pages say of commands and options.
//
//go:embed manual.txt
var manualText string

// manual has the pages of all commands.
var manual = cli.Manual{
	Text: manualText, Set: "PBS commands", Suffix: "B",
	Operators: []string{"pbsnodes", "qdisable", "qenable", "qmgr", "qrun", "qstart", "qstop", "qterm", "tracejob"},
}

// Pages returns the manual pages of all commands.
func Pages() []cli.Page { return manual.Pages(Commands()) }
