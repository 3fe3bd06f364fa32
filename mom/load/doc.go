// Package load measures the load of a host and what it has left: the load indices of LSF, read from the kernel, and the numbers of a program
// of the site (specification: reservation section 1.5). It owns how they are measured and which steps count as a move. It does not own who is told of
// them, and how often.
package load
