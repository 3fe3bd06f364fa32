package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/cluster/recovery"
	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Machine is the replicated state machine; fsm.FSM is one.
type Machine interface {
	raft.BatchingFSM
	raft.ConfigurationStore
	// View returns the state as of the last entry applied.
	View() *state.View
	// Wait returns a view of at least this index.
	Wait(ctx context.Context, index uint64) (*state.View, error)
	// Changed returns a channel that is closed when View returns a newer state.
	Changed() <-chan struct{}
	// Marks returns the latest digests noted at CompareDigests.
	Marks() []command.Mark
	// Stopped is closed when the machine will apply nothing more; Err says why.
	Stopped() <-chan struct{}
	Err() error
}

// Peers asks other replicas at their HOST:PORT.
type Peers interface {
	// ReadIndex asks the leader what a linearizable read must wait for: its
	// Replica.ReadIndex.
	ReadIndex(ctx context.Context, addr string) (index, term uint64, err error)
	// Clock reads a replica's wall clock.
	Clock(ctx context.Context, addr string) (time.Time, error)
	// Status returns what a replica tells of itself: its Replica.Status.
	Status(ctx context.Context, addr string) (member.Status, error)
	// LastStart asks a replica what it knows of a server: its Replica.LastStart.
	LastStart(ctx context.Context, addr string, q identity.Question) (identity.Answer, error)
	// LogEnd asks a replica how far its log reaches: its Replica.LogEnd.
	LogEnd(ctx context.Context, addr string) (recovery.LogEnd, error)
	// Recover relays a request to the replica whose log is the furthest: its Replica.Recover.
	Recover(ctx context.Context, addr string, d recovery.Disaster) (recovery.Rescue, error)
}

// Ledger keeps the records that must be on disk before a snapshot replaces the log (L10);
// ledger.Ledger is one.
type Ledger interface {
	// WaitSynced returns when the records up to a number are on disk for good.
	WaitSynced(ctx context.Context, number uint64) error
}

// Config is all that a replica needs from outside.
type Config struct {
	// Self is what this replica announces of itself: Name and Address at least.
	// ServerID, Generation and Start are filled in from the store. FeatureLevel 0 stands
	// for command.FeatureLevel; tests set another.
	Self state.Replica

	Machine Machine
	Stores  func() (store.Backend, error)

	// Listener accepts Raft's streams; Dial opens one to another replica.
	Listener net.Listener
	Dial     func(ctx context.Context, addr string) (net.Conn, error)
	Peers    Peers

	// Class is for how long round trips a new replica begins; later its disk knows.
	Class pbs.RTTClass

	// Init, if set, makes an empty store the first replica of a new cluster; this
	// is then the first command of its log.
	Init *command.InitCluster
	// Beginning, if set, is what that cluster begins with.
	Beginning *Beginning
	// Hot has jobs that qterm has ended start again before all others.
	Hot bool
	// Rename, if set, is what a replica that is alone calls the server from its first term on; "": by the
	// name that it began with. With others beside it the name stays.
	Rename *string
	// Work is the leader's duties. It begins when all that was committed before its
	// term is in the state, and must return when ctx ends. An error stops the replica.
	Work func(ctx context.Context, term uint64) error
	// Ledger, if set, holds back a snapshot until it has synced all records that the
	// snapshot counts, or the replica stops.
	Ledger Ledger
	// SnapshotAfter is how many proposals lie between two snapshots, and TrailingLogs
	// how many entries stay in the log behind one; 0: the figures of design section 12.
	SnapshotAfter int
	TrailingLogs  uint64

	// Alarms tells what else of this process a person should look at; nil: nothing.
	Alarms func() []member.Alarm
	// Scripts tells what is missing of that which lies beside the log, and of which state; nil: nothing does.
	Scripts func() member.Scripts
	// Registry takes the replica's metrics; nil: nobody reads them.
	Registry prometheus.Registerer

	// Turn, if set, returns when Raft may ask the replica at an address for something, and what is called when it
	// has: bubbles keep apart what several are asked for at the same moment, and have Raft draw the same again.
	Turn func(addr, what string) (done func())

	Clock  func() time.Time // nil: time.Now
	Logger *slog.Logger
}

func (c *Config) validate() error {
	var faults []error
	need := func(ok bool, what string) {
		if !ok {
			faults = append(faults, fmt.Errorf("%s is missing", what))
		}
	}
	need(c.Self.Name != "", "name")
	need(c.Self.Address != "", "address")
	need(c.Machine != nil, "state machine")
	need(c.Stores != nil, "stores")
	need(c.Listener != nil, "listener")
	need(c.Dial != nil, "dial function")
	need(c.Peers != nil, "peers")
	need(c.Logger != nil, "logger")
	return errors.Join(faults...)
}
