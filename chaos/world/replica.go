package world

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"rampart/chaos/look"
	"rampart/cluster"
	"rampart/cluster/store"
	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/server"
	"rampart/fsm"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/memnet"
)

// Snapshots come early and the log is short, so that restarts and laggards need them (L7).
const (
	snapshotAfter = 40
	trailingLogs  = 20
)

// replica is a host with its disk, and the replica that runs on it, if any.
type replica struct {
	w      *World
	name   string
	host   *memnet.Host
	config server.Config
	disk   *disk

	older    bool // its build knows a feature level less than the present one
	starts   int
	machine  *fsm.FSM    // of the present or last process
	last     *state.View // that Rest has looked at
	cancel   context.CancelCauseFunc
	done     chan struct{} // nil: it is down
	clockOff atomic.Int64  // nanoseconds by which the clock of its host is ahead
	again    atomic.Bool   // it has ended to be started again
}

func (w *World) newReplica(name string) *replica {
	host := w.net.Host(name)
	r := &replica{w: w, name: name, host: host, disk: &disk{}, older: w.config.Size.Older}
	r.config = server.Default(name, host.IP().String())
	r.config.Server, r.config.Home, r.config.RTTClass = "srv", home.Home(w.home(name)), w.config.Class
	if r.disk.dir = r.config.Home.Raft(); !w.config.Files {
		r.disk.memory = store.NewMemory()
	}
	return r
}

func (r *replica) files() transport.Files { return transport.Files{Dir: r.config.Home.ServerTLS()} }

// enrol leaves on r's disk what a join leaves there.
func (r *replica) enrol(first *replica) error {
	id, err := r.w.ca.Issue(transport.RoleReplica, pbs.HostName(r.name), r.w.begun)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(filepath.Join(first.config.Home.ServerTLS(), gossipKey))
	if err != nil {
		return err
	}
	r.config.Replicas = []string{first.config.Listen}
	err = r.config.Home.Make(r.config.Home.ServerPriv())
	return errors.Join(err, r.files().SaveCA(r.w.ca), r.files().SaveIdentity(id),
		home.Replace(filepath.Join(r.config.Home.ServerTLS(), gossipKey), key))
}

const gossipKey = "gossip.key"

// start starts the process.
func (r *replica) start(ctx context.Context) {
	r.w.phase(r.name)
	ctx, r.cancel = context.WithCancelCause(ctx)
	outside := server.Outside{
		Network: r.w.outlet(r.host), Accounts: people{r.w.home("people")},
		Stores: func() (store.Backend, error) { return r.disk.open(r.w.config.Logger) },
		Clock:  func() time.Time { return time.Now().Add(time.Duration(r.clockOff.Load())) },
		Disk:   r.disk.valve.Pass, Level: r.level(), Elsewhere: r.w.config.Elsewhere,
	}
	if r.w.config.Plain {
		stores := outside.Stores
		outside.Stores = func() (store.Backend, error) {
			b, err := stores()
			return met{b, r, ctx}, err
		}
		outside.Witness, outside.Turn = &ambusher{witness: witness{r, r.cancel}, ctx: ctx}, r.turn
	} else {
		outside.Check, outside.Witness = true, &witness{r, r.cancel}
		outside.SnapshotAfter, outside.TrailingLogs = snapshotAfter, trailingLogs
	}
	s := server.New(r.config, outside, slog.New(ear{r.w.config.Logger.Handler(), r.w}).With("process", r.name))
	r.machine, r.done, r.starts = s.Machine(), make(chan struct{}), r.starts+1
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if !r.w.config.Plain {
			r.w.watch(ctx, r.name, r.starts, s.Machine())
		}
	}()
	go func(done chan struct{}) {
		defer close(done)
		err := s.Run(ctx)
		if ctx.Err() == nil {
			if again := errors.Is(err, cluster.ErrAgain); again {
				r.again.Store(true)
			} else if err != nil || !r.w.config.Plain { // without an error somebody has asked for it
				r.w.book.failed(r.name, err)
			}
			r.cancel(nil)
		}
		<-watched
	}(r.done)
}

// level returns the feature level that the replica's build knows.
func (r *replica) level() uint32 {
	if r.older {
		return command.FeatureLevel - 1
	}
	return command.FeatureLevel
}

// change puts another build in the place of r's, and restarts it as an administrator does:
// leadership is handed over.
func (r *replica) change(older bool) {
	r.cancel(nil)
	r.disk.valve.Open()
	<-r.done
	r.host.Crash() // what still listens
	r.older = older
	r.start(r.w.life)
}

// kill ends the process as kill -9 does: nothing more gets out, nothing is handed over.
func (r *replica) kill() {
	if r.done == nil {
		return
	}
	r.cancel(cluster.ErrKilled)
	r.host.Crash()
	r.disk.valve.Open() // a write that hangs is done when nobody waits for it any more
	<-r.done
	r.host.Crash()
	r.done = nil
}

// tear takes the last bytes from the newest accounting file, as a loss of power does.
func (r *replica) tear(bytes int64) error {
	days, err := look.Days(r.config.Home.Accounting())
	if err != nil || len(days) == 0 {
		return err
	}
	path := days[len(days)-1]
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, max(0, info.Size()-bytes))
}

// leftScripts reports whether large scripts lie there that no job has, or are missing.
func (r *replica) leftScripts() string {
	entries, err := os.ReadDir(r.config.Home.Scripts())
	if err != nil {
		return err.Error()
	}
	named := 0
	for range r.machine.View().Blobs() {
		named++
	}
	if len(entries) != named {
		return fmt.Sprintf("%s has %d large scripts, its state names %d", r.name, len(entries), named)
	}
	return ""
}

func (r *replica) ledger() (map[string][]byte, error) { return look.Ledger(r.config.Home.Accounting()) }

// watch writes down what the state of a process becomes, until ctx ends.
func (w *World) watch(ctx context.Context, name string, start int, machine *fsm.FSM) {
	for {
		changed := machine.Changed()
		w.watcher.Note(name, start, machine.View())
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// disk keeps what outlives a replica.
type disk struct {
	memory *store.Memory // nil: files in dir
	dir    string
	valve  store.Valve // shut while it does not answer
}

func (d *disk) open(logger *slog.Logger) (store.Backend, error) {
	if d.memory != nil {
		return d.valve.On(d.memory), nil
	}
	stores, err := store.OpenFiles(d.dir, logger)
	if err != nil {
		return nil, err
	}
	return d.valve.On(stores), nil
}
