// Package memnet is a network in memory: hosts with streams and packets, and
// links between them that can be cut (one way too), slowed down and made to lose
// packets. Its types behave as those of package net, deadlines included.
//
// A cut stream is silent, as with TCP: nothing is lost, what was written arrives
// after the link has healed. A packet over a cut link is lost, and so is one
// that finds its receiver's queue full.
//
// Every wait is on channels and timers, so that all of it rests durably in a
// testing/synctest bubble. It starts no goroutine that outlives a delivery.
package memnet
