package cluster

import "github.com/hashicorp/raft"

// cutLog writes to the log in pieces of a bounded size, so that a slow disk keeps the
// deadline of each. A crash between two leaves a log that ends earlier.
type cutLog struct{ raft.LogStore }

// StoreLogs implements raft.LogStore.
func (c cutLog) StoreLogs(logs []*raft.Log) error {
	for len(logs) > 0 {
		n := within(logs, appendBytes)
		if err := c.LogStore.StoreLogs(logs[:n]); err != nil {
			return err
		}
		logs = logs[n:]
	}
	return nil
}

// cut leaves of a call to a follower what one write takes. Raft goes on behind the last entry
// that was sent.
func cut(args *raft.AppendEntriesRequest) {
	if len(args.Entries) > 1 {
		args.Entries = args.Entries[:within(args.Entries, appendBytes)]
	}
}

// within returns how many entries from the front have so many bytes, at least one.
func within(logs []*raft.Log, most int) int {
	bytes := 0
	for i, l := range logs {
		if bytes += len(l.Data); bytes > most && i > 0 {
			return i
		}
	}
	return len(logs)
}
