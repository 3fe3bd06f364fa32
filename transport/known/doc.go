// Package known keeps what a service beside the cluster has answered, such as the directory of
// users or the name service, so that one that hangs delays only questions that it has never answered.
package known
