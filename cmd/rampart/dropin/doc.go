// Package dropin runs the daemons under PBS's names (specification: drop-in): pbs_server,
// pbs_mom, pbs_sched, pbs_comm, pbsfs, pbs_probe and printjob are links to rampart. It owns PBS's command lines,
// the way into the background, the first start of a fresh host, and the two small processes
// that stand where PBS has a scheduler and a communication daemon: these report on the
// duties of the replica, and take the scheduler's files into the replicated state. What
// replicas and moms do is not decided here.
package dropin
