// Package command holds the vocabulary of the log: the kinds of command, each
// with its data and its Apply, the entries and proposals that carry them, their
// encoding, and Run, which applies an entry to the state. fsm/DESIGN.md lists the
// files by subject.
//
// Apply reads state, entry and Meta and nothing else (L4). A refusal is a
// *pbs.Error, equal on every replica, and leaves no trace in the state but the
// memory of the request (L8). The package starts nothing and keeps nothing.
package command
