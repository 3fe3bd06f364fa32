package server

import (
	"context"
	"log/slog"
	"net"
	"os"
	"time"

	"rampart/cluster/mail"
	"rampart/cluster/sched"
	"rampart/cluster/store"
	"rampart/cmd/rampart/home"
	"rampart/fsm/command"
	"rampart/fsm/state"
	"rampart/mom/hook"
	"rampart/transport"
	"rampart/transport/daylog"
)

// Outside is what a replica needs beyond the files of its home. Run takes it from the
// operating system; a bubble passes its own.
type Outside struct {
	Network  transport.Network
	Accounts transport.Accounts // nil: the directory of this host
	Stores   func() (store.Backend, error)
	// Gateway opens the socket for people on this host; nil: there is none.
	Gateway func(ctx context.Context) (net.Listener, error)
	// Resolve asks the name service for the addresses of a host; nil: there is none.
	Resolve func(ctx context.Context, host string) ([]string, error)
	// Mail hands a letter to the site's mail program; nil: none is sent.
	Mail func(ctx context.Context, l mail.Letter) error
	// Dynamic runs the programs of server_dyn_res; nil: nobody does.
	Dynamic sched.Dynamic
	// Disk, if set, returns when the disk takes a write of a kind that has no store: bubbles
	// make it wait.
	Disk func(kind string)
	// Check verifies the laws after each entry, at a cost that grows with the state.
	Check bool
	// SnapshotAfter and TrailingLogs are cluster.Config's; 0: its defaults.
	SnapshotAfter int
	TrailingLogs  uint64
	// Turn is cluster.Config's, for what else a replica asks others for, too; nil: it asks when it likes.
	Turn func(addr, what string) (done func())
	// Level is the feature level that the replica passes for; 0: command.FeatureLevel.
	Level uint32
	// LogHead is what the logs say of the host and its version whenever they are opened; empty: nothing.
	LogHead []string
	// Syslog says which lines of the logs go to the log of the operating system.
	Syslog daylog.Syslog
	// Clock reads the wall clock of the host; nil: time.Now.
	Clock func() time.Time
	// Elsewhere is hook.Options'; nil: there is none.
	Elsewhere *hook.Elsewhere
	// OutputHost is where output goes of jobs that name no host; empty: where they were submitted.
	OutputHost string
	// Process is what the replica's process has been started with.
	Process Process
	// Witness sees what becomes of the state; nil: nobody does.
	Witness Witness
}

// A Witness is told what a replica's state goes through, in its order. While it is told,
// the state machine waits.
type Witness interface {
	// Applied tells of an entry of commands, and of what came of each of its proposals.
	Applied(index uint64, e command.Entry, outcomes []command.Outcome)
	// Restored tells of a state that was taken from a snapshot.
	Restored(v *state.View)
}

// system returns the operating system of a replica's host.
func system(c Config, logger *slog.Logger) Outside {
	return Outside{
		Network: transport.System{},
		Resolve: transport.LookupHost,
		Mail:    mail.Send,
		Dynamic: runDynamic,
		LogHead: home.LogHead(), Syslog: home.Syslog(), OutputHost: home.Conf("PBS_OUTPUT_HOST_NAME"),
		Stores: func() (store.Backend, error) { return store.OpenFiles(c.Home.Raft(), logger) },
		Gateway: func(ctx context.Context) (net.Listener, error) {
			return transport.ListenUnix(ctx, c.Home.Gateway(c.Host))
		},
	}
}

// A Process is what a daemon's process has been started with.
type Process struct {
	Hangups <-chan os.Signal // SIGHUP, at which logs are opened again; nil: nobody sends any
	LogFile string           // of all days, in place of server_logs; empty: none
	PID     int              // for the line that tells that the replica serves
}

// WriteLedger is the kind of the writes of accounting files; see Outside.Disk.
const WriteLedger = "ledger"

func (o Outside) ledgerDisk() func() {
	if o.Disk == nil {
		return nil
	}
	return func() { o.Disk(WriteLedger) }
}
