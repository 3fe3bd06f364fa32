// Package conformance holds the third level of tests: the real commands against real
// processes. testdata/ has one script for each case of the specification, named by its
// case number, and for each kind of bad input; they share one cluster, the complex P3 of
// the specification and one host more. The tests beside it kill, stop and wake processes
// in clusters of their own.
package conformance
