package lsf

import (
	_ "embed"

	"rampart/cli"
)

// manualText is what the manual pages say of commands and options.
//
//go:embed manual.txt
var manualText string

// manual has the pages of all commands.
var manual = cli.Manual{Text: manualText, Set: "LSF commands", Operators: []string{"badmin"}}

// Pages returns the manual pages of all commands.
func Pages() []cli.Page { return manual.Pages(Commands()) }
