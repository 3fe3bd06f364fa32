// Package bare is the baseline for measuring a submission: the least that three replicas must do
// for it, with the libraries that Rampart is built on and nothing of Rampart but its port:
// a TLS RPC over Connect, group commit, Raft with bolt on files that are synced, and a
// state machine that counts. It owns its replicas' files; Serve blocks until its context
// ends, and what it started has ended then.
package bare
