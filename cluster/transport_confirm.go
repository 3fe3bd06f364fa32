package cluster

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"rampart/cluster/store"
)

// confirmer is Raft's transport, and notes which follower has acknowledged us in
// which term, and when the acknowledged request was sent.
//
// raft.VerifyLeader alone does not prove that we lead *now*: it counts an answer
// to a heartbeat that was sent before it was called (a process that was stopped
// and woken finds such answers in its sockets), and it counts non-voters. So a
// read asks VerifyLeader for its heartbeats, and then wants answers of a majority
// of the voters to requests that were sent after the read began.
type confirmer struct {
	*raft.NetworkTransport

	mu      sync.Mutex
	now     uint64 // a logical clock: mark moves it on
	acks    map[raft.ServerID]ack
	changed chan struct{} // closed at the next ack

	refuse  func(raft.RPC) bool                   // answers what must not reach Raft
	silence *silence                              // in which nothing does
	turn    func(addr, what string) (done func()) // Config's
	taken   chan raft.RPC
	closed  chan struct{}
	once    sync.Once // closes closed

	node atomic.Pointer[node] // nil before Raft runs
}

type ack struct {
	term uint64
	sent uint64 // now, when the request was sent
}

var (
	_ raft.Transport   = (*confirmer)(nil)
	_ raft.WithPreVote = (*confirmer)(nil)
	_ raft.WithClose   = (*confirmer)(nil)
)

func newConfirmer(t *raft.NetworkTransport) *confirmer {
	return &confirmer{
		NetworkTransport: t, acks: make(map[raft.ServerID]ack), changed: make(chan struct{}),
		taken: make(chan raft.RPC), closed: make(chan struct{}), turn: func(string, string) func() { return func() {} },
	}
}

// screen begins to let through what is not refused.
func (c *confirmer) screen(refuse func(raft.RPC) bool, s *silence) *confirmer {
	c.refuse, c.silence = refuse, s
	go c.take()
	return c
}

// take passes on what is not refused. It ends with Close. What waits while a silence begins is
// dropped: done late, a call to stand for election would depose a healthy leader.
func (c *confirmer) take() {
	for {
		select {
		case rpc := <-c.NetworkTransport.Consumer():
			if c.refuse(rpc) {
				continue
			}
			select {
			case c.taken <- rpc:
			case <-c.silence.until().Done():
				rpc.Respond(nil, errSilent)
			case <-c.closed:
				return
			}
		case <-c.closed:
			return
		}
	}
}

// Consumer implements raft.Transport.
func (c *confirmer) Consumer() <-chan raft.RPC { return c.taken }

// SetHeartbeatHandler implements raft.Transport.
func (c *confirmer) SetHeartbeatHandler(handle func(raft.RPC)) {
	c.NetworkTransport.SetHeartbeatHandler(func(rpc raft.RPC) {
		switch {
		case c.silence.kept():
			rpc.Respond(nil, errSilent)
		case !c.refuse(rpc):
			handle(rpc)
		}
	})
}

// end lets go of what waits here.
func (c *confirmer) end() { c.once.Do(func() { close(c.closed) }) }

// Close implements raft.WithClose.
func (c *confirmer) Close() error {
	c.end()
	return c.NetworkTransport.Close()
}

// AppendEntries sends entries or a heartbeat, and notes the answer. See hold for failures.
func (c *confirmer) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if heartbeat(args) {
		defer c.turn(string(target), askHeartbeat)()
		return c.appendEntries(id, target, args, resp, c.present())
	}
	defer c.turn(string(target), askEntries)()
	args.Entries = store.Piece(args.Entries)
	mark := c.mark()
	err := c.appendEntries(id, target, args, resp, mark)
	if err != nil {
		c.hold(id, target, args.Term, mark)
	}
	return err
}

func (c *confirmer) appendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse, sent uint64) error {
	if err := c.NetworkTransport.AppendEntries(id, target, args, resp); err != nil {
		return err
	}
	if resp.Term == args.Term {
		c.note(id, ack{term: args.Term, sent: sent})
	}
	return nil
}

// InstallSnapshot sends a snapshot. See hold for failures.
func (c *confirmer) InstallSnapshot(id raft.ServerID, target raft.ServerAddress, args *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	mark := c.mark()
	err := c.NetworkTransport.InstallSnapshot(id, target, args, resp, data)
	if err != nil {
		c.hold(id, target, args.Term, mark)
	}
	return err
}

func (c *confirmer) note(id raft.ServerID, a ack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.acks[id]; old.term > a.term || old.term == a.term && old.sent >= a.sent {
		return
	}
	c.acks[id] = a
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *confirmer) present() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// mark begins a round: only what is sent after it counts for it.
func (c *confirmer) mark() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	return c.now
}

// count returns how many of the servers have acknowledged the term since mark,
// and a channel that is closed when more have.
func (c *confirmer) count(servers []raft.Server, term, mark uint64) (int, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, s := range servers {
		if a := c.acks[s.ID]; a.term == term && a.sent >= mark {
			n++
		}
	}
	return n, c.changed
}

// wait returns when enough of the servers have acknowledged the term since mark.
func (c *confirmer) wait(ctx context.Context, servers []raft.Server, enough int, term, mark uint64) error {
	for {
		n, changed := c.count(servers, term, mark)
		if n >= enough {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}
