package cluster

import "github.com/hashicorp/raft"

// Calls of Raft to another replica, by the names that Config.Turn is told.
const (
	askEntries   = "entries"
	askHeartbeat = "heartbeat"
	askPreVote   = "pre-vote"
	askVote      = "vote"
)

// RequestVote implements raft.Transport.
func (c *confirmer) RequestVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	defer c.turn(string(target), askVote)()
	return c.NetworkTransport.RequestVote(id, target, args, resp)
}

// RequestPreVote implements raft.WithPreVote.
func (c *confirmer) RequestPreVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	defer c.turn(string(target), askPreVote)()
	return c.NetworkTransport.RequestPreVote(id, target, args, resp)
}
