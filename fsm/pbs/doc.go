// Package pbs holds the words of the domain: identifiers, states and the table
// of legal moves of a job, hold types, and the error codes with the numbers and
// texts that PBS users and scripts know. Everything else speaks in these words;
// the package itself imports nothing of Rampart, starts nothing and keeps no
// state.
package pbs
