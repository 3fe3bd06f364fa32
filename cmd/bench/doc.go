// Command bench measures the figures of the design on real processes with real syncs, and
// prints each beside its reference and its aim. It judges nothing: a figure that misses
// its aim is printed and the run succeeds; only what could not be measured, or an
// acknowledged job that is gone, is an error. It expects the programs in bin, as
// `make bench` builds them, starts its clusters with `rampart dev` in temporary folders,
// and stops and removes them however it ends.
package main
