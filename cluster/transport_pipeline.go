package cluster

import (
	"sync"

	"github.com/hashicorp/raft"

	"rampart/cluster/store"
)

// AppendEntriesPipeline opens a pipeline to a follower.
func (c *confirmer) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	inner, err := c.NetworkTransport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	p := newPipeline(inner)
	p.turn = func() func() { return c.turn(string(target), askEntries) }
	return p, nil
}

// pipeline is Raft's with room for every answer. Raft's own (1.8.0) holds none, and
// its reader leaves after an answer that is a refusal or of a newer term. If two
// more requests go out before the sender notices, reader and sender wait for each
// other for ever: the follower gets nothing more from this leader, and the leader
// cannot stop.
type pipeline struct {
	raft.AppendPipeline
	answers chan raft.AppendFuture
	closed  chan struct{}
	turn    func() (done func()) // Config's, for the follower
	once    sync.Once            // closes closed
}

func newPipeline(inner raft.AppendPipeline) *pipeline {
	p := &pipeline{AppendPipeline: inner, answers: make(chan raft.AppendFuture), closed: make(chan struct{}), turn: func() func() { return func() {} }}
	go p.forward()
	return p
}

// forward takes the answers as they come. It ends with Close.
func (p *pipeline) forward() {
	var waiting []raft.AppendFuture
	for {
		var out chan<- raft.AppendFuture
		var next raft.AppendFuture
		if len(waiting) > 0 {
			out, next = p.answers, waiting[0]
		}
		select {
		case f := <-p.AppendPipeline.Consumer():
			waiting = append(waiting, f)
		case out <- next:
			waiting = waiting[1:]
		case <-p.closed:
			return
		}
	}
}

// AppendEntries implements raft.AppendPipeline.
func (p *pipeline) AppendEntries(args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	defer p.turn()()
	args.Entries = store.Piece(args.Entries)
	return p.AppendPipeline.AppendEntries(args, resp)
}

// Consumer implements raft.AppendPipeline.
func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.answers }

// Close implements raft.AppendPipeline.
func (p *pipeline) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.AppendPipeline.Close()
}
