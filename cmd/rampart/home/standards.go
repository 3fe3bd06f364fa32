package home

import "embed"

// Standards holds the defaults of configuration files as they are installed in PBS_EXEC/etc, in
// the folder etc.
//
//go:embed etc
var Standards embed.FS
