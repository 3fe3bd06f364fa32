package cluster

import (
	"sync"

	"github.com/hashicorp/raft"
)

// sizes remembers how many bytes the latest applied entries have.
type sizes struct {
	mu   sync.Mutex
	last uint64
	ring [trailingLogs]size
}

type size struct {
	index uint64
	bytes int
}

func (s *sizes) note(l *raft.Log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, l.Index)
	s.ring[l.Index%trailingLogs] = size{l.Index, len(l.Data)}
}

// trailing returns how many of the latest entries, at most so many, have together at most so
// many bytes. An entry of which nothing is known is Raft's own, or older than this process: it
// was counted when the log was last cut.
func (s *sizes) trailing(most uint64, bytes int) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range min(most, trailingLogs, s.last) {
		if at := s.ring[(s.last-n)%trailingLogs]; at.index == s.last-n {
			if bytes -= at.bytes; bytes < 0 {
				return n
			}
		}
	}
	return most
}

// bound tells Raft how much of the log is to stay behind the next snapshot.
func (s *snapshots) bound(n *node) {
	bytes := trailingBytes
	if s.store.Disk().Low {
		bytes = lowTrailingBytes
	}
	c := n.raft.ReloadableConfig()
	if c.TrailingLogs = s.machine.sizes.trailing(s.trailing, bytes); n.raft.ReloadConfig(c) != nil {
		s.logger.Warn("cannot bound the trailing log", "entries", c.TrailingLogs)
	}
}
