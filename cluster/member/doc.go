// Package member holds the rules for the replicas of a cluster: how each does and what to do
// about it, who may be given a vote, who may be removed, who takes whose place, and who leads
// next. A rule reads what the replicas tell of themselves and the state, and returns a verdict;
// what is done about it is the business of cluster. Nothing here does I/O or starts a goroutine;
// a Roll belongs to one goroutine.
package member
