// Package load keeps what the moms have reported of the load of their hosts (specification: reservation section 1.5): numbers that change
// all the time and matter only now. It owns the leader's table of them, which values are refused, and how often the leader wants to be
// told. It does not own how load is measured (mom/load), nor what it keeps from starting (cluster/sched). Nothing of it is replicated:
// each leader begins with an empty table, which the renewals of the leases fill. All of it is safe for concurrent use.
package load
