// Package client lets Rampart's own programs ask the replicas: it finds one
// that answers, directly or through a gateway of this host, keeps one request id
// for all attempts at a call (L8), and ends within a budget. It also keeps the
// connections of a leader to its moms.
//
// It knows nothing of what it carries, and stays light: the user commands are
// started thousands of times. A Client may be used by many goroutines at once;
// it starts none, and Close ends its idle connections.
package client
