// Package cli owns what all commands share: the Env through which they see the
// world, the getopt layer that takes PBS command lines apart once, the
// client configuration (pbs.conf, PBS_DEFAULT, PBS_GATEWAY), and the one place
// where errors become text and exit status. The commands themselves live in
// cli/pbs and cli/admin. Everything runs in the caller's goroutine; Run returns
// when the command is done.
package cli
