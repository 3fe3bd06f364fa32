// Package transport implements the communication between the processes of a cluster: the network behind
// an interface, the cluster's CA and the identities it signs, one TLS port per
// process, the table of methods with who may call them and where they go, the
// proxy to the leader, and the Unix-socket gateway for people on the host.
//
// It does not know what a request means: services are mounted by their owners,
// and judge by the Caller what the table cannot. Login tokens are made and read
// by transport/login, so that the user commands need not carry it.
//
// Everything exported may be used by many goroutines at once. New functions
// start nothing; Run blocks until all it started has ended, when its context
// does. Sockets, child processes and the kernel's word on a peer come in
// through Network, Runner and PeerUID, so that all of it runs in a bubble.
package transport
