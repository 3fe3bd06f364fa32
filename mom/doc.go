// Package mom implements the agent on an execution host: it registers the host and its vnodes,
// obeys orders of the leader, and reports what becomes of the jobs. It owns the
// agreement with the servers (epochs, orders, facts, samples, leases) and the mom's own
// configuration and log; a job's life is mom/task's, its processes are mom/proc's, its
// memory is mom/spool's. It never sees the tables or the log of the cluster.
//
// New starts nothing. Run blocks until everything it started has ended: one goroutine
// for each task, and one each for facts, samples and leases. When its context ends, or
// after Stop(false), the jobs run on under their shims; Stop(true) ends them first.
package mom
