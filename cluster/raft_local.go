package cluster

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"rampart/cluster/member"
)

// localRaft is the Raft of this replica: what it says of leadership and of the members, and the
// waits for its answers. Before it runs the members are those that the disk knows.
type localRaft struct {
	id      raft.ServerID
	silence *silence
	known   []raft.Server // the latest members on the disk when it was opened

	node    atomic.Pointer[node] // nil unless running
	futures sync.WaitGroup       // that somebody waited for
}

// end waits for the futures, and lets go of the node.
func (l *localRaft) end() {
	l.futures.Wait()
	l.node.Store(nil)
}

// leading returns the node if this replica leads, else nil.
func (l *localRaft) leading() *node {
	if n := l.node.Load(); n != nil && n.isLeader() {
		return n
	}
	return nil
}

// leader returns the address of the leader, and whether we are it; not ok if none is known.
func (l *localRaft) leader() (addr string, self, ok bool) {
	n := l.node.Load()
	if n == nil || n.raft.State() == raft.Leader && n.silenced() {
		return "", false, false
	}
	at, id := n.raft.LeaderWithID()
	return string(at), id == n.id, id != ""
}

// term returns the present one, 0 while Raft does not run.
func (l *localRaft) term() uint64 {
	if n := l.node.Load(); n != nil {
		return n.raft.CurrentTerm()
	}
	return 0
}

// servers returns the members as Raft has them, or the disk before it runs.
func (l *localRaft) servers() []raft.Server {
	if n := l.node.Load(); n != nil {
		return n.servers()
	}
	return l.known
}

// members returns the replicas of the cluster; nobody while Raft does not run.
func (l *localRaft) members() []Member {
	n := l.node.Load()
	if n == nil {
		return nil
	}
	var all []Member
	for _, s := range n.servers() {
		all = append(all, Member{Name: member.NameOf(s.ID), Address: string(s.Address), Voter: s.Suffrage == raft.Voter, Self: s.ID == l.id})
	}
	return all
}

// voters names the servers that vote; "" while Raft does not run.
func (l *localRaft) voters() string {
	n := l.node.Load()
	if n == nil {
		return ""
	}
	var ids []string
	for _, s := range n.voters() {
		ids = append(ids, string(s.ID))
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// apply puts an entry into the log, if this replica leads.
func (l *localRaft) apply(data []byte) raft.ApplyFuture {
	n := l.leading()
	if n == nil {
		return failedApply{raft.ErrNotLeader}
	}
	f := n.raft.Apply(data, 0)
	return awaitedApply{f, func() error { return l.await(context.Background(), n, f) }}
}

// await returns when a future of Raft's has its answer, or ctx ends, or a silence begins that
// costs the lease: Raft's one goroutine waits for the store then, and answers nobody before
// the store does.
func (l *localRaft) await(ctx context.Context, n *node, f raft.Future) error {
	var silenced <-chan struct{}
	if len(n.otherVoters()) > 0 {
		silenced = l.silence.until().Done()
	}
	answered := make(chan error, 1)
	l.futures.Go(func() { answered <- f.Error() })
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-silenced:
		return errSilent
	}
}

// awaitedApply is the future of an entry whose answer a silence cuts short.
type awaitedApply struct {
	raft.ApplyFuture
	wait func() error
}

// Error implements raft.Future.
func (a awaitedApply) Error() error { return a.wait() }

// failedApply is an entry that did not even reach Raft.
type failedApply struct{ err error }

func (f failedApply) Error() error  { return f.err }
func (f failedApply) Response() any { return nil }
func (f failedApply) Index() uint64 { return 0 }

// leads passes on whether Raft leads, until ctx ends. A silence ends the lead before Raft,
// which waits for the store, can say so.
func (l *localRaft) leads(ctx context.Context, n *node) <-chan bool {
	out := make(chan bool)
	go func() {
		leads := false
		for {
			changed := l.silence.next()
			if leads && n.silenced() { // since the last look, and before changed was taken
				leads = false
				select {
				case out <- false:
				case <-ctx.Done():
					return
				}
				continue
			}
			select {
			case <-ctx.Done():
				return
			case leads = <-n.raft.LeaderCh():
				leads = leads && !n.silenced()
			case <-changed:
				if !n.silenced() {
					continue
				}
				leads = false
			}
			select {
			case out <- leads:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
