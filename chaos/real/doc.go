// Package real runs a world of loopback processes: real daemons of `rampart dev` with their
// TLS, their disks and what they sync, and jobs that are programs under real shims. Faults
// are signals: killed, stopped, woken, started again. Load, faults and laws are those of
// the bubble; what the evidence is made of is read from outside: snapshots and statuses
// that replicas hand out, their accounting files, and a book that the jobs write
// themselves. The product knows nothing of it.
//
// A World is used by one goroutine. Stop ends every process, jobs too, and waits for them.
package real
