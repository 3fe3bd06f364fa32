// Package trace replays a workload: it streams the jobs of a trace through the state machine, the production planner and
// simulated hosts, in virtual time, and measures what came of it (docs/sim.md). It lets the state of a living cluster go on in the same way, to tell when its jobs start. It runs no daemon and no network: what moves a
// cluster on are the entries of its log, applied one after the other, and a queue of what is due. A machine is used by one
// goroutine.
package trace
