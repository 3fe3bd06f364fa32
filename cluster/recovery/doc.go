// Package recovery makes a cluster go on that has lost its quorum for good: it judges whether it
// has, finds the survivor whose log reaches furthest, and makes that one the only voter by an
// entry at the end of its log. How members are asked, and how a replica is started anew, is the
// business of cluster. It starts nothing, and writes to the store that it is given only.
package recovery
