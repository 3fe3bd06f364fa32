// Package service implements the RPC services of a replica: Batch for commands;
// Cluster, Members, Trust, Snapshots, Recovery and Halt for administration and for
// other replicas; Report for moms; Blobs and Staging for files. Each method does
// four things in this order: parse, permit, propose or read, reply.
//
// What lies around the methods is done elsewhere, once for all of them: identity,
// audience and forwarding to the leader by package transport, agreement by
// package cluster, meaning by fsm/command. Permission is judged here, from a
// view, and nowhere else unless it depends on the state of the moment.
//
// Concurrency: all methods may be called at once; they hold no lock while they
// wait. Nothing is started, so nothing has to stop.
package service
