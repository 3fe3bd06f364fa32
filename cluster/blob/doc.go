// Package blob keeps what is too large for the log: the bodies of large job scripts. The state
// names a content by its SHA-256 and its size; each replica has the content in a file of that
// name. A majority has a blob on its disks before an entry names it, who lacks one fetches it
// from another replica, and what no job names is removed (cluster/DESIGN.md, Blobs).
//
// It does not know what a blob is for, nor who may have one: that is the services' business.
package blob
