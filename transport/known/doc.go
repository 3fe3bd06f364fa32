// Package known keeps what a service beside the cluster has answered, such as the directory of
// users or the name service, so that one that hangs costs nobody but those of whom it has never spoken.
package known
