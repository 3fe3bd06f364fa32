// Package meter contains what the metrics of all daemons share: a registry of
// its own for each process, the page that Prometheus reads, and the count of calls. What
// a part of the daemon measures is that part's own business.
//
// There is nothing global: a bubble runs many daemons in one process. Nothing is
// started; figures that cost something to find are found when the page is read.
package meter
