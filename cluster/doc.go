// Package cluster owns a replica: a Raft node, and the two ways to the replicated
// state, Propose and Read. It knows when this replica leads, and then runs the
// leader's duties, one term at a time. What lies on the disk is the business of
// package store; who may be a member, of package member; which disk may take part,
// of package identity; how a lost quorum is recovered, of package recovery: a Replica
// asks them and does what they say. What the state means is the business of fsm; how
// replicas talk, of transport; what the duties do, of those who pass them in. See
// DESIGN.md beside this file.
//
// All methods of Replica may be called from any goroutine. Open starts nothing;
// Run blocks until everything it started has ended. Network, stores, clock and
// peers are passed in, so that whole clusters run in one synctest bubble.
package cluster
