// Package dev runs a whole cluster of real processes on this machine: replicas and moms,
// each with a home, a host name and a loopback address of its own, so that one machine
// passes for many. It owns the processes' start, restart and end and the folder that they
// live in; what they do is theirs.
//
// The folder D holds env.sh, bin/ (every command), run/NAME.pid, homes/NAME/ (a PBS_HOME
// each) and logs/NAME.log. A keeper process holds one end of a pipe to the supervisor:
// when the supervisor ends, however it ends, the keeper stops every process that the
// folder knows of, jobs too. Run blocks until that has happened.
package dev
