// Package dispatch brings committed orders to moms, and finds out which moms
// still live. It owns no truth: an order stays in the state until its mom has
// confirmed it (L9), so a new leader's dispatcher starts from the view, and what
// was delivered twice takes effect once.
//
// Two components run under a leader's term. The Dispatcher keeps one worker for
// each mom with open orders. The Watcher suspects moms whose leases or gossip are
// silent, calls them, and proposes the verdict (L13).
//
// Concurrency: each Run owns its goroutines and has ended them all when it
// returns; Watcher.Renewed and Watcher.Suspect may be called by anyone.
package dispatch
