// Package store owns what a replica must not forget: its log, Raft's votes and terms, its
// snapshots, and records of its own. It notices what is damaged, bounds how long a write may
// take and how many bytes it has, and measures the disk. What is in an entry or in a state is
// the business of fsm; what a replica does about a bad disk, of cluster.
//
// A Store may be used from any goroutine. Open starts nothing; a write runs in a goroutine of
// its own, which Close waits for, though no longer than the deadline of a write.
package store
