// Package mom assembles an execution host's daemon from its components: it joins a cluster, and
// wires and runs identity, port, gateway, gossip and the mom itself, or the gateway alone on
// a login host. It owns their order of start and end and nothing of what they do. Run blocks
// until all of it has ended.
package mom
