// Package sim plays scenarios: whole clusters from a file, in virtual time, with the daemons and the
// commands of the product (docs/sim.md). It owns the language of these files, who runs the commands, and
// what is shown of a line that fails. The cluster itself, its network and its clock are chaos/world's.
//
// Play blocks until everything that it has started has ended. One scenario is played at a time, since time zone
// and chance are the process's.
package sim
