// Package state holds the replicated state: tables of immutable records, the
// transaction through which alone they change, the views through which they are
// read, their indexes, the digest, and Check, which verifies the laws.
//
// A record that was put into a table is never changed in place, only replaced.
// One writer (the state machine) makes a Tx for each proposal; each entry ends
// with one published View, which any number of readers share without locks. The
// package starts nothing.
package state
