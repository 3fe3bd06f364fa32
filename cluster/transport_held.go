package cluster

import (
	"time"

	"github.com/hashicorp/raft"
)

// heldLook is the time between two looks at whether a call that failed still matters.
const heldLook = 100 * time.Millisecond

// hold keeps the failure of a call of the term to a member that answers nothing, until it
// answers again; it returns at once if the member has answered since mark. Raft waits longer
// after each failure, up to ten seconds, and asks nothing of a member meanwhile that has come
// back: commits would wait for it if another was lost then. To Raft, an outage is one failure.
// It ends when we do not lead in the term any more, and when the member has left or moved.
func (c *confirmer) hold(id raft.ServerID, target raft.ServerAddress, term, mark uint64) {
	n := c.node.Load()
	if n == nil {
		return
	}
	look := time.NewTicker(heldLook)
	defer look.Stop()
	for {
		answers, changed := c.count([]raft.Server{{ID: id}}, term, mark)
		if s, ok := n.server(id); answers > 0 || !ok || s.Address != target || !n.leads(term) {
			return
		}
		select {
		case <-changed:
		case <-look.C:
		case <-c.closed:
			return
		}
	}
}

// heartbeat reports whether a call is a heartbeat, which Raft sends beside the log, at a pace of
// its own.
func heartbeat(args *raft.AppendEntriesRequest) bool {
	return len(args.Entries) == 0 && args.PrevLogEntry == 0 && args.PrevLogTerm == 0 && args.LeaderCommitIndex == 0
}
