// Package identity decides whether a disk may take part in the cluster: it keeps out an older
// copy of a disk, a second copy beside the first, and a disk that the cluster has removed,
// replaced or gone on without (L1). It owns the id of a server, the starts of its store, and the
// record of what a disk knows of all members before the state is there. Whom to ask, and what to
// do about an objection, is the business of cluster.
//
// A Record may be used from any goroutine; nothing here starts one.
package identity
