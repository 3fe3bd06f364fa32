package world

import (
	"slices"

	"rampart/chaos/fault"
	"rampart/cluster/store"
	"rampart/cmd/rampart/server"
)

// stores are the kinds of writes that a disk may leave waiting.
var stores = []string{store.WriteAppend, store.WriteStable, store.WriteDelete, store.WriteSnapshot, server.WriteLedger}

// stall makes the disk of the target, or of all replicas, answer no writes, or none of a kind.
func (k striker) stall(s fault.Step) (string, bool) {
	var kinds []string
	if slices.Contains(stores, s.Value) {
		kinds = []string{s.Value}
	}
	if s.Target.Role == fault.Replicas {
		for _, r := range k.servers {
			r.disk.valve.Shut(kinds...)
		}
		return s.String(), true
	}
	r := k.target(s.Target)
	if r == nil {
		return s.String(), false
	}
	r.disk.valve.Shut(kinds...)
	return s.String() + ": " + r.name, true
}

// flow makes all disks answer; not ok if all did.
func (w *World) flow() bool {
	any := false
	for _, r := range w.servers {
		any = r.disk.valve.Open() || any
	}
	return any
}
