// Package mover moves files of jobs between hosts: stage-in, stage-out and the output of jobs.
// A Mover is the mother superior's side. A Service is the other side, in the daemon of every
// host that jobs read from or write to: it asks the servers whether the run may touch that
// very path, and then acts with the rights of the job's owner. Hosts that are not in the
// cluster are reached by scp, as the owner.
//
// A transfer has no time of its own: it is given up when nothing has moved for a while, tried
// again a few times, and reported then. A Mover starts nothing that outlives a call, but for a
// file system that hangs.
package mover
