// Package world runs the whole system in one synctest bubble: replicas as cmd/rampart
// wires them, moms with scripted programs, gossip, and a network in memory, all of
// which can be killed, cut off and started again. It owns the processes and what
// they leave on their disks; who asks them what, and whether they did right, is
// decided elsewhere.
//
// A World is used by one goroutine; what it starts runs beside it and has ended
// when Stop returns, as a bubble demands.
package world
