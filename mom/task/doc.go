// Package task runs the life of one job on this host, from the order to run it to the
// report of its end. step decides and is pure; a Runner does, with one goroutine for
// each task that owns it. Every decision is saved before the deed, and every deed can
// be repeated, so that a mom that comes back after a crash resumes where the record
// says, and never starts a second copy on its own judgement (L2).
//
// There are two ways to stop. A Runner whose context ends leaves the job running and
// its record on disk: the mom goes away. A Kill or Abort is an event, and ends the job.
//
// The states are those of small machines, each with a table of its moves and a record of its
// own in the task's: the life of a run, the part of a sister, the assignment, the staging, the
// suspension, the checkpoints. ../DESIGN.md has their pictures.
//
// The package knows no RPC: facts go to mom/spool, from where the mom sends them.
package task
