// Package server assembles a replica from its components: it creates or joins a cluster, and
// wires and runs identity, port, gateway, Raft, gossip, ledger, services and the leader's
// duties. It owns their order of start and end and nothing of what they do. Run blocks until
// all of it has ended.
package server
