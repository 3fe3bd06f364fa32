// Package files reads and writes the files of jobs: what a pattern names, with whole
// folders, on one side, and on the other a target that is replaced file by file, each whole
// or not at all. It knows no network: Send gives entries and data to a Sink, and a Receiver
// is one. Both run with the rights of whoever calls them, so they are called in proc.AsOwner;
// what is under /proc and the like they do not touch, for there the mom's own process would
// lend its rights to the owner. Nothing is started, so nothing has to be stopped.
package files
