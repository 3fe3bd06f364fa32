package cluster

import (
	"context"
	"log/slog"
)

// wishes are what a process was started with for its first term.
type wishes struct {
	restart bool    // jobs that have ended with the servers start again
	rename  *string // see Config.Rename
	raft    *localRaft
	machine viewer
	logger  *slog.Logger
}

// replayed waits until the state has all that is in the log, if what is wished for the first term depends on it:
// after a restart the state may be empty until this term has committed something.
func (w *wishes) replayed(ctx context.Context, n *node) error {
	if !w.restart && w.rename == nil {
		return nil
	}
	if err := w.raft.await(ctx, n, n.raft.Barrier(0)); err != nil {
		return entryError(err)
	}
	return nil
}

// hot reports whether the term that begins starts jobs again that have ended with the servers.
func (w *wishes) hot() bool {
	return w.restart
}

// name returns the name that the server gets with the term that begins; empty: it stays.
func (w *wishes) name(n *node) string {
	cl := w.machine.View().Cluster()
	if w.rename == nil || cl.ID == "" {
		return ""
	}
	name := *w.rename
	if name == "" && len(cl.Former) > 0 {
		name = cl.Former[0]
	}
	if name == "" || name == cl.Name {
		return ""
	}
	if len(n.servers()) > 1 {
		w.logger.Warn("the server keeps its name, for there are other replicas", "name", cl.Name, "wanted", name)
		return ""
	}
	return name
}
